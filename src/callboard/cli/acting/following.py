"""Following a run: its events, its questions, its end."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any

from callboard.cli.acting.questions import ask_at_terminal
from callboard.cli.bridge import Interrupt
from callboard.cli.views.view import View
from callboard.core.errors import Conflict
from callboard.core.events import Event, QuestionAsked, RunChanged
from callboard.core.vocabulary.run import TERMINAL_STATES, Answer, RunRecord, RunState
from callboard.store.journal.events import last_event_seq
from callboard.store.journal.questions import list_questions
from callboard.studio.studio import Studio

_ENDS = frozenset(state.value for state in TERMINAL_STATES)


@dataclass(frozen=True, slots=True)
class Followed:
    """How far a run was followed: to its end, to open questions, or to a Ctrl-C."""

    run: RunRecord
    questions: tuple[Answer, ...] = ()
    was_interrupted: bool = False


def last_seq(studio: Studio) -> int:
    """Return the number of the newest event, to follow only what comes after it."""
    return studio.database.read(last_event_seq)


async def follow(
    studio: Studio,
    run_id: str,
    view: View,
    interrupt: Interrupt,
    *,
    after: int = 0,
    may_ask: bool = True,
) -> Followed:
    """Show a run until it is over, waits for somebody who is not here, or is interrupted.

    Who answers here takes the run up here, so an onlooker may not be asked.
    """
    listeners = studio.backstage.live_listeners

    def show_live(event: Event) -> None:
        if event.run_id == run_id:
            view.show_live(event)

    listeners.append(show_live)
    asking = may_ask and view.can_ask
    watching = asyncio.create_task(_watch(studio, run_id, view, after, asking=asking))
    # `wait` is what tells of a journal that can no longer be written.
    ending = asyncio.create_task(studio.engine.wait(run_id))
    asked = asyncio.create_task(interrupt.asked.wait())
    try:
        with view:
            try:
                await _first(watching, asked, ending)
                if ending.done() and not watching.done() and not asked.done():
                    ending.result()
                    await _first(watching, asked)
            finally:
                await _stop(watching, ending, asked)
    finally:
        listeners.remove(show_live)
    if watching.cancelled():
        return Followed(studio.engine.load(run_id), was_interrupted=True)
    return Followed(studio.engine.load(run_id), watching.result())


async def _first(*tasks: "asyncio.Task[Any]") -> None:
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)


async def _stop(*tasks: "asyncio.Task[Any]") -> None:
    for task in tasks:
        task.cancel()
    # Gathering also takes note of errors that nobody looks at any more.
    await asyncio.gather(*tasks, return_exceptions=True)


async def _watch(
    studio: Studio, run_id: str, view: View, after: int, *, asking: bool
) -> tuple[Answer, ...]:
    """Show events until the run ends; return the questions nobody here can answer."""
    async for event in studio.engine.events(run_id=run_id, after=after):
        view.show(event)
        body = event.body
        if isinstance(body, RunChanged) and body.state in _ENDS:
            return ()
        if isinstance(body, RunChanged) and body.state == RunState.PAUSED.value:
            view.note(f"Paused. `callboard runs resume {run_id}` lets it go on; Ctrl-C leaves it.")
        if isinstance(body, QuestionAsked | RunChanged):
            unanswered = await _answer_questions(studio, run_id, view, asking=asking)
            if unanswered:
                return unanswered
    raise AssertionError("the stream of events has no end")


async def _answer_questions(
    studio: Studio, run_id: str, view: View, *, asking: bool
) -> tuple[Answer, ...]:
    """Ask what is open once nothing else goes on; return what stays open."""
    while studio.engine.load(run_id).state is RunState.WAITING:
        unanswered = open_questions(studio, run_id)
        if not unanswered or not asking:
            return unanswered
        with view.set_aside():
            value = await ask_at_terminal(unanswered[0])
        if value is None:
            return unanswered
        await _give(studio.engine.answer(unanswered[0].id, value))
    return ()


async def _give(answering: Awaitable[object]) -> None:
    try:
        await answering
    except Conflict:
        # Somebody answered by another door in the meantime; theirs counts.
        return


def open_questions(studio: Studio, run_id: str) -> tuple[Answer, ...]:
    """Return what a run asks and nobody has answered."""
    return tuple(studio.database.read(lambda connection: list_questions(connection, run_id=run_id)))
