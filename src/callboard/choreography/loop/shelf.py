"""Every loop in force is a choreography, found when it is asked for; a run keeps its own copy.

A loop that ends failed is a failed run, so that it can be retried from the step that failed it; one
that stalls is done, and says so.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final, cast

from callboard.choreography.loop.definition import Loop
from callboard.choreography.loop.driver import LoopDriver
from callboard.choreography.loop.house import POLICIES, BringLoops
from callboard.choreography.loop.ports import LoopRequest
from callboard.choreography.loop.registry import LoopRegistry
from callboard.choreography.loop.result import LoopResult
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json, compact_json
from callboard.core.errors import CallboardError, InvalidInput
from callboard.core.vocabulary import RunRecord, StepState
from callboard.engine.run import Run
from callboard.store.journal.steps import load_journal
from callboard.studio.runnable import Choreography, Prepared
from callboard.studio.studio import Studio

_DEFINITION: Final = "definition"
_PARAMETERS: Final = {
    "inputs": "artifacts by kind, each the id of one; default: the newest of each kind",
    "unit": "str, the unit of work to go on with; default: a new one",
    "upstream": "list of units it builds on",
    "awake": "list of optional roles that are awake",
    "brief": "str, what is wanted, in your words",
    "title": "str",
    "is_interactive": "bool, default True: the human is asked; False takes what is safe",
    "policy": f"{' or '.join(POLICIES)}; default: what the settings say",
}


class LoopFailed(CallboardError):
    """A loop ended with an error."""

    code = "loop_failed"


class LoopShelf:
    """The loops of one pack."""

    def __init__(self, registry: LoopRegistry, bring: BringLoops) -> None:
        """Take the loops in force and what they are played with."""
        self._registry = registry
        self._bring = bring

    def names(self) -> tuple[str, ...]:
        """Return the ids of the loops in force."""
        return self._registry.names()

    def find(self, name: str) -> Choreography | None:
        """Return a loop as something that can be run."""
        if name not in self._registry.names():
            return None
        return LoopChoreography(self._registry.get(name), self._bring)

    def resume(self, name: str) -> Choreography | None:
        """Return what goes on with runs of a loop; they need nothing but their own copy."""
        return LoopChoreography(None, self._bring)


class LoopChoreography:
    """One loop as a choreography."""

    def __init__(self, loop: Loop | None, bring: BringLoops) -> None:
        """Take the loop in force; without one, only runs already started can go on."""
        self._loop = loop
        self._bring = bring

    @property
    def summary(self) -> str:
        """What it does, in a few words."""
        return self._loop.purpose if self._loop is not None else ""

    @property
    def parameters(self) -> Mapping[str, str]:
        """What a run may be started with."""
        return _PARAMETERS

    async def prepare(self, studio: Studio, raw: Mapping[str, Json]) -> Prepared:
        """Check what a run is to be started with; nothing is looked up yet."""
        if self._loop is None:
            raise InvalidInput("This loop is not there any more; only its runs can go on")
        request = read_request(self._loop.id, raw)
        told = {name: each for name, each in asdict(request).items() if name in _PARAMETERS}
        args: dict[str, Json] = json.loads(compact_json(told))
        args[_DEFINITION] = self._loop.model_dump(mode="json")
        return Prepared(args, title=request.title or self._loop.name)

    async def perform(self, studio: Studio, run: Run) -> Json:
        """Play one run of it."""
        args = dict(run.args)
        loop = Loop.model_validate(args.pop(_DEFINITION))
        result = await play_loop(Stage(studio, run), self._bring, loop, args)
        if result.failed:
            raise LoopFailed(
                result.error,
                fix="`callboard runs retry` goes on from the step that failed.",
                step=result.restart,
                loop=result.loop,
                unit=result.unit,
                reason=result.error_code,
            )
        return result.to_json()

    def restart_key(self, studio: Studio, run: RunRecord, from_step: str | None) -> str | None:
        """Return from where a run is begun again: what was decided after a failure is void."""
        if from_step is not None:
            return from_step
        if run.error is not None and run.error.context.get("step"):
            return str(run.error.context["step"])
        journal = studio.database.read(lambda connection: load_journal(connection, run))
        failed = [step for step in journal.values() if step.state is StepState.FAILED]
        return min(failed, key=lambda step: step.seq).key if failed else None

    def guard(self, _studio: Studio, _run: RunRecord) -> None:
        """Let a retry begin whatever else runs: one writer per unit is the pack's to see to."""
        return


def read_request(loop: str, raw: Mapping[str, Json]) -> LoopRequest:
    """Read what a run is started with; what is unknown or unusable is refused by name."""
    unknown = sorted(raw.keys() - _PARAMETERS.keys())
    policy = raw.get("policy") or ""
    inputs: Any = raw.get("inputs") or {}
    told = [f"unknown: {', '.join(unknown)}"] if unknown else []
    told += [f"policy is {policy!r}"] if policy and policy not in POLICIES else []
    told += ["inputs must be ids by kind"] if not isinstance(inputs, dict) else []
    if told:
        takes = ", ".join(f"{name} ({kind})" for name, kind in _PARAMETERS.items())
        raise InvalidInput(f"{loop} cannot start: {'; '.join(told)}", fix=f"It takes: {takes}.")
    unit = raw.get("unit")
    return LoopRequest(
        loop=loop,
        inputs={str(kind): str(each) for kind, each in cast("dict[Any, Any]", inputs).items()},
        unit=None if unit in (None, "") else str(unit),
        upstream=_names(raw.get("upstream")),
        awake=_names(raw.get("awake")),
        brief=str(raw.get("brief") or ""),
        title=str(raw.get("title") or ""),
        policy=str(policy),
        is_interactive=raw.get("is_interactive") in (None, True, "true", "yes"),
    )


async def play_loop(
    stage: Stage, bring: BringLoops, loop: Loop, args: Mapping[str, Json]
) -> LoopResult:
    """Play a loop on a stage; whatever goes wrong inside is told in the result."""
    request = read_request(loop.id, args)
    return await LoopDriver(stage, bring(stage.studio), loop, request).perform()


def _names(raw: Json) -> tuple[str, ...]:
    listed = raw.split(",") if isinstance(raw, str) else cast("list[Any]", raw or [])
    return tuple(str(each).strip() for each in listed if str(each).strip())
