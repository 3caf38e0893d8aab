"""The scripted model: a provider that says what it was told to say, and remembers what it heard.

Replies come from lines in order, from a file, or from a function. It can also fail the way real
providers do. It never invents an answer: a request no line expects is an error.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final, NoReturn

from pydantic import ConfigDict

from callboard.core.canonical import Json, compact_json
from callboard.core.errors import ProviderError
from callboard.core.patterns import compile_pattern
from callboard.models.errors import ScriptExhausted
from callboard.models.types import Ended, ModelRequest, ProviderChunk, TextChunk, Usage, Working

_CHUNK_CHARS: Final = 24
# In a file, a key that means nothing is an error.
_CLOSED: Final = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class Failure:
    """How a scripted call goes wrong, as an HTTP answer would."""

    __pydantic_config__: ClassVar = _CLOSED

    status: int = 500
    message: str = "scripted failure"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Line:
    """One scripted reply and the requests it answers.

    `agent`, `prompt_type` and `matching` (a regular expression searched in the prompt) narrow who
    is answered; what is left out matches everybody. A line answers `times` requests, `None` any
    number. `hold` names a moment: the line waits until `Script.release(hold)`. `drop_after` cuts
    the connection after that many characters. `fail` answers with an HTTP error. `hang` never
    answers.
    """

    __pydantic_config__: ClassVar = _CLOSED

    text: str = ""
    agent: str | None = None
    prompt_type: str | None = None
    matching: str | None = None
    times: int | None = 1
    json: Json = None
    fail: Failure | None = None
    drop_after: int | None = None
    hang: bool = False
    hold: str | None = None
    finish_reason: str = "stop"
    usage: Usage | None = None

    def answers(self, request: ModelRequest) -> bool:
        """Say whether this line is meant for a request."""
        if self.agent is not None and self.agent != request.agent_id:
            return False
        if self.prompt_type is not None and self.prompt_type != request.prompt_type:
            return False
        if self.matching is None:
            return True
        return compile_pattern(self.matching).search(request.prompt_text) is not None

    @property
    def reply_text(self) -> str:
        """The text to be said; JSON is rendered."""
        return self.text if self.json is None else compact_json(self.json)


Answerer = Callable[[ModelRequest], "Line | str | None"]
"""A function that answers a request, or returns None to leave it to the next."""


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """One request as the script heard it, and the text it answers with."""

    request: ModelRequest
    line: Line | None

    @property
    def prompt(self) -> str:
        """The messages as one text."""
        return self.request.prompt_text


class Script:
    """A provider that plays scripted lines.

    `calls` holds every request in order, `unexpected` those nobody had a line for.
    """

    constrains_json = False

    def __init__(self, *lines: Line | str | Answerer, name: str = "script") -> None:
        """Take lines in the order they are preferred; a string answers one request of anybody."""
        self._lines = [Line(each) if isinstance(each, str) else each for each in lines]
        self._used = [0] * len(self._lines)
        self._holds: dict[str, asyncio.Event] = {}
        self._reached: dict[str, asyncio.Event] = {}
        self.name = name
        self.calls: list[ScriptedCall] = []
        self.unexpected: list[ModelRequest] = []

    def add(self, *lines: Line | str | Answerer) -> None:
        """Append lines to a script already in use."""
        for each in lines:
            self._lines.append(Line(each) if isinstance(each, str) else each)
            self._used.append(0)

    @property
    def prompts(self) -> list[str]:
        """Every prompt heard so far, in order."""
        return [call.prompt for call in self.calls]

    def unused(self) -> list[Line]:
        """Return the lines that still wait for a request; a function is never reported."""
        return [
            line
            for line, used in zip(self._lines, self._used, strict=True)
            if isinstance(line, Line) and used < (1 if line.times is None else line.times)
        ]

    def verify(self) -> None:
        """Raise if a line was never used or a request was unexpected."""
        problems = [f"never asked for: {_describe_line(line)}" for line in self.unused()]
        problems += [f"unexpected call: {_describe(request)}" for request in self.unexpected]
        if problems:
            raise AssertionError(f"Script {self.name!r}: " + "; ".join(problems))

    def release(self, hold: str) -> None:
        """Let every line that waits for this moment go on."""
        self._event(self._holds, hold).set()

    async def reached(self, hold: str) -> None:
        """Wait until some request has arrived at this moment."""
        await self._event(self._reached, hold).wait()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderChunk]:
        """Play the first line that answers the request."""
        line = self._choose(request)
        if line.hold is not None:
            self._event(self._reached, line.hold).set()
            yield Working(f"held at {line.hold}")
            await self._event(self._holds, line.hold).wait()
        if line.hang:
            await asyncio.get_running_loop().create_future()
        if line.fail is not None:
            raise ProviderError(
                f"{line.fail.message} (HTTP {line.fail.status})",
                status=line.fail.status,
                headers={key.lower(): value for key, value in line.fail.headers.items()},
            )
        text = line.reply_text
        said = text if line.drop_after is None else text[: line.drop_after]
        for start in range(0, len(said), _CHUNK_CHARS):
            # One turn of the loop per chunk: other tasks run in between, as with a real provider.
            await asyncio.sleep(0)
            yield TextChunk(said[start : start + _CHUNK_CHARS])
        if line.drop_after is not None:
            raise ConnectionResetError(f"connection reset after {len(said)} characters")
        usage = line.usage or Usage(_count(request.prompt_text), _count(text))
        yield Ended(request.model, usage, line.finish_reason)

    async def close(self) -> None:
        """Hold nothing, release nothing."""

    def _choose(self, request: ModelRequest) -> Line:
        for index, each in enumerate(self._lines):
            line = self._try(index, each, request)
            if line is not None:
                self._used[index] += 1
                self.calls.append(ScriptedCall(request, line))
                return line
        self.calls.append(ScriptedCall(request, None))
        self.unexpected.append(request)
        self._refuse(request)

    def _try(self, index: int, each: Line | Answerer, request: ModelRequest) -> Line | None:
        if not isinstance(each, Line):
            answer = each(request)
            return Line(answer) if isinstance(answer, str) else answer
        is_spent = each.times is not None and self._used[index] >= each.times
        return None if is_spent or not each.answers(request) else each

    def _refuse(self, request: ModelRequest) -> NoReturn:
        raise ScriptExhausted(
            f"Script {self.name!r} has no reply left for {_describe(request)}.",
            fix="Add a line for this call, or raise `times` of the line that answered before.",
            agent=request.agent_id,
            prompt_type=request.prompt_type,
            call=len(self.calls),
        )

    def _event(self, events: dict[str, asyncio.Event], name: str) -> asyncio.Event:
        return events.setdefault(name, asyncio.Event())


def _describe(request: ModelRequest) -> str:
    agent = request.agent_id or "nobody in particular"
    return f"agent {agent!r}, prompt type {request.prompt_type or 'none'!r}"


def _describe_line(line: Line) -> str:
    wanted = (("agent", line.agent), ("prompt type", line.prompt_type), ("text", line.matching))
    named = [f"{name} {value!r}" for name, value in wanted if value is not None]
    return f"{line.reply_text[:40]!r} for {', '.join(named) or 'anybody'}"


def _count(text: str) -> int:
    return len(text.split())
