"""Tool: an id, arguments, an effect and a function. Knows nothing of who may call it.

What a tool derives may be kept between the calls of one process.

A pack author writes a function and puts `@tool` above it:

    class CountArgs(ToolArgs):
        path: str

    @tool()
    def count_words(context: ToolContext, args: CountArgs) -> ToolResult:
        "Count the words of a file."
        words = len(context.files.read_text(args.path).text.split())
        return ToolResult({"words": words}, f"{words} words")

What is kept must be derivable again: it is dropped, oldest use first, when there is too much of it.
"""

import inspect
import re
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar, cast, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError

from callboard.core.canonical import Json
from callboard.core.parsing import misfits
from callboard.core.vocabulary import Effect
from callboard.tools.errors import InvalidArgs, InvalidTool
from callboard.tools.files import ProjectFiles
from callboard.tools.result import DryRun, Probe, ToolResult
from callboard.tools.threads import in_thread

MOST_KEPT: Final = 256

T = TypeVar("T")


class _Holder:
    __slots__ = ("has_value", "lock", "value")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.has_value = False
        self.value: Any = None


class Kept:
    """Values by key, each made once however many threads ask for it."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        """Take how many values are kept at most."""
        self._most = most
        self._lock = threading.Lock()
        self._holders: OrderedDict[Hashable, _Holder] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of a key, making it if nobody has; a failure is not kept."""
        holder = self._holder(key)
        with holder.lock:
            if not holder.has_value:
                holder.value = make()
                holder.has_value = True
            return cast("T", holder.value)

    def _holder(self, key: Hashable) -> _Holder:
        with self._lock:
            holder = self._holders.setdefault(key, _Holder())
            self._holders.move_to_end(key)
            while len(self._holders) > self._most:
                self._holders.popitem(last=False)
            return holder


DEFAULT_TIMEOUT_SECONDS: Final = 30.0
DEFAULT_OUTPUT_BYTES: Final = 10_000_000
DRY_RUN_ARG: Final = "dry_run"
_ID: Final = re.compile(r"[a-z][a-z0-9_.\-]{0,63}")

ArgsT = TypeVar("ArgsT", bound=BaseModel)
AnswerT = TypeVar("AnswerT", ToolResult, DryRun, Probe)
_Async = Callable[["ToolContext", Any], Awaitable[AnswerT]]


class ToolArgs(BaseModel):
    """Base of a tool's arguments: unknown keys are an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may know of its surroundings: the project's files and for whom it works."""

    files: ProjectFiles
    session_id: str
    run_id: str | None = None
    step_key: str | None = None
    agent_id: str | None = None
    # Shared by all calls of one service; a context made by hand has its own.
    kept: Kept = field(default_factory=Kept, repr=False, compare=False)
    # For a probe: what `observe` saw before the call that was interrupted.
    before: Json = None


@dataclass(frozen=True, slots=True)
class Tool:
    """One thing that can be done, described well enough to be checked before it is done."""

    id: str
    description: str
    args_model: type[BaseModel]
    function: _Async[ToolResult]
    effect: Effect = Effect.PURE
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    dry_run: _Async[DryRun] | None = None
    probe: _Async[Probe] | None = None
    # Looks at what is about to be changed; stored with the intent, and the probe is given it.
    observe: _Async[Json] | None = None
    max_output_bytes: int = DEFAULT_OUTPUT_BYTES
    # Only a choreography or the user may call it: no role can be given it.
    for_machinery: bool = False

    def __post_init__(self) -> None:
        """Refuse a declaration that could not be enforced."""
        if not _ID.fullmatch(self.id):
            raise InvalidTool(
                f"{self.id!r} cannot be a tool id",
                fix="Use lower-case letters, digits, '_', '-' or '.', starting with a letter.",
            )
        if self.args_model.model_config.get("extra") != "forbid":
            raise InvalidTool(
                f"The arguments of tool {self.id} accept unknown keys",
                fix=f"Derive {self.args_model.__name__} from ToolArgs.",
            )
        if self.timeout_seconds <= 0:
            raise InvalidTool(f"Tool {self.id} has a timeout of {self.timeout_seconds} seconds")
        if self.probe is not None and self.effect is not Effect.ONCE:
            raise InvalidTool(
                f"Tool {self.id} has a probe, but its effect is {self.effect}",
                fix="Only a tool whose effect is `once` is ever in doubt.",
            )

    def parse(self, raw: dict[str, Json]) -> BaseModel:
        """Return checked arguments, or say which key is wrong and how."""
        try:
            return self.args_model.model_validate(raw)
        except ValidationError as error:
            keys = [".".join(str(part) for part in each["loc"]) for each in error.errors()]
            takes = ", ".join(self.args_model.model_fields) or "no arguments"
            # The cause is cut off: it repeats the values, and a value may be a secret.
            raise InvalidArgs(
                f"Tool {self.id} cannot use these arguments: {misfits(error, 'arguments')}",
                fix=f"It takes: {takes}.",
                tool=self.id,
                keys=list(keys),
            ) from None

    def within(self, timeout_seconds: float, max_output_bytes: int) -> "Tool":
        """Return the same tool, with at most that much time and output."""
        return replace(
            self,
            timeout_seconds=min(self.timeout_seconds, timeout_seconds),
            max_output_bytes=min(self.max_output_bytes, max_output_bytes),
        )

    def schema(self) -> dict[str, Json]:
        """Return the JSON schema of the arguments."""
        return self.args_model.model_json_schema()

    def secret_args(self) -> frozenset[str]:
        """Return the names of arguments whose values must never be written down."""
        properties: dict[str, Json] = self.schema().get("properties", {})
        return frozenset(name for name, shape in properties.items() if _is_secret(shape))

    def with_id(self, tool_id: str) -> "Tool":
        """Return the same tool under another id, for a source that prefixes its own."""
        return replace(self, id=tool_id)


def tool(
    *,
    tool_id: str | None = None,
    description: str | None = None,
    effect: Effect = Effect.PURE,
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
    for_machinery: bool = False,
    dry_run: Callable[[ToolContext, ArgsT], DryRun | Awaitable[DryRun]] | None = None,
    probe: Callable[[ToolContext, ArgsT], Probe | Awaitable[Probe]] | None = None,
    observe: Callable[[ToolContext, ArgsT], Json] | None = None,
) -> Callable[[Callable[[ToolContext, ArgsT], ToolResult | Awaitable[ToolResult]]], Tool]:
    """Make a function a tool: its name is the id, its docstring the description."""

    def declare(
        function: Callable[[ToolContext, ArgsT], ToolResult | Awaitable[ToolResult]],
    ) -> Tool:
        told = description or inspect.getdoc(function) or ""
        return Tool(
            id=tool_id or function.__name__,
            description=" ".join(told.split("\n\n")[0].split()),
            args_model=_args_model(function),
            function=_as_async(function, ToolResult, is_stoppable=effect is Effect.PURE),
            effect=effect,
            timeout_seconds=timeout_seconds,
            dry_run=None if dry_run is None else _as_async(dry_run, DryRun, is_stoppable=True),
            probe=None if probe is None else _as_async(probe, Probe, is_stoppable=True),
            observe=None if observe is None else in_thread(observe, is_stoppable=True),
            for_machinery=for_machinery,
        )

    return declare


def _as_async(
    function: Callable[[ToolContext, Any], AnswerT | Awaitable[AnswerT]],
    _answer: type[AnswerT],
    *,
    is_stoppable: bool,
) -> _Async[AnswerT]:
    if inspect.iscoroutinefunction(function):
        return cast("_Async[AnswerT]", function)
    plain = cast("Callable[[ToolContext, Any], AnswerT]", function)
    return in_thread(plain, is_stoppable=is_stoppable)


def _args_model(function: Callable[..., object]) -> type[BaseModel]:
    parameters = list(inspect.signature(function).parameters)
    hints = get_type_hints(function)
    model = hints.get(parameters[1]) if len(parameters) == 2 else None
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise InvalidTool(
            f"The tool function {function.__name__} does not say what arguments it takes",
            fix="Write it as `(context: ToolContext, args: YourArgs)`; YourArgs is a ToolArgs.",
        )
    return model


def _is_secret(shape: Json) -> bool:
    if not isinstance(shape, dict):
        return False
    branches = cast("dict[str, Json]", shape)
    return bool(branches.get("writeOnly")) or any(
        _is_secret(branch) for branch in branches.get("anyOf", [])
    )
