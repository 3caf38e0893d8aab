"""A unit of work (a TU): what one loop set out to do, how far it is, and where it may go next."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, Literal

from callboard.core.canonical import Json
from callboard.core.codec import Coded
from callboard.core.errors import Conflict, InvalidInput


class UnitStatus(StrEnum):
    """How far a unit is on its way into the book."""

    HOT_PROPOSED = "hot_proposed"
    STABILIZING = "stabilizing"
    GATECHECK = "gatecheck"
    COLD_MERGED = "cold_merged"
    DEFERRED = "deferred"
    REJECTED = "rejected"


UnitOutcome = Literal["", "success", "failed", "stalled", "cancelled"]

_WAYS: Final[dict[UnitStatus, frozenset[UnitStatus]]] = {
    UnitStatus.HOT_PROPOSED: frozenset(
        {UnitStatus.STABILIZING, UnitStatus.DEFERRED, UnitStatus.REJECTED}
    ),
    UnitStatus.STABILIZING: frozenset({UnitStatus.GATECHECK, UnitStatus.DEFERRED}),
    UnitStatus.GATECHECK: frozenset({UnitStatus.COLD_MERGED, UnitStatus.STABILIZING}),
    UnitStatus.DEFERRED: frozenset({UnitStatus.STABILIZING, UnitStatus.REJECTED}),
    UnitStatus.COLD_MERGED: frozenset(),
    UnitStatus.REJECTED: frozenset(),
}


class InvalidTransition(Conflict):
    """Something cannot go from the state it is in to the one that is wanted."""

    code = "quest_invalid_transition"

    def __init__(self, noun: str, name: str, before: str, after: str, ways: list[str]) -> None:
        """Take what it is, and from where to where it cannot go."""
        super().__init__(
            f"{noun} {name} is {before} and cannot become {after}",
            fix=f"From here it can become {', '.join(ways)}." if ways else "It stays as it is.",
            before=before,
            after=after,
        )


@dataclass(frozen=True)
class WorkUnit(Coded):
    """A unit of work. `made` has its newest artifacts by kind: id, version and hash of each."""

    id: str
    loop: str
    title: str
    opened_at: int
    status: UnitStatus = UnitStatus.HOT_PROPOSED
    outcome: UnitOutcome = ""
    closed_at: int | None = None
    brief: str = ""
    owner: str = "showrunner"
    responsible: tuple[str, ...] = ()
    awake: tuple[str, ...] = ()
    deferral_tags: tuple[str, ...] = ()
    inputs: dict[str, str] = field(default_factory=dict[str, str])
    made: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    upstream: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    snapshot: str | None = None
    ready_for_gate: bool = False
    # What a gatecheck or an unfinished run left to be done, in the shape the loop gave it.
    revisions: tuple[dict[str, Any], ...] = ()
    # The unit of the gatecheck that sent it back last.
    gatecheck: str = ""
    next_loop: str | None = None
    error: str | None = None
    reason: str | None = None
    revisit: str | None = None
    validation: dict[str, Any] = field(default_factory=dict[str, Any])
    stats: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def is_over(self) -> bool:
        """Whether it can become nothing else."""
        return not _WAYS[self.status]

    def moved(
        self, to: UnitStatus, *, reason: str | None = None, revisit: str | None = None
    ) -> "WorkUnit":
        """Return it in another state; one that it cannot go to is refused by name."""
        if to not in _WAYS[self.status]:
            ways = sorted(each.value for each in _WAYS[self.status])
            raise InvalidTransition("Unit", self.id, self.status.value, to.value, ways)
        if to in (UnitStatus.DEFERRED, UnitStatus.REJECTED) and not (reason or "").strip():
            raise InvalidInput(f"{self.id} cannot become {to.value} without a reason")
        if to is UnitStatus.DEFERRED and not (revisit or "").strip():
            raise InvalidInput(
                f"{self.id} cannot be deferred without saying when to look at it again",
                fix="Give a condition, such as `when the canon of the harbour is settled`.",
            )
        return replace(self, status=to, reason=reason, revisit=revisit)

    def decided(self, snapshot: str | None, sent_back: tuple[str, ...]) -> "WorkUnit":
        """Return a gatecheck that has decided: it is over, with its snapshot or what it sent back.

        Only what it judged can be gone on with.
        """
        if self.is_over:
            return self
        if snapshot is not None:
            done = self.moved(UnitStatus.GATECHECK).moved(UnitStatus.COLD_MERGED)
            return replace(done, snapshot=snapshot, ready_for_gate=False)
        told = f"sent back {', '.join(sent_back) or 'its work'}"
        put_off = self.moved(UnitStatus.DEFERRED, reason=told, revisit="never")
        return replace(put_off.moved(UnitStatus.REJECTED, reason=told), ready_for_gate=False)

    def shape(self) -> dict[str, Json]:
        """Return what doors show of it."""
        return {name: value for name, value in self.to_json().items() if value not in (None, "")}
