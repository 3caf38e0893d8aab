"""What a check of a template says."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from callboard.core.canonical import Json

CHALLENGE: Final = "CHALLENGE:"


class CheckOrigin(StrEnum):
    """Who says so."""

    CODE = "code"
    JUDGE = "judge"
    WRITER = "writer"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check of one field, with the reason where it fails."""

    check: str
    field: str
    passed: bool
    reason: str = ""
    origin: CheckOrigin = CheckOrigin.CODE
    # What could stand there instead; never a decision, always an offer.
    alternatives: tuple[str, ...] = ()
    # Words of the field itself that the judgement rests on.
    quote: str = ""

    @property
    def challenge(self) -> str:
        """The failure as the writer is told of it; nothing if it passed."""
        if self.passed:
            return ""
        offered = f" Instead: {'; '.join(self.alternatives)}." if self.alternatives else ""
        return f"{CHALLENGE} {self.field}: {self.reason.rstrip('.')}.{offered}"

    def to_json(self) -> dict[str, Json]:
        """Return the shape shown at the doors."""
        return {
            "check": self.check,
            "field": self.field,
            "passed": self.passed,
            "reason": self.reason,
            "origin": self.origin.value,
            "alternatives": list(self.alternatives),
            "quote": self.quote,
            "challenge": self.challenge,
        }
