"""What became of an action, and how the Foreman and the writer are told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, cast

from callboard.core.canonical import Json
from callboard.core.words import shorten
from callboard.prompts import build_state

_DETAIL_CHARS: Final = 1200
_SHORT_CHARS: Final = 300


class Status(StrEnum):
    """How an action ended."""

    EXECUTED = "executed"
    INVALID = "invalid"
    DENIED = "denied"
    FAILED = "failed"
    UNKNOWN_TYPE = "unknown_type"


@dataclass(frozen=True, slots=True)
class ActionResult:
    """The record of one action that a reply asked for."""

    type: str
    status: Status
    detail: str = ""
    data: Json = None
    duration_ms: int = 0
    is_informational: bool = False
    # The run that does the work, where it goes on after the turn.
    job: str | None = None
    # What the writer is told beside the message.
    notices: tuple[str, ...] = ()

    @property
    def is_executed(self) -> bool:
        """Whether it was done."""
        return self.status is Status.EXECUTED

    def to_json(self) -> dict[str, Json]:
        """Return the shape that is journaled and shown at the doors."""
        return {
            "type": self.type,
            "status": self.status.value,
            "detail": self.detail,
            "data": self.data,
            "duration_ms": self.duration_ms,
            "informational": self.is_informational,
            "job": self.job,
            "notices": list(self.notices),
        }

    def brief(self) -> dict[str, Json]:
        """Return what later prompts of the conversation are told of it."""
        return {
            "type": self.type,
            "status": self.status.value,
            "detail": self.detail,
            "job": self.job,
            "informational": self.is_informational,
        }

    @classmethod
    def from_json(cls, stored: Json) -> "ActionResult":
        """Read the journaled shape."""
        data = cast("dict[str, Any]", stored)
        return cls(
            type=str(data["type"]),
            status=Status(data["status"]),
            detail=str(data["detail"]),
            data=data["data"],
            duration_ms=int(data["duration_ms"]),
            is_informational=bool(data["informational"]),
            job=data["job"],
            notices=tuple(data["notices"]),
        )


def results_markup(results: Sequence[Mapping[str, Json]]) -> str:
    """Return results as the next prompt of the conversation shows them, everything escaped."""
    rows: list[dict[str, Any]] = []
    for each in results:
        is_news = bool(each.get("informational")) and each.get("status") == "executed"
        most = _DETAIL_CHARS if is_news else _SHORT_CHARS
        rows.append(
            {
                "@type": str(each.get("type", "")),
                "@status": str(each.get("status", "")),
                "@job": each.get("job"),
                "#text": _cut(str(each.get("detail", "")), most),
            }
        )
    return build_state("action_results", {"result": rows})


def notice_of(result: ActionResult) -> str | None:
    """Return what the writer is told of an action that was not done."""
    if result.is_executed:
        return None
    return f"{result.type} was not done ({result.status.value.replace('_', ' ')}): {result.detail}"


def _cut(text: str, limit_chars: int) -> str:
    return shorten(text, limit_chars, on_top=True, strip=True)
