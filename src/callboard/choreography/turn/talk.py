"""Talk: the way a door talks to a domain: send a message, look at what is remembered, end it.

It holds nothing between calls; everything is in the project's database.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from callboard.choreography.guards import end_left
from callboard.choreography.turn.conversations import (
    TURN,
    Conversations,
    busy,
    choose_mode,
    conversation_operations,
    end_conversation,
    failure,
)
from callboard.choreography.turn.domain import Domain, Who
from callboard.choreography.turn.memory_rows import (
    TurnRow,
    find_sent,
    find_turn,
    load_owner,
    load_state,
)
from callboard.choreography.turn.modes import find_mode
from callboard.choreography.turn.shapes import Gesture, TurnOutcome
from callboard.choreography.turn.standing import TalkStanding, standing_of, trace_of, turns_of
from callboard.choreography.turn.turn import Busy, check_message, refuse_strangers
from callboard.choreography.turn.understanding.draft import Open
from callboard.choreography.turn.understanding.gestures import objection, word_gesture
from callboard.core.canonical import Json
from callboard.core.errors import Conflict, InvalidInput
from callboard.core.run_events import QuestionAsked, RunChanged, StepDone
from callboard.core.vocabulary import UNFINISHED, Entity, RunRecord, RunState
from callboard.core.vocabulary.run import Answer
from callboard.knowledge.entities import EntityEvent, list_events, load_registry
from callboard.store.connection import Connection
from callboard.store.journal.questions import list_questions
from callboard.studio.studio import Studio

T = TypeVar("T")

UNDO: Final = "undo that"


class GestureLapsed(Conflict):
    """A button was pressed that means nothing any more. Nothing has changed."""

    code = "gesture_lapsed"


class Talk:
    """Conversations about one domain in one open project."""

    def __init__(self, studio: Studio, domain: Domain, pack: str) -> None:
        """Take the project, what is talked about, and the pack that offers it."""
        self._studio = studio
        self._domain = domain
        self._name = f"{pack}/{TURN}"
        self._conversations = Conversations(studio, domain, pack)
        self._steering = conversation_operations(studio, pack, self._conversations)

    async def send(
        self,
        message: str,
        *,
        session_id: str,
        who: Who,
        mode: str | None = None,
        client_message_id: str | None = None,
        gesture: Gesture | None = None,
    ) -> TurnOutcome:
        """Say something and return what came of it; the same client id is the same message.

        With a gesture, words are only needed where something is to be changed.
        """
        check_message(message)
        if mode is not None and mode != "auto":
            find_mode(self._domain.modes(), mode)
        self._read(lambda connection: refuse_strangers(connection, session_id, who.user_id))
        sent = self._sent(session_id, client_message_id)
        if sent is not None:
            return await self._outcome(sent.run_id, sent.part)
        run, question = self._conversations.open_turn(session_id)
        if run is not None and question is None:
            if not await end_left(self._studio, run):
                raise busy(run)
            run = None
        said: dict[str, Json] = {
            "message": message if gesture is None else self._worded(gesture, message, session_id),
            "mode": mode,
            "client_message_id": client_message_id,
        }
        if gesture is not None:
            said["gesture"] = gesture.model_dump(mode="json")
        if run is not None:
            return await self._answer(run, question, said)
        args = {**said, "user_id": who.user_id, "timezone": who.timezone}
        started = await self._studio.start(self._name, args, session_id=session_id)
        await self._studio.engine.wait(started.id, settled=True)
        return await self._outcome(started.id, 1)

    async def undo(self, session_id: str, who: Who) -> TurnOutcome:
        """Take back what the last turn that wrote has changed; this is a turn like any other."""
        return await self.send(UNDO, session_id=session_id, who=who)

    async def end(self, session_id: str, who: Who) -> dict[str, Any]:
        """End a conversation: what is open is dropped, and it is summed up."""
        return await self._steering.perform_in(session_id, end_conversation, session_id, who)

    def refuse_strangers(self, session_id: str, who: Who) -> None:
        """Object to somebody who looks into another person's conversation."""
        self._read(lambda connection: refuse_strangers(connection, session_id, who.user_id))

    def entities(self, session_id: str) -> tuple[Entity, ...]:
        """Return the things a conversation is about, put away or not."""
        return self._read(lambda connection: load_registry(connection, session_id)).all()

    def entity_events(self, session_id: str) -> list[EntityEvent]:
        """Return what happened to the things of a conversation, oldest first."""
        return self._read(lambda connection: list_events(connection, session_id))

    def owner(self, session_id: str) -> str | None:
        """Return whose conversation it is; None until somebody has said something."""
        return self._read(lambda connection: load_owner(connection, session_id)) or None

    def mode(self, session_id: str) -> str | None:
        """Return the mode a conversation is in; None until somebody chose one."""
        return self._read(lambda connection: load_state(connection, session_id)).mode

    async def choose_mode(self, session_id: str, who: Who, mode: str) -> str | None:
        """Go on in a mode; `auto` leaves it to each message. Nothing is said, no turn is made."""
        return await self._steering.perform_in(session_id, choose_mode, session_id, who, mode)

    def standing(self, session_id: str) -> TalkStanding:
        """Return where a conversation stands: its mode, and what waits for the user's word."""
        return self._read(lambda connection: standing_of(connection, session_id))

    def constraints(self, session_id: str) -> list[str]:
        """Return what a conversation avoids."""
        return self._read(lambda connection: load_state(connection, session_id)).constraints

    def turns(self, session_id: str, newest: int | None = None) -> list[dict[str, Any]]:
        """Return the turns of a conversation, or its newest: what was said, how each ended."""
        return self._read(lambda connection: turns_of(connection, session_id, newest))

    def trace(self, session_id: str, turn: int) -> dict[str, Any]:
        """Return why a turn did what it did: plan, steps, assumptions, calls, changed states."""
        return self._read(lambda connection: trace_of(connection, session_id, turn))

    def _worded(self, gesture: Gesture, message: str, session_id: str) -> str:
        """Return a gesture in words; one that means nothing any more is refused."""

        def work(connection: Connection) -> tuple[str, str]:
            state, registry = (
                load_state(connection, session_id),
                load_registry(connection, session_id),
            )
            waiting = Open(state.clarification, state.proposal)
            return objection(gesture, registry, waiting), word_gesture(gesture, registry, waiting)

        lapsed, words = self._read(work)
        if lapsed:
            raise GestureLapsed(lapsed, fix="Look at the conversation as it is now.")
        said = message.strip() or words
        if not said:
            raise InvalidInput("What is to be changed is not said", fix="Say it in words.")
        return said

    def _sent(self, session_id: str, client_message_id: str | None) -> TurnRow | None:
        if client_message_id is None:
            return None
        return self._read(lambda c: find_sent(c, session_id, client_message_id))

    async def _answer(
        self, run: RunRecord, question: Answer | None, said: dict[str, Json]
    ) -> TurnOutcome:
        if question is None:
            raise busy(run)
        part = int(question.key.partition("/")[0]) + 1
        try:
            await self._studio.engine.answer(question.id, said)
        except Conflict as error:
            raise Busy(
                "Somebody was quicker: a turn is under way in this conversation",
                fix="Wait for it and send the message again.",
                run_id=run.id,
            ) from error
        await self._follow(run.id, part)
        return await self._outcome(run.id, part)

    async def _follow(self, run_id: str, part: int) -> None:
        """Wait until a part is over: its run ended, or asks again, or is held up."""
        async for event in self._studio.engine.events(run_id=run_id):
            body, key = event.body, event.step_key or ""
            if isinstance(body, RunChanged) and RunState(body.state) not in UNFINISHED:
                return
            if isinstance(body, QuestionAsked) and key.startswith(f"{part}/"):
                return
            if isinstance(body, StepDone) and key == f"{part}/save":
                row = self._read(lambda connection: find_turn(connection, run_id, part))
                if row is not None and _outcome_of(row).action == "respond":
                    await self._studio.engine.wait(run_id)
                    return

    async def _outcome(self, run_id: str, part: int) -> TurnOutcome:
        row = self._read(lambda connection: find_turn(connection, run_id, part))
        if row is not None and row.document is not None:
            return _outcome_of(row)
        run = self._studio.engine.load(run_id)
        if not run.is_terminal:
            asked = self._read(lambda connection: list_questions(connection, run_id=run_id))
            raise Busy(
                f"The turn is held up: {asked[0].question.text}" if asked else "It is not over yet",
                fix="`callboard answer` lists what is asked.",
                run_id=run_id,
            )
        raise failure(run)

    def _read(self, work: Callable[[Connection], T]) -> T:
        return self._studio.database.read(work)


def _outcome_of(row: TurnRow) -> TurnOutcome:
    return TurnOutcome.model_validate((row.document or {})["outcome"])
