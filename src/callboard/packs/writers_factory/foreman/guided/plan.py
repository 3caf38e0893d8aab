"""The plan of a turn that code leads, journaled before anything is done.

Acting changes the state, and with it the next gap; what a turn is about must not change with it
when a crash makes the run begin again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from callboard.core.canonical import Json
from callboard.core.vocabulary import TERMINAL_STATES
from callboard.packs.writers_factory.bible.decisions import weakness_of
from callboard.packs.writers_factory.bible.operations import why
from callboard.packs.writers_factory.foreman.foreman import Foreman, PastTurn, waiting_from_json
from callboard.packs.writers_factory.foreman.guided.gaps import BookGap, Gaps
from callboard.packs.writers_factory.foreman.hearing import (
    MessageKind,
    ReadMessage,
    is_bare_name,
    read_message,
)
from callboard.packs.writers_factory.foreman.state import ForemanState
from callboard.replies import Action
from callboard.studio.studio import Studio


@dataclass(frozen=True, slots=True)
class GuidedMessage:
    """A message, and what it is read against."""

    message: str
    state: ForemanState
    said: Sequence[PastTurn]


@dataclass(frozen=True, slots=True)
class GuidedPlan:
    """What a message is taken for, and the gap it came upon."""

    gap: BookGap
    kind: MessageKind
    # The words of the message that would fill the gap.
    value: str
    # Whether the Foreman had asked for this gap in its last reply, or needed not ask.
    was_asked: bool
    # A run that already does what going on would start.
    job: str | None = None
    # Why the words would not hold.
    weakness: str | None = None
    # What the last turn left to be filed on a yes.
    waiting: tuple[Action, ...] = ()
    # What the writer would rather leave open for now.
    skipped: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the journaled shape."""
        return {
            "gap": gap_to_json(self.gap),
            "kind": self.kind.value,
            "value": self.value,
            "was_asked": self.was_asked,
            "job": self.job,
            "weakness": self.weakness,
            "waiting": waiting_to_json(self.waiting),
            "skipped": list(self.skipped),
        }

    @classmethod
    def from_json(cls, stored: Json, gaps: Gaps) -> "GuidedPlan":
        """Read the journaled shape."""
        data = cast("dict[str, Any]", stored)
        return cls(
            gap_from_json(data["gap"], gaps),
            MessageKind(data["kind"]),
            str(data["value"]),
            bool(data["was_asked"]),
            data["job"],
            data["weakness"],
            waiting_from_json(data),
            tuple(data["skipped"]),
        )


def make_plan(foreman: Foreman, gaps: Gaps, asked_for: GuidedMessage) -> GuidedPlan:
    """Read a message against what the book lacks."""
    state, message, said = asked_for.state, asked_for.message, asked_for.said
    last = said[-1].result if said else {}
    skipped = tuple(cast("list[str]", last.get("skipped") or ()))
    gap = gaps.next_gap(state, done_works(said), skipped)
    asked = cast("dict[str, Any]", last["gap"]) if isinstance(last.get("gap"), dict) else {}
    was_asked = asked.get("id") == gap.id and asked.get("field") == gap.field
    if not said and gap.field == "name":
        # The first thing a book wants is a name; who begins with one need not be asked for it.
        was_asked = is_bare_name(message)
    reading = read_message(message, gap.field, state.project.protagonist)
    waiting = waiting_from_json(last)
    if gaps.names_winner(gap, message):
        reading = ReadMessage(MessageKind.ANSWER, message)
    kind = reading.kind
    if kind is MessageKind.YES and not waiting:
        kind = MessageKind.GO_ON
    weak = (
        weakness_of(foreman.rooms.bible, *gap.decision, reading.value)
        if gap.is_judged and reading.value
        else None
    )
    if kind is MessageKind.SKIP and gap.template:
        skipped = (*skipped, f"{gap.template}.{gap.field}")
    return GuidedPlan(
        gap,
        kind,
        reading.value,
        was_asked,
        _open_job(foreman.workspace.studio, gap, said),
        None if weak is None else why(weak),
        waiting,
        skipped,
    )


def waiting_to_json(actions: Sequence[Action]) -> Json:
    """Return actions that wait for the writer's yes as a turn keeps them."""
    return [{"type": each.type, "content": dict(each.content)} for each in actions]


def done_works(said: Sequence[PastTurn]) -> frozenset[str]:
    """Return what has been done in a session, by the names of actions."""
    return frozenset(
        str(result["type"])
        for each in said
        for one in each.rounds
        for result in one.results
        if result.get("status") == "executed"
    )


def gap_to_json(gap: BookGap) -> dict[str, Json]:
    """Return a gap as it is journaled."""
    action = gap.action
    return {
        "id": gap.id,
        "template": gap.template,
        "field": gap.field,
        "fault": gap.fault,
        "values": dict(gap.values),
        "action": None if action is None else {"type": action.type, "content": action.content},
    }


def gap_from_json(stored: Json, gaps: Gaps) -> BookGap:
    """Read a journaled gap."""
    data = cast("dict[str, Any]", stored)
    action = data["action"]
    return BookGap(
        data["id"],
        gaps.wording.gaps[data["id"]],
        data["template"],
        data["field"],
        None if action is None else Action(action["type"], action["content"]),
        data["fault"],
        data["values"],
    )


def _open_job(studio: Studio, gap: BookGap, said: Sequence[PastTurn]) -> str | None:
    wanted = gap.action.type if gap.action is not None else _LONG_WORK.get(gap.id)
    for each in reversed(said):
        for one in each.rounds:
            for result in one.results:
                job = result.get("job")
                if job and result.get("type") == wanted:
                    is_over = studio.engine.load(str(job)).state in TERMINAL_STATES
                    return None if is_over else str(job)
    return None


_LONG_WORK = {"voice.test_passage": "start_tournament", "voice.tournament": "start_tournament"}
