"""Standing: how a folder stands with this user on this machine, and what follows from it."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final


class StandingKind(StrEnum):
    """Why a folder is trusted or not."""

    TRUSTED = "trusted"
    ONCE = "once"
    STRANGER = "stranger"
    MOVED = "moved"
    OTHER_OWNER = "other_owner"
    REPLACED = "replaced"
    REVOKED = "revoked"


_REASONS: Final = {
    StandingKind.TRUSTED: "you trust this folder",
    StandingKind.ONCE: "you trust this folder for this one command",
    StandingKind.STRANGER: "nobody has trusted this folder on this machine",
    StandingKind.MOVED: "this folder was trusted at another place",
    StandingKind.OTHER_OWNER: "this folder has had another owner since you trusted it",
    StandingKind.REPLACED: "another folder has taken the place of the one you trusted",
    StandingKind.REVOKED: "this folder is not trusted",
}


@dataclass(frozen=True, slots=True)
class Standing:
    """How a folder stands.

    `identity` is the folder among the user's own data that holds this project's signing key and
    the countersigned head of its ledger. `is_made_here` says that what lies there belongs to just
    this folder: a database beside it may be opened. `kept` is where everything goes that
    Callboard adds: the project's own `.callboard/`, or for a folder nobody trusts a place of the
    user's own, so that nothing a stranger sent is read, and nothing is written through it.
    """

    kind: StandingKind
    identity: Path
    kept: Path
    is_made_here: bool

    @property
    def is_trusted(self) -> bool:
        """Whether what the folder brings is in force."""
        return self.kind in (StandingKind.TRUSTED, StandingKind.ONCE)

    @property
    def reason(self) -> str:
        """Say why, as the end of a sentence."""
        return _REASONS[self.kind]
