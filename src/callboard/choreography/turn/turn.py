"""Turn: the choreography of a conversation. A message is a run; an answer goes on with it.

Each part of a run is one turn. A turn that was saved is never performed again; one that was not is
performed from its journal, so that nothing finished happens twice.

The way of a message, in this order:

1. `turn` admits it, `message` loads what the session remembers (`memory`, `memory_rows`);
2. `phases` calls the phases one after the other, each with the same `work` in its hands:
   `understanding` (what is meant: by form, by a model, as an answer to what is open),
   `thinking` (what is done about it: the domain's router, else a checked plan),
   `acting` (the plan's steps, in groups, writes with consent),
   `replying` (facts in words, or a break that asks);
3. `message` closes it: what is remembered then is saved as one.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from pydantic import ValidationError

from callboard.choreography.guards import one_per_session
from callboard.choreography.stage import Stage
from callboard.choreography.turn.asker import NodeAsker
from callboard.choreography.turn.domain import Domain, Who
from callboard.choreography.turn.memory import compress
from callboard.choreography.turn.memory_rows import (
    Begun,
    TurnRow,
    begin_turn,
    drop_turn,
    find_interrupted,
    find_turn,
    load_owner,
    load_state,
    save_state,
    tell_interrupted,
)
from callboard.choreography.turn.message import Handling, Loaded, Sent
from callboard.choreography.turn.modes import find_mode
from callboard.choreography.turn.sections import Hidden
from callboard.choreography.turn.shapes import Gesture, GestureKind
from callboard.choreography.turn.thinking.deciding import ModelUnavailable
from callboard.core.canonical import Json
from callboard.core.errors import Conflict, InvalidInput
from callboard.core.vocabulary import Effect, Question, RunRecord
from callboard.engine.run import Run
from callboard.engine.scope import StepScope
from callboard.knowledge.entities import Lifetimes, load_registry
from callboard.models.traffic.priority import Priority
from callboard.store.connection import Connection
from callboard.store.journal.runs import load_run
from callboard.studio.runnable import Prepared
from callboard.studio.studio import Studio

MOST_CHARS: Final = 8000
ANSWER: Final = "answer"
_PARAMETERS: Final = {
    "message": "str, required",
    "user_id": "str, required: whose data it is",
    "timezone": "str, default UTC",
    "mode": "str, default: the session's",
    "client_message_id": "str, default none: the same id again is the same message",
    "gesture": "dict with kind and target, default none: what a button says",
    "end": "bool, default False: ends the conversation instead",
}


class Busy(Conflict):
    """A turn is under way in this session."""

    code = "turn_running"


class SomebodyElses(Conflict):
    """A conversation belongs to another person: what is remembered in it is theirs."""

    code = "somebody_elses_conversation"


class MessageTooLong(InvalidInput):
    """A message is longer than a message may be."""

    code = "message_too_long"


class Turn:
    """The choreography of talking about a domain's data."""

    summary = "Say something about your data; it is understood, planned, done and answered."

    def __init__(
        self,
        domain_of: Callable[[Studio], Domain],
        lifetimes_of: Callable[[Studio], Lifetimes] | None = None,
    ) -> None:
        """Take where the domain of a studio comes from, and how long things stay in mind there."""
        self._domain_of = domain_of
        self._lifetimes_of = lifetimes_of

    @property
    def parameters(self) -> Mapping[str, str]:
        """The arguments it takes."""
        return _PARAMETERS

    async def prepare(self, studio: Studio, raw: Mapping[str, Json]) -> Prepared:
        """Check a message; one turn at a time is admitted per session."""
        args = {name: value for name, value in raw.items() if value is not None}
        message = str(args.get("message") or "")
        unknown = sorted(args.keys() - _PARAMETERS.keys())
        if unknown or not args.get("user_id") or not (message.strip() or args.get("end")):
            what = f"unknown: {', '.join(unknown)}" if unknown else "message or user_id is missing"
            takes = ", ".join(f"{name} ({kind})" for name, kind in _PARAMETERS.items())
            raise InvalidInput(f"There is nothing to say: {what}", fix=f"It takes: {takes}.")
        check_message(message)
        check_gesture(args.get("gesture"))
        mode = args.get("mode")
        if mode is not None and mode != "auto":
            find_mode(self._domain_of(studio).modes(), str(mode))
        now = studio.clock.now_ms()

        def admit(connection: Connection, run: RunRecord) -> None:
            refuse_strangers(connection, run.session_id, str(args["user_id"]))
            refuse_if_busy(studio, connection, run)
            if not args.get("end"):
                client = args.get("client_message_id")
                begun = Begun(run.session_id, run.id, 1, message, client)
                begin_turn(connection, begun, now)

        return Prepared(args, title=message[:60] or "end", admit=admit)

    async def perform(self, studio: Studio, run: Run) -> Json:
        """Handle a message, and the answers to what is asked about it."""
        sent = Sent.read(run.args, run.session_id)
        domain = self._domain_of(studio)
        if run.args.get("end"):
            stage = Stage(studio, run).at(Priority.USER)
            return await end_session(stage, sent.who, domain.modes()[0].name)
        part = 1
        while True:
            closed = await self._part(studio, run, domain, part, sent)
            if not closed["asks"]:
                return closed
            question = Question(str(closed["message"]), detail={"turn": closed["turn"]})
            answer = await run.ask_human(f"{part}/{ANSWER}", question, inputs={"part": part})
            sent, part = sent.answered(answer), part + 1

    async def _part(
        self, studio: Studio, run: Run, domain: Domain, part: int, sent: Sent
    ) -> dict[str, Any]:
        key = f"{part}/save"
        if run.holds(key):
            return cast("dict[str, Any]", run.recall(key))
        row = await _begin(studio, run, part, sent)
        stage = Stage(studio, run.branch(str(part))).at(Priority.USER)
        lifetimes = self._lifetimes_of(studio) if self._lifetimes_of else Lifetimes()
        session_id = sent.who.session_id
        loaded = studio.database.read(lambda c: _load(c, session_id, row.turn, lifetimes))
        handling = Handling(stage, domain, sent, row.turn, loaded)
        try:
            return await handling.handle()
        except ModelUnavailable:
            # Not accepted: nothing has changed, and its number is free again.
            await studio.database.write(lambda c: drop_turn(c, row.session_id, row.turn))
            raise


def _load(connection: Connection, session_id: str, turn: int, lifetimes: Lifetimes) -> Loaded:
    rows = find_interrupted(connection, session_id, turn)
    return Loaded(
        load_state(connection, session_id),
        load_registry(connection, session_id, lifetimes),
        tuple(row.turn for row in rows),
        tuple(tell_interrupted(connection, row) for row in rows),
    )


async def _begin(studio: Studio, run: Run, part: int, sent: Sent) -> TurnRow:
    found = studio.database.read(lambda connection: find_turn(connection, run.id, part))
    if found is not None:
        return found
    now = studio.clock.now_ms()

    def work(connection: Connection) -> TurnRow:
        parent = load_run(connection, run.id).parent_id
        client = sent.client_message_id
        begun = Begun(run.session_id, run.id, part, sent.message, client, parent)
        begin_turn(connection, begun, now)
        return cast("TurnRow", find_turn(connection, run.id, part))

    return await studio.database.write(work)


def check_message(message: str) -> None:
    """Refuse a message that is longer than a message may be."""
    if len(message) > MOST_CHARS:
        raise MessageTooLong(
            f"The message has {len(message)} characters; {MOST_CHARS} are possible",
            fix="Send it in parts.",
            characters=len(message),
        )


def check_gesture(told: Json) -> None:
    """Refuse a gesture that is none."""
    try:
        _ = None if told is None else Gesture.model_validate(told)
    except ValidationError as error:
        kinds = ", ".join(GestureKind)
        raise InvalidInput(
            "The gesture is none", fix=f"It has a kind ({kinds}) and a target, the id of something."
        ) from error


def refuse_strangers(connection: Connection, session_id: str, user_id: str) -> None:
    """Object to somebody who talks in another person's conversation."""
    owner = load_owner(connection, session_id)
    if owner and owner != user_id:
        raise SomebodyElses(
            "This conversation is somebody else's",
            fix="Begin one of your own.",
            session_id=session_id,
        )


def refuse_if_busy(studio: Studio, connection: Connection, run: RunRecord) -> None:
    """Object to a second turn in a session while one is under way."""
    one_per_session(
        studio,
        connection,
        run,
        lambda other: Busy(
            "A turn is under way in this conversation",
            fix=f"Wait for it, or answer what it asks: `callboard runs show {other.id}`.",
            run_id=other.id,
        ),
    )


async def end_session(stage: Stage, who: Who, mode: str) -> dict[str, Any]:
    """Sum a conversation up and close it; a later message opens it again."""
    studio, session = stage.studio, who.session_id
    state = studio.database.read(lambda connection: load_state(connection, session))
    registry = studio.database.read(lambda connection: load_registry(connection, session))
    hidden = Hidden.of(registry, state.gone)
    if state.recent:
        asker = NodeAsker(stage, mode)
        state.summary = await compress(asker, state, state.recent, hidden, state.turn)
    state.constraints = []
    state.clarification = state.proposal = state.suggestion = None
    summary = state.summary.model_dump(mode="json")

    async def act(scope: StepScope) -> Json:
        now = studio.clock.now_ms()
        state.ended_at = now
        scope.commit_with(lambda connection: save_state(connection, session, state, now))
        return {"ended": True, "turns": state.turn, "summary": summary}

    return cast("dict[str, Any]", await stage.run.step("end", act, effect=Effect.PURE))
