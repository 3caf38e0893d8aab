"""Performing: has an operation done for somebody, and leaves a receipt of whatever it changes.

There is one executor for what models and users cause: an operation is carried out as a tool is,
by the same checks, with the same intents, receipts and chains. An operation that only reads
leaves none. Which operations a pack has is gathered from the modules its `pack.yaml` names.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, ParamSpec, TypeVar

from pydantic import ValidationError
from pydantic_core import to_jsonable_python

from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput
from callboard.core.parsing import misfits
from callboard.operations.declaration import AGENT, USER, Operation, OperationInvalid
from callboard.studio.packs import Pack, PackInvalid
from callboard.studio.studio import Studio
from callboard.tools import (
    CallRefused,
    DryRun,
    Policy,
    Tool,
    ToolCall,
    ToolContext,
    ToolExecution,
    ToolResult,
)

P = ParamSpec("P")
R = TypeVar("R")
Finder = Callable[[Studio, type[Any]], Any]
"""Finds what operations work on in an open project, by its type."""
_RESULT: Final = "result"
_lent: Final[ContextVar[object]] = ContextVar("lent", default=None)
# What was done is done: a long result must not make a failure of it.
_LARGEST_RESULT_BYTES: Final = 100_000_000


@contextmanager
def lending(context: object) -> Generator[None]:
    """Have operations that work on things of this type work on this one, for as long as it lasts.

    For what exists only while it is being made, such as the findings of a run.
    """
    token = _lent.set(context)
    try:
        yield
    finally:
        _lent.reset(token)


@dataclass(frozen=True, slots=True)
class Rights(Policy):
    """What one caller may do with one operation: the user what is theirs, an agent in its modes."""

    operation: Operation[..., Any] | None = None
    mode: str = ""

    def check(self, tool: Tool, *, dry_run: bool = False) -> None:
        """Refuse what this caller may not cause."""
        wanted = self.operation
        if wanted is None:
            raise _refused(tool.id, "nobody said what it is", "closed")
        who = USER if self.agent_id is None else AGENT
        if who not in wanted.who:
            told = "only the user can do this" if who == AGENT else "only an agent does this"
            raise _refused(tool.id, told, "who")
        if who == AGENT and wanted.modes and self.mode not in wanted.modes:
            told = f"in {self.mode or 'no mode'} it is not permitted: {', '.join(wanted.modes)}"
            raise _refused(tool.id, told, "mode")


@dataclass(frozen=True, slots=True)
class Refusal(Policy):
    """Refuses whatever is asked, for a reason that was found before anybody looked at rights."""

    why: str = ""

    def check(self, tool: Tool, *, dry_run: bool = False) -> None:
        """Refuse."""
        raise _refused(tool.id, self.why, "asked")


class Operations:
    """The operations of one pack in one open project."""

    def __init__(self, studio: Studio, family: str, find: Finder) -> None:
        """Take the project, under which name receipts are kept, and what finds contexts."""
        self.studio = studio
        self.family = family
        self._find = find

    async def perform(self, wanted: Operation[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Have the user's wish done, in the session they work in."""
        return await self.perform_in(None, wanted, *args, **kwargs)

    async def perform_in(
        self, session_id: str | None, wanted: Operation[P, R], /, *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """Have the user's wish done, in a session of theirs."""
        values = dict(zip(wanted.arguments.model_fields, args, strict=False)) | kwargs
        try:
            given = self.given(wanted, values)
        except InvalidInput as misfit:
            if wanted.leaves_receipt:
                shown = to_jsonable_python(values, fallback=str)
                await self._run(session_id, wanted, shown, Refusal(why=misfit.message))
            raise
        if not wanted.leaves_receipt:
            return await self._do(wanted, wanted.arguments.model_validate(given))
        execution = await self._run(session_id, wanted, given, self.rights(wanted))
        return self.result(wanted, execution.unwrap().payload)

    async def _run(
        self,
        session_id: str | None,
        wanted: Operation[..., Any],
        args: dict[str, Json],
        policy: Policy,
    ) -> ToolExecution:
        session = session_id or (await self.studio.sessions.current()).id
        call = ToolCall(tool=self.register(wanted), args=args, session_id=session)
        return (await self.studio.tools.run(call, policy)).execution

    def rights(
        self, wanted: Operation[..., Any], agent: str | None = None, mode: str = ""
    ) -> Rights:
        """Return what the user, or an agent in a mode, may do with an operation."""
        return Rights(agent_id=agent, operation=wanted, mode=mode)

    def register(self, wanted: Operation[..., Any]) -> str:
        """Make an operation known to the executor; return the id its receipts have."""
        tool_id = f"{self.family}.{wanted.name}"
        registry = self.studio.tools.registry
        if tool_id not in registry:
            registry.register(self._tool(tool_id, wanted), origin=f"pack {self.family}")
        return tool_id

    @staticmethod
    def result(wanted: Operation[..., R], payload: Mapping[str, Json]) -> R:
        """Read a result off a receipt, or off what a human put in its place."""
        told = payload[_RESULT] if _RESULT in payload else payload.get("value", dict(payload))
        return wanted.result.validate_python(told)

    def _context(self, wanted: Operation[..., Any]) -> Any:
        lent = _lent.get()
        is_meant = lent is not None and isinstance(lent, wanted.context)
        return lent if is_meant else self._find(self.studio, wanted.context)

    async def _do(self, wanted: Operation[..., R], checked: Any) -> R:
        values = {name: getattr(checked, name) for name in wanted.arguments.model_fields}
        return await wanted.function(self._context(wanted), **values)

    def _tool(self, tool_id: str, wanted: Operation[..., Any]) -> Tool:
        async def act(_context: ToolContext, checked: Any) -> ToolResult:
            made = await self._do(wanted, checked)
            shown = wanted.tell(made) if wanted.tell is not None else wanted.summary
            return ToolResult({_RESULT: wanted.result.dump_python(made, mode="json")}, shown)

        async def foretell(_context: ToolContext, checked: Any) -> DryRun:
            values = {name: getattr(checked, name) for name in wanted.arguments.model_fields}
            context = self._context(wanted)
            told = "" if wanted.preview is None else await wanted.preview(context, **values)
            return DryRun(detail={"would": told})

        return Tool(
            id=tool_id,
            description=wanted.summary,
            args_model=wanted.arguments,
            function=act,
            effect=wanted.effect,
            timeout_seconds=wanted.timeout_seconds,
            max_output_bytes=_LARGEST_RESULT_BYTES,
            dry_run=None if wanted.preview is None else foretell,
            for_machinery=AGENT not in wanted.who,
        )

    @staticmethod
    def given(wanted: Operation[..., Any], values: Mapping[str, Any]) -> dict[str, Json]:
        """Return arguments as a receipt holds them, or say what is wrong with them."""
        try:
            checked = wanted.arguments.model_validate(dict(values))
        except ValidationError as error:
            told = misfits(error, "arguments")
            takes = ", ".join(wanted.arguments.model_fields) or "no arguments"
            raise InvalidInput(
                f"{wanted.name} cannot use these arguments: {told}", fix=f"It takes: {takes}."
            ) from None
        return checked.model_dump(mode="json")


def _refused(tool_id: str, why: str, rule: str) -> CallRefused:
    return CallRefused(
        f"{tool_id} was not done: {why}",
        fix="Let the user do it, or wait for a mode that permits it.",
        tool=tool_id,
        rule=rule,
    )


def operations_of(pack: Pack) -> dict[str, Operation[..., Any]]:
    """Return everything that can be done with a pack, by name, in the order of declaration."""
    found: dict[str, Operation[..., Any]] = {}
    for module in pack.operation_modules():
        declared: list[Operation[..., Any]] = [
            each for each in vars(module).values() if isinstance(each, Operation)
        ]
        for each in declared:
            if each.function.__module__ != module.__name__:
                continue
            known = found.setdefault(each.name, each)
            if known is not each:
                raise OperationInvalid(
                    f"Pack {pack.name} declares {each.name} twice: {known.place}, {each.place}",
                    fix="Give one of them another name.",
                )
    return found


def broken_operations(pack: Pack) -> Iterator[str]:
    """Say which operations of a pack take or give what no door can carry."""
    try:
        declared = operations_of(pack)
    except PackInvalid:
        # Told by whoever loads its parts.
        return
    except OperationInvalid as error:
        yield error.message
        return
    for each in declared.values():
        try:
            _ = each.arguments
        except OperationInvalid as error:
            yield f"operation {each.name} of pack {pack.name} cannot be used: {error.message}"


def open_operations(studio: Studio, pack: Pack) -> Operations:
    """Return what has the operations of a pack done in an open project."""
    entry = pack.described.operations
    family = pack.name if entry is None else entry.family
    return Operations(studio, family, pack.finder())
