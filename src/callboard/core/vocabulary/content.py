"""Content: text with a label that says where it came from and whether it may be obeyed."""

from dataclasses import dataclass
from enum import StrEnum


class Trust(StrEnum):
    """Whether a text may instruct (trusted) or only inform (untrusted)."""

    TRUSTED = "trusted"
    UNTRUSTED = "untrusted"


@dataclass(frozen=True, slots=True)
class Content:
    """A piece of text on its way into a prompt.

    `origin` says where it came from: `user`, `pack:demo/prompts/x.md`, `file:Story/one.md`,
    `tool:read_file`, `agent:editor`, `slot:draft`.
    """

    text: str
    origin: str
    trust: Trust = Trust.UNTRUSTED
