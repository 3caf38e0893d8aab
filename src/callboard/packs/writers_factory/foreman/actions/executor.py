"""The executor: checks what a reply asks for and has it done, one action after the other.

Schema, then permission, then the handler. A failing action never stops the next one; the same
action twice in one reply is done once; a command of the writer is never done here.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json, digest
from callboard.core.errors import CallboardError
from callboard.core.schemas import violations
from callboard.core.vocabulary import Effect
from callboard.packs.writers_factory.foreman.actions.catalogue import ActionSpec, Catalogue
from callboard.packs.writers_factory.foreman.actions.results import (
    ActionResult,
    Done,
    Status,
)
from callboard.replies import Action, coerce

AGENT: Final = "agent"


@dataclass(frozen=True, slots=True)
class ActionCall:
    """An action that may be done: its values, checked, and where it is done."""

    spec: ActionSpec
    values: Mapping[str, Any]
    mode: str
    stage: Stage
    # The step's key, unique in its run: what is done under it is done once.
    key: str

    @property
    def once(self) -> str:
        """What names this action of this turn and no other, however often it is tried."""
        return f"{self.stage.run.id}/{self.stage.run.key(self.key)}"

    def text(self, name: str, default: str = "") -> str:
        """Return a parameter as text."""
        value = self.values.get(name)
        return default if value is None else str(value).strip()


Handler = Callable[[ActionCall], Awaitable[Done]]
"""Does an action; what it raises of ours becomes a failed result."""


@dataclass(frozen=True)
class Executor:
    """Has the actions of a reply done, with the handlers it was given."""

    catalogue: Catalogue
    handlers: Mapping[str, Handler] = field(repr=False)

    def __post_init__(self) -> None:
        """Refuse a catalogue that names a handler nobody brought."""
        self.catalogue.check_handlers(self.handlers.keys())

    async def execute(
        self, stage: Stage, key: str, actions: Sequence[Action], mode: str
    ) -> tuple[ActionResult, ...]:
        """Do the actions of one reply in order and return what became of each."""
        seen: set[str] = set()
        results: list[ActionResult] = []
        for number, action in enumerate(actions, start=1):
            mark = digest([_folded(action.type), action.content])
            if mark in seen:
                continue
            seen.add(mark)
            results.append(await self._one(stage, f"{key}/{number}", action, mode))
        return tuple(results)

    async def _one(self, stage: Stage, key: str, action: Action, mode: str) -> ActionResult:
        checked = self._check(action, mode)
        if isinstance(checked, ActionResult):
            return checked
        spec, values = checked

        # What is done by other steps of this run, such as a model call, must not lie within one.
        if spec.handler in _STAGED:
            return await self._perform(ActionCall(spec, values, mode, stage, key))

        async def act() -> Json:
            done = await self._perform(ActionCall(spec, values, mode, stage, key))
            return done.to_json()

        stored = await stage.step(key, act, effect=Effect.IDEMPOTENT)
        return ActionResult.from_json(stored)

    def _check(
        self, action: Action, mode: str
    ) -> tuple[ActionSpec, dict[str, Json]] | ActionResult:
        name = _folded(action.type)
        if name in self.catalogue.writer_only:
            return ActionResult(
                name, Status.DENIED, "only the writer can do this, by a command of their own"
            )
        spec = self.catalogue.actions.get(name)
        if spec is None:
            return ActionResult(action.type, Status.UNKNOWN_TYPE, "there is no such action")
        values, problems = coerce(action.content, spec.schema)
        problems += _problems(values, spec)
        if problems:
            return ActionResult(name, Status.INVALID, "; ".join(problems))
        if not spec.is_permitted(mode):
            permitted = ", ".join(spec.modes or ())
            return ActionResult(name, Status.DENIED, f"in {mode} it is not permitted: {permitted}")
        return spec, values

    async def _perform(self, call: ActionCall) -> ActionResult:
        spec = call.spec
        clock = call.stage.studio.clock
        started = clock.now_ms()
        try:
            done = await self.handlers[spec.handler](call)
        except CallboardError as error:
            told = f"{error.message} {error.fix}" if error.fix else error.message
            return ActionResult(
                spec.name,
                Status.FAILED,
                told,
                dict(error.context),
                clock.now_ms() - started,
            )
        return ActionResult(
            type=spec.name,
            status=Status.EXECUTED,
            detail=done.detail,
            data=done.data,
            duration_ms=clock.now_ms() - started,
            is_informational=spec.is_informational,
            job=done.job,
            notices=done.notices,
        )


# Handlers that ask a model: their own steps are journaled, one around them cannot be.
_STAGED: Final = frozenset({"query_notebook", "llm_prompt"})


def _problems(values: Mapping[str, Json], spec: ActionSpec) -> list[str]:
    found: list[str] = []
    for each in violations(dict(values), spec.schema):
        place = ".".join(map(str, each.path))
        found.append(f"{place}: {each.message}" if place else each.message)
    blank = [
        f"{name} is empty"
        for name in spec.required
        if isinstance(values.get(name), str) and not str(values[name]).strip()
    ]
    return sorted(dict.fromkeys([*found, *blank]))


def _folded(name: str) -> str:
    return name.strip().lower().replace("-", "_")
