"""Asking the person at the terminal, without a thread that would outlive Ctrl-C."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable

from callboard.cli.output import clean, remark
from callboard.core.vocabulary.run import Answer, Question

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
