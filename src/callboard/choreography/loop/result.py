"""How a run of a loop ended, in the shape that is stored, shown and handed to the pack."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from callboard.choreography.loop.board import LoopBoard
from callboard.choreography.loop.ports import StoredArtifact
from callboard.core.canonical import Json


class LoopStatus(StrEnum):
    """How it ended; a run that is cancelled ends nowhere and can be resumed."""

    SUCCESS = "success"
    FAILED = "failed"
    STALLED = "stalled"


@dataclass(frozen=True, slots=True)
class LoopEnd:
    """Why the driving stopped."""

    status: LoopStatus
    error: str = ""
    code: str = ""
    # The key from where a retry begins.
    restart: str = ""


@dataclass(frozen=True, slots=True)
class LoopResult:
    """What a run of a loop leaves."""

    loop: str
    status: LoopStatus
    unit: str = ""
    artifacts: Mapping[str, StoredArtifact] = field(default_factory=dict[str, StoredArtifact])
    steps: Mapping[str, str] = field(default_factory=dict[str, str])
    # Whether everything stored was valid, how much was looked at, and what failed.
    validation: Mapping[str, Json] = field(default_factory=dict[str, Json])
    revisions: tuple[Mapping[str, Json], ...] = ()
    deferrals: tuple[str, ...] = ()
    next_loop: str | None = None
    next_inputs: tuple[str, ...] = ()
    error: str = ""
    error_code: str = ""
    # The key of the step from where a retry begins.
    restart: str = ""
    stats: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def success(self) -> bool:
        """Whether the loop became stable."""
        return self.status is LoopStatus.SUCCESS

    @property
    def failed(self) -> bool:
        """Whether it ended with an error."""
        return self.status is LoopStatus.FAILED

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return asdict(self) | {"status": self.status.value}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "LoopResult":
        """Read the stored shape."""
        read: dict[str, Any] = {
            **data,
            "status": LoopStatus(data["status"]),
            "artifacts": {kind: StoredArtifact(**each) for kind, each in data["artifacts"].items()},
            **{name: tuple(data[name]) for name in ("revisions", "deferrals", "next_inputs")},
        }
        return cls(**read)


def validation_of(board: LoopBoard, failed: int) -> dict[str, Json]:
    """Say how much of what there is was checked; only what is valid was ever stored."""
    made = [kind for kind in board.artifacts if kind in board.loop.producers]
    return {"all_valid": True, "total": len(made), "failed_attempts": failed}


def told_at_the_end(data: Mapping[str, Any]) -> dict[str, Json]:
    """Return what an event says of a result: how it ended, and what stands where."""
    made = data["artifacts"].values()
    return {
        "unit": data["unit"],
        "loop": data["loop"],
        "status": data["status"],
        "error": data["error"],
        "next_loop": data["next_loop"],
        "steps": data["steps"],
        "artifacts": [[each["kind"], each["id"], each["version"], each["sha256"]] for each in made],
        "validation": data["validation"],
    }
