"""The executor: checks what a reply asks for and has it done, one action after the other.

Schema, then permission, then the operation, and a receipt whatever comes of it. A failing action
never stops the next one; the same action twice in one reply is done once; a command of the writer
is never done here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from callboard.choreography.operating import attempt, refuse
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json, digest
from callboard.core.errors import CallboardError, ErrorRecord
from callboard.core.schemas import violations
from callboard.core.vocabulary import Content, Trust
from callboard.operations import Operation, Operations
from callboard.packs.writers_factory.action import Cause, Done, await_job, short
from callboard.packs.writers_factory.foreman.actions.catalogue import CAUSE, ActionSpec, Catalogue
from callboard.packs.writers_factory.foreman.actions.results import ActionResult, Status
from callboard.packs.writers_factory.foreman.hearing import WriterWords, unsaid
from callboard.packs.writers_factory.foreman.operations import file_write, kb_save
from callboard.packs.writers_factory.memory.notebooks import Notebooks
from callboard.packs.writers_factory.memory.operations import Enquiry
from callboard.packs.writers_factory.model import FOREMAN
from callboard.replies import Action, coerce


@dataclass(frozen=True, slots=True)
class _Asked:
    """An action that may be done: its values, checked, and where it is done."""

    spec: ActionSpec
    values: Mapping[str, Any]
    mode: str
    stage: Stage
    # The step's key, unique in its run: what is done under it is done once.
    key: str

    @property
    def cause(self) -> Cause:
        """The turn it belongs to."""
        return cause_of(self.stage, self.key, self.mode)

    def text(self, name: str, default: str = "") -> str:
        """Return a parameter as text."""
        value = self.values.get(name)
        return default if value is None else str(value).strip()


def cause_of(stage: Stage, key: str, mode: str) -> Cause:
    """Return what names something a turn does, however often it is tried."""
    run = stage.run
    return Cause(f"{run.id}/{run.key(key)}", run.id, run.session_id, mode)


@dataclass(frozen=True)
class ActionExecutor:
    """Has the actions of a reply done."""

    catalogue: Catalogue
    operations: Operations = field(repr=False)
    notebooks: Notebooks = field(repr=False)

    async def execute(
        self, stage: Stage, key: str, actions: Sequence[Action], mode: str, words: WriterWords
    ) -> tuple[ActionResult, ...]:
        """Do the actions of one reply in order and return what became of each.

        What would file something that does not stand in the writer's words waits for a yes.
        """
        seen: set[str] = set()
        results: list[ActionResult] = []
        for number, action in enumerate(actions, start=1):
            mark = digest([_folded(action.type), action.content])
            if mark in seen:
                continue
            seen.add(mark)
            checked = self._check(action, mode, words)
            results.append(await self._one(stage, f"{key}/{number}", action, mode, checked))
        return tuple(results)

    async def _one(
        self, stage: Stage, key: str, action: Action, mode: str, checked: "_Checked"
    ) -> ActionResult:
        if isinstance(checked, ActionResult):
            tool = self._tool(_folded(action.type))
            why, content = checked.detail, dict(action.content)
            await refuse(stage, f"{key}/refused", tool, content, agent=FOREMAN, why=why)
            return checked
        spec, values = checked
        asked = _Asked(spec, values, mode, stage, key)
        wanted = _operation(asked, values)
        if wanted is None:
            return await self._ask(asked)
        tried = await attempt(
            stage, f"{key}/do", self.operations, *wanted, agent=FOREMAN, mode=mode
        )
        duration_ms = tried.receipt.duration_ms
        if tried.receipt.error is not None:
            return _failed(spec, tried.receipt.error, duration_ms)
        done = cast("Done", tried.result)
        if done.waits and done.job is not None:
            return await self._wait(asked, done.job, duration_ms)
        return _executed(spec, done, duration_ms)

    def _check(self, action: Action, mode: str, words: WriterWords) -> "_Checked":
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
        new = unsaid(name, values, words)
        if new:
            waiting: dict[str, Json] = {"type": name, "content": dict(action.content)}
            told = f"the writer did not say it; a yes files it: {short('; '.join(new))}"
            return ActionResult(name, Status.DENIED, told, {"waiting": waiting})
        return spec, values

    def _tool(self, name: str) -> str:
        """Return the name under which a refusal is put on record."""
        spec = self.catalogue.actions.get(name)
        if spec is not None and spec.operation is not None:
            return self.operations.register(spec.operation)
        return f"{self.operations.family}.{name}"

    async def _ask(self, asked: _Asked) -> ActionResult:
        """Do what changes nothing and may ask a model, in steps of its own."""
        spec, clock = asked.spec, asked.stage.studio.clock
        started = clock.now_ms()
        try:
            if spec.operation is None:
                done = await _prompt(asked)
            else:
                where = Enquiry(asked.stage, asked.key, self.notebooks)
                done = cast("Done", await spec.operation.function(where, **_known(asked)))
        except CallboardError as error:
            return _failed(spec, error, clock.now_ms() - started)
        return _executed(spec, done, clock.now_ms() - started)

    async def _wait(self, asked: _Asked, run_id: str, duration_ms: int) -> ActionResult:
        studio = asked.stage.studio
        started = studio.clock.now_ms()

        async def wait() -> Json:
            try:
                done = await await_job(studio, run_id)
            except CallboardError as error:
                took = duration_ms + studio.clock.now_ms() - started
                return _failed(asked.spec, error, took).to_json()
            took = duration_ms + studio.clock.now_ms() - started
            return _executed(asked.spec, done, took, is_news=True).to_json()

        return ActionResult.from_json(await asked.stage.step(f"{asked.key}/waited", wait))


_Checked = tuple[ActionSpec, dict[str, Json]] | ActionResult


def _operation(
    asked: _Asked, values: Mapping[str, Json]
) -> tuple[Operation[..., Any], dict[str, Json]] | None:
    """Return the operation an action is, with its arguments; None for what only asks."""
    spec, cause = asked.spec, asked.cause
    if spec.handler == kb_save.name:
        return kb_save, {
            CAUSE: _plain(cause),
            "action": spec.name,
            "category": asked.text("category", str(spec.fixed.get("category", "structure"))),
            "key": asked.text("key", spec.name),
            "value": asked.text("value") or short(dict(values)),
            "source": asked.text("source"),
        }
    if spec.handler == file_write.name:
        return file_write, {
            "action": spec.name,
            "path": asked.text("path", str(spec.fixed.get("path", ""))),
            "content": asked.text("content") or short(dict(values), 10_000),
        }
    if spec.operation is None or not spec.operation.leaves_receipt:
        return None
    args = _known(asked)
    if CAUSE in spec.operation.arguments.model_fields:
        args[CAUSE] = _plain(cause)
    return spec.operation, args


def _known(asked: _Asked) -> dict[str, Json]:
    """Return the values an action takes; what nobody asked for is left out."""
    names = asked.spec.schema["properties"]
    return {name: asked.values[name] for name in names if asked.values.get(name) is not None}


def _plain(cause: Cause) -> dict[str, Json]:
    return {
        "once": cause.once,
        "run_id": cause.run_id,
        "session_id": cause.session_id,
        "mode": cause.mode,
    }


async def _prompt(asked: _Asked) -> Done:
    """Ask the Foreman's model with a prompt of a project's own."""
    spec = asked.spec
    prompt = str(spec.fixed.get("prompt", spec.name))
    inputs: dict[str, Any] = {
        name: Content(str(value), f"action:{spec.name}", Trust.UNTRUSTED)
        for name, value in asked.values.items()
    }
    reply = await asked.stage.ask(f"{asked.key}/ask", FOREMAN, prompt=prompt, **inputs)
    return Done(reply.text, {"prompt_id": reply.prompt_id})


def _executed(
    spec: ActionSpec, done: Done, duration_ms: int, *, is_news: bool = False
) -> ActionResult:
    return ActionResult(
        type=spec.name,
        status=Status.EXECUTED,
        detail=done.detail,
        data=done.data,
        duration_ms=duration_ms,
        is_informational=is_news or spec.is_informational,
        job=done.job,
        notices=done.notices,
    )


def _failed(
    spec: ActionSpec, error: CallboardError | ErrorRecord, duration_ms: int
) -> ActionResult:
    told = f"{error.message} {error.fix}" if error.fix else error.message
    return ActionResult(spec.name, Status.FAILED, told, dict(error.context), duration_ms)


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
