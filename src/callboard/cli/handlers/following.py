"""Following a run: its events, its questions to the person at the terminal, its end."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from callboard.cli.bridge import Interrupt
from callboard.cli.exit_codes import code_of_run
from callboard.cli.output import clean, remark
from callboard.cli.views.view import WatchView
from callboard.core.errors import Conflict
from callboard.core.events import Event
from callboard.core.run_events import QuestionAsked, RunChanged
from callboard.core.vocabulary.run import TERMINAL_STATES, Answer, Question, RunRecord, RunState
from callboard.operations.runtime import give_answer
from callboard.store.journal.events import last_event_seq
from callboard.store.journal.questions import list_questions
from callboard.studio.studio import Studio

ReadLine = Callable[[], Awaitable[str | None]]


async def read_line() -> str | None:
    """Return the next line typed at the terminal, or None at its end."""
    loop = asyncio.get_running_loop()
    typed: asyncio.Future[bytes] = loop.create_future()
    terminal = sys.stdin.fileno()

    def ready() -> None:
        if not typed.done():
            typed.set_result(os.read(terminal, 65_536))

    loop.add_reader(terminal, ready)
    try:
        data = await typed
    finally:
        loop.remove_reader(terminal)
    return data.decode("utf-8", "replace").rstrip("\r\n") if data else None


async def ask_at_terminal(asked: Answer, read: ReadLine = read_line) -> str | None:
    """Ask until the answer is one the question allows; None if the person does not want to."""
    question = asked.question
    remark(f"\n{clean(question.text)}")
    for place, choice in enumerate(question.choices, start=1):
        remark(f"  {place}. {clean(choice)}")
    while True:
        _prompt(question)
        typed = await read()
        if typed is None:
            return None
        value = accept(question, typed)
        if value is not None:
            return value
        remark(
            f"Please answer with one of: {', '.join(question.choices)}"
            if question.choices
            else "Please type an answer; Ctrl-D leaves the question open."
        )


def accept(question: Question, typed: str) -> str | None:
    """Return the answer a typed line stands for, or None if it is not one."""
    text = typed.strip()
    if not text:
        return question.default
    if not question.choices:
        return text
    if text.isdigit() and text not in question.choices:
        place = int(text)
        return question.choices[place - 1] if 1 <= place <= len(question.choices) else None
    same = [choice for choice in question.choices if choice.casefold() == text.casefold()]
    if same:
        return same[0]
    return text if question.allows(text) else None


def _prompt(question: Question) -> None:
    default = f" [{clean(question.default)}]" if question.default is not None else ""
    sys.stderr.write(f"Your answer{default}: ")
    sys.stderr.flush()


_ENDS = frozenset(state.value for state in TERMINAL_STATES)


@dataclass(frozen=True, slots=True)
class Followed:
    """How far a run was followed: to its end, to open questions, or to a Ctrl-C."""

    run: RunRecord
    questions: tuple[Answer, ...] = ()
    was_interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """What that means for a script."""
        return code_of_run(self.run, was_interrupted=self.was_interrupted)


def last_seq(studio: Studio) -> int:
    """Return the number of the newest event, to follow only what comes after it."""
    return studio.database.read(last_event_seq)


async def follow(
    studio: Studio,
    run_id: str,
    view: WatchView,
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
    studio: Studio, run_id: str, view: WatchView, after: int, *, asking: bool
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
    studio: Studio, run_id: str, view: WatchView, *, asking: bool
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
        await _give(give_answer(studio, unanswered[0], value))
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
