"""A reply cut into what was said, its evidence lines, and thoughts that were never meant for us."""

import re
from dataclasses import dataclass
from typing import Final

from callboard.replies.scanner import THINKING, Block, scan

ABSTAIN: Final = "ABSTAIN"

_EVIDENCE: Final = re.compile(
    r"^[ \t>#+•-]*(?:[0-9]{1,3}[.)][ \t]+)?(?:\*[ \t]+)?[`*_]*"
    r"evidence[*_`]*[ \t]*[:\uff1a][ \t]*(?P<sources>.*)$",
    re.IGNORECASE,
)
_THINK_TAG: Final = re.compile(
    # Between backticks it is a name somebody mentions.
    r"(?<!`)</?think(?:ing)?\s*>|</?think(?:ing)?\s*>(?!`)",
    re.IGNORECASE,
)
_MANY_BLANK_LINES: Final = re.compile(r"\n{3,}")


@dataclass(frozen=True, slots=True)
class CutReply:
    """`body` is the reply as it is kept; `evidence` what follows each `Evidence:`."""

    body: str
    evidence: tuple[str, ...]
    leaks_thinking: bool = False

    @property
    def is_abstention(self) -> bool:
        """Whether the reply is the one word that says: not my field."""
        return not self.evidence and self.body.strip(" \t\r\n.*_`\"'").upper() == ABSTAIN


def cut_reply(text: str) -> CutReply:
    """Take thinking and evidence lines out of a reply."""
    said, leaks = _without_thinking(text)
    kept: list[str] = []
    evidence: list[str] = []
    for line in said.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        found = _EVIDENCE.match(line)
        if found is None:
            kept.append(line)
        else:
            evidence.append(_undressed(found["sources"]))
    body = "\n".join(kept)
    if evidence:
        body = _MANY_BLANK_LINES.sub("\n\n", body)
    return CutReply(body.strip(), tuple(evidence), leaks)


def _without_thinking(text: str) -> tuple[str, bool]:
    parts: list[str] = []
    place, leaks = 0, False
    for segment in scan(text).segments:
        if isinstance(segment, Block) and segment.name == THINKING:
            parts.append(text[place : segment.start])
            place = segment.start + len(segment.raw)
            leaks = leaks or not segment.is_closed
    parts.append(text[place:])
    said = "".join(parts)
    while _THINK_TAG.search(said) is not None:
        # Whatever is left has no other half; the words stay, the leak is told.
        leaks, said = True, _THINK_TAG.sub("", said)
    return said, leaks


def _undressed(sources: str) -> str:
    """Drop what closes the emphasis of `**Evidence:**` or of the whole line."""
    stripped = sources.strip()
    while stripped[:2] in ("**", "__"):
        stripped = stripped[2:].strip()
    if stripped[:1] in ("*", "_") and stripped[1:2] in (" ", ""):
        stripped = stripped[1:].strip()
    return stripped
