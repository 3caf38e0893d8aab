"""Operations: what a user or a model may cause, declared once as a typed function.

    @operation(post="/findings/{finding_id}/mute", command="mute", undo="unmute")
    async def mute(health: Health, finding_id: str, reason: Reason) -> KnownFinding:
        "Keep a finding out of the alerts, with the writer's reason."
        return await health.mute(finding_id, reason)

The first parameter is what the operation works on; the pack finds it. The others are its
arguments, the return type is its result. Command, route, agent's action, schema and receipt are
read off this. Executes nothing.
"""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Concatenate, Final, Generic, ParamSpec, TypeVar, cast, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, create_model
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

from callboard.core.errors import CallboardError
from callboard.core.vocabulary import Effect

P = ParamSpec("P")
R = TypeVar("R")

USER: Final = "user"
AGENT: Final = "agent"
TIMEOUT_SECONDS: Final = 600.0


class OperationInvalid(CallboardError):
    """An operation is declared in a way that could not be kept."""

    code = "operation_invalid"


class Does(StrEnum):
    """What an operation does: looks, changes what can be changed again, or acts once."""

    READS = "reads"
    CHANGES = "changes"
    ONCE = "once"


_EFFECTS: Final = {Does.READS: Effect.PURE, Does.CHANGES: Effect.IDEMPOTENT, Does.ONCE: Effect.ONCE}


@dataclass(frozen=True, slots=True)
class Route:
    """Where an operation answers over HTTP, below the prefix of its pack."""

    method: str
    path: str
    status: int = 200


@dataclass(frozen=True)
class Operation(Generic[P, R]):
    """One thing that can be done, described well enough for every door and every model.

    `who` may cause it; an agent only in its `modes`, where it has any. `preview` says in advance
    what it would do, `undo` names the operation that takes it back, `tell` prints a result.
    """

    name: str
    summary: str
    function: Callable[..., Awaitable[R]]
    does: Does = Does.CHANGES
    who: frozenset[str] = frozenset({USER})
    modes: tuple[str, ...] = ()
    command: str | None = None
    route: Route | None = None
    preview: Callable[..., Awaitable[str]] | None = None
    undo: str | None = None
    tell: Callable[[R], str] | None = None
    example: dict[str, Any] | None = None
    timeout_seconds: float = TIMEOUT_SECONDS

    # Of the many operations of a pack a command uses one or two; the types of the others are never
    # read off.
    @cached_property
    def _types(self) -> "_OperationTypes":
        return _types(self.function, self.name)

    @property
    def context(self) -> type[Any]:
        """What it works on."""
        return self._types.context

    @property
    def arguments(self) -> type[BaseModel]:
        """What it takes."""
        return self._types.arguments

    @property
    def returns(self) -> Any:
        """The type of what it gives, as it is declared."""
        return self._types.returns

    @property
    def result(self) -> TypeAdapter[R]:
        """What it gives."""
        return cast("TypeAdapter[R]", self._types.result)

    @property
    def effect(self) -> Effect:
        """What a crash in the middle of it means."""
        return _EFFECTS[self.does]

    @property
    def leaves_receipt(self) -> bool:
        """Whether every execution of it is put on record."""
        return self.does is not Does.READS

    @property
    def place(self) -> str:
        """The file and line where it is declared."""
        code = getattr(inspect.unwrap(self.function), "__code__", None)
        return f"{code.co_filename}:{code.co_firstlineno}" if code else self.name


def operation(
    *,
    does: Does = Does.CHANGES,
    who: tuple[str, ...] = (USER,),
    modes: tuple[str, ...] = (),
    name: str | None = None,
    command: str | None = None,
    get: str | None = None,
    post: str | None = None,
    put: str | None = None,
    delete: str | None = None,
    status: int = 200,
    preview: Callable[..., Awaitable[str]] | None = None,
    undo: str | None = None,
    tell: Callable[[Any], str] | None = None,
    example: dict[str, Any] | None = None,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> Callable[[Callable[Concatenate[Any, P], Awaitable[R]]], Operation[P, R]]:
    """Make a function an operation: its name and docstring are the operation's."""
    paths = {"GET": get, "POST": post, "PUT": put, "DELETE": delete}
    routes = [Route(method, path, status) for method, path in paths.items() if path is not None]

    def declare(function: Callable[Concatenate[Any, P], Awaitable[R]]) -> Operation[P, R]:
        called = name or function.__name__
        if len(routes) > 1:
            raise _invalid(function, f"{called} has more than one route")
        if not inspect.iscoroutinefunction(function):
            raise _invalid(function, f"{called} is not an async function")
        summary = " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())
        if not summary:
            raise _invalid(function, f"{called} does not say what it does")
        return Operation(
            name=called,
            summary=summary,
            function=function,
            does=does,
            who=frozenset(who),
            modes=modes,
            command=command,
            route=routes[0] if routes else None,
            preview=preview,
            undo=undo,
            tell=tell,
            example=example,
            timeout_seconds=timeout_seconds,
        )

    return declare


@dataclass(frozen=True, slots=True)
class _OperationTypes:
    context: type[Any]
    arguments: type[BaseModel]
    returns: Any
    result: TypeAdapter[Any]


def _types(function: Callable[..., Any], called: str) -> _OperationTypes:
    """Read off a signature what an operation works on, what it takes and what it gives."""
    hints = get_type_hints(function, include_extras=True)
    first, *others = inspect.signature(function).parameters.values()
    context = hints.get(first.name)
    if not isinstance(context, type):
        raise _invalid(function, f"{called} does not say what it works on")
    fields: dict[str, Any] = {}
    for each in others:
        if each.name not in hints or each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            raise _invalid(function, f"{called} does not say what its {each.name} is")
        fields[each.name] = (hints[each.name], ... if each.default is each.empty else each.default)
    try:
        strict = ConfigDict(extra="forbid", frozen=True)
        arguments = create_model(f"{called}_arguments", __config__=strict, **fields)
        arguments.model_json_schema()
        result: TypeAdapter[Any] = TypeAdapter(hints.get("return", type(None)))
        result.json_schema(mode="serialization")
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        told = str(error).splitlines()[0]
        raise _invalid(function, f"{called} takes or gives what is no JSON: {told}") from error
    return _OperationTypes(context, arguments, hints.get("return"), result)


def _invalid(function: Callable[..., Any], told: str) -> OperationInvalid:
    code = inspect.unwrap(function).__code__
    place = f"{code.co_filename}:{code.co_firstlineno}"
    return OperationInvalid(f"{place}: {told}", fix="Correct the declaration.", path=place)
