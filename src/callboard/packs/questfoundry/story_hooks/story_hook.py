"""A story hook: an idea or a loose end, who raised it, and what became of it so far."""

from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from callboard.core.canonical import Json
from callboard.core.codec import Coded
from callboard.core.errors import CallboardError
from callboard.packs.questfoundry.units.unit import InvalidTransition

HookState = Literal[
    "proposed", "accepted", "in_progress", "resolved", "canonized", "deferred", "rejected"
]
MERGE: Final = "merge"
SHOWRUNNER: Final = "showrunner"

_WAYS: Final[dict[str, frozenset[str]]] = {
    "proposed": frozenset({"accepted", "deferred", "rejected"}),
    "accepted": frozenset({"in_progress", "deferred"}),
    "in_progress": frozenset({"resolved", "deferred"}),
    "resolved": frozenset({"in_progress", "canonized"}),
    "deferred": frozenset({"accepted", "rejected"}),
    "canonized": frozenset(),
    "rejected": frozenset(),
}
_TRIAGE: Final = frozenset({"accepted", "deferred", "rejected"})


class NotYours(CallboardError):
    """Somebody moved a story hook who may not."""

    code = "quest_not_yours"


@dataclass(frozen=True)
class StoryHook(Coded):
    """A story hook with its number, its card and the way it went."""

    id: str
    card: dict[str, Any]
    raised_by: str
    tu_id: str
    created_at: int
    status: HookState = "proposed"
    history: tuple[dict[str, Any], ...] = ()
    owner_role: str | None = None
    next_loop: str | None = None
    decision_reason: str | None = None
    wake_condition: str | None = None
    duplicate_of: str | None = None
    cold_link: str | None = None
    triage_tags: tuple[str, ...] = field(default=())

    @property
    def title(self) -> str:
        """What it is called."""
        return str(self.card["title"])

    @property
    def kind(self) -> str:
        """What it is about."""
        return str(self.card["kind"])

    def moved(self, to: HookState, *, by: str, at: int, **more: Any) -> "StoryHook":
        """Return it in another state; triage is the Showrunner's, canon a merge's."""
        if to == self.status:
            return self
        if to not in _WAYS[self.status]:
            raise InvalidTransition(
                "Story hook", self.id, self.status, to, sorted(_WAYS[self.status])
            )
        if (to in _TRIAGE and by != SHOWRUNNER) or (to == "canonized" and by != MERGE):
            owner = "a merge into Cold" if to == "canonized" else "the Showrunner"
            raise NotYours(
                f"{by} cannot make {self.id} {to}", fix=f"Only {owner} does that.", by=by
            )
        step = {"from": self.status, "to": to, "by": by, "at": at}
        return replace(self, status=to, history=(*self.history, step), **more)

    def shape(self) -> dict[str, Json]:
        """Return what doors and roles are shown of it."""
        own = self.to_json()
        card = own.pop("card")
        return {**{k: v for k, v in own.items() if v not in (None, (), [])}, **card}
