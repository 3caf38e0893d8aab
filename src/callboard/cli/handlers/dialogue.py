"""A conversation at the terminal: who holds it, the next line, and silence while one waits."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from typing import Final

from callboard.cli import exits
from callboard.cli.bridge import Interrupt
from callboard.cli.handlers.following import read_line
from callboard.cli.handlers.opening import Choices, pack_of_project
from callboard.cli.output import clean, put, remark
from callboard.core.errors import CallboardError, NotFound
from callboard.core.events import Event
from callboard.studio.packs import installed_packs, load_pack
from callboard.studio.repertoire import in_order

NEWS_SECONDS: Final = 1.0
"""How often is looked for news while nothing is typed."""


async def next_line(prompt: str, interrupt: Interrupt) -> str | None:
    """Return what the user types; Ctrl-C and the end of the input both end the talk."""
    put(sys.stderr, prompt)
    is_terminal = sys.stdin.isatty()
    reading = asyncio.ensure_future(read_line() if is_terminal else _piped_line())
    asked = asyncio.ensure_future(interrupt.asked.wait())
    await asyncio.wait({reading, asked}, return_when=asyncio.FIRST_COMPLETED)
    asked.cancel()
    if reading.done():
        return reading.result()
    reading.cancel()
    return None


async def _piped_line() -> str | None:
    line = await asyncio.to_thread(sys.stdin.readline)
    return line.rstrip("\r\n") if line else None


Command = Callable[[str], Awaitable[object] | None]
"""Does what a command asks for; it is handed what was typed after its name."""


@dataclass(frozen=True)
class Dialogue:
    """A conversation at the terminal: what is typed is said, or obeyed if it begins with a slash.

    `prompt` is asked before every line, so that it can say with whom one talks now.
    """

    prompt: Callable[[], str]
    say: Callable[[str], Awaitable[object]]
    commands: Mapping[str, Command]
    known: str
    interrupt: Interrupt
    # What happened while nothing was said: looked for before a line is asked for, and meanwhile.
    news: Callable[[], Awaitable[Sequence[str]]] | None = None

    async def hold(self, greeting: str) -> int:
        """Talk until the user leaves; return the exit code."""
        remark(f"{greeting} Also: {self.known}.")
        while (typed := await self._listen()) is not None:
            text = typed.strip()
            if text == "/quit":
                break
            if text:
                await self.obey(text)
            if self.interrupt.asked.is_set():
                return exits.INTERRUPTED
        return exits.OK

    async def _listen(self) -> str | None:
        """Return the next line; what happens until it is there is told."""
        if self.news is None:
            return await next_line(self.prompt(), self.interrupt)
        for each in await self.news():
            remark(clean(each))
        is_typed = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._tell_news(self.news, is_typed))
            try:
                return await next_line(self.prompt(), self.interrupt)
            finally:
                is_typed.set()

    async def _tell_news(
        self, news: Callable[[], Awaitable[Sequence[str]]], is_typed: asyncio.Event
    ) -> None:
        while not is_typed.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(NEWS_SECONDS):
                    await is_typed.wait()
            told: Sequence[str] = () if is_typed.is_set() else await news()
            if told:
                remark("\n" + clean("\n".join(told)))
                put(sys.stderr, self.prompt())

    async def obey(self, text: str) -> None:
        """Do what was typed; what goes wrong with it does not end the talk."""
        name, _, rest = text.partition(" ")
        command = self.commands.get(name)
        if command is None and name.startswith("/"):
            remark(f"There is no {clean(name)}. Known: {self.known}.")
            return
        try:
            doing = self.say(text) if command is None else command(rest.strip())
            if doing is not None:
                await doing
        except CallboardError as error:
            remark(clean(f"{error.message}. {error.fix or ''}".strip()))


class Hush:
    """Shows nothing while the agent answers: in a talk only the answer counts."""

    @property
    def can_ask(self) -> bool:
        """Whether somebody sits at the terminal."""
        return sys.stdin.isatty()

    def __enter__(self) -> "Hush":
        """Begin."""
        return self

    def __exit__(self, *_error: object) -> None:
        """End."""

    def show(self, event: Event) -> None:
        """Keep an event to itself."""
        del event

    def show_live(self, event: Event) -> None:
        """Keep an event that is not stored to itself."""
        del event

    def note(self, text: str) -> None:
        """Tell what the user has to know."""
        remark(clean(text))

    def set_aside(self) -> AbstractContextManager[object]:
        """Make room for a question."""
        return nullcontext()


@dataclass(frozen=True, slots=True)
class TerminalConversation:
    """What a user wants to say, to whom, and how; a pack takes of it what it knows."""

    message: str | None = None
    agent: str | None = None
    mode: str | None = None
    user: str | None = None
    tools: str | None = None
    skip_tools: bool = False
    session: str | None = None


def converse(choices: Choices, wanted: TerminalConversation) -> int:
    """Say one thing, or without a message talk until the user leaves."""
    own = pack_of_project(choices.project)
    given = tuple(load_pack(folder) for folder in choices.packs)
    packs = in_order(given, installed_packs(), own)
    # Without an agent's name the project's pack speaks, if it can; with one, whoever knows agents.
    spoken = [pack.hook("chat") for pack in packs if pack.name == own and wanted.agent is None]
    known = [pack for pack in packs if pack.described.hooks.chat_with is not None]
    for hook in (*spoken, *(pack.hook("chat_with") for pack in known[:1])):
        if hook is not None:
            return int(hook(choices, wanted))
    raise NotFound("No pack here can talk with an agent", fix="See `callboard packs list`.")
