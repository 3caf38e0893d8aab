"""What `pack.yaml` names beside the doors: the loops as something that can be run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from callboard.choreography.loop import (
    Loop,
    LoopChoreography,
    LoopHouse,
    LoopRegistry,
    LoopRequest,
    LoopSettings,
    LoopShelf,
    read_request,
    require_entries,
)
from callboard.choreography.staffing import find_agent, tier_of
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError, Fault, InvalidInput, NotFound
from callboard.core.vocabulary import Agent, ModelTier
from callboard.packs.questfoundry.foundry import PACK, Foundry, foundry_of, read_registry
from callboard.packs.questfoundry.steps.checks import QuestChecks
from callboard.packs.questfoundry.workspace import QuestWorkspace
from callboard.studio.runnable import Choreography, Prepared
from callboard.studio.studio import Studio


def bring(studio: Studio) -> LoopHouse:
    """Return everything that loops of a book are played with."""
    foundry = foundry_of(studio)
    return LoopHouse(
        PACK,
        foundry.registry,
        QuestWorkspace(foundry),
        foundry.cast,
        QuestChecks(foundry),
        LoopSettings(policy=foundry.settings.showrunner.policy),
    )


class ModelTooSmall(CallboardError):
    """A loop that would ask a small model for more than it can give."""

    code = "model_too_small"
    fault = Fault.STATE


def require_models(studio: Studio, loop: Loop) -> None:
    """Refuse a loop that asks small models for whole artifacts, before anything is asked.

    What a small model can do is picked from lists; a loop's artifacts are free in every field.
    """
    foundry = foundry_of(studio)
    sleepers = {each.id for each in foundry.cast.roster() if each.may_sleep}
    asked = [step for step in loop.steps if step.code is None and set(step.roles) - sleepers]
    roles = dict.fromkeys(role for step in asked for role in step.roles if role not in sleepers)
    agents = [find_agent(studio, foundry.cast.override("", role), PACK) for role in roles]
    for model in dict.fromkeys(each.model or studio.settings.models.default for each in agents):
        provider, _, path = model.partition(":")
        is_file = provider == "script" and Path(path).suffix in (".yaml", ".yml", ".json")
        if is_file and not Path(path).is_file():
            raise NotFound(f"There is no script file {path}", fix="Name one that exists: --model.")
    small = [each for each in agents if is_small(studio, each)]
    if not small:
        return
    model = small[0].model or studio.settings.models.default
    by_code = [step.id for step in loop.steps if step.code is not None]
    raise ModelTooSmall(
        f"{loop.name} asks {', '.join(each.id for each in small)} for whole artifacts in"
        f" {len(asked)} of its {len(loop.steps)} steps, and {model} is too small for that;"
        f" nothing was asked. Without a model go: {', '.join(by_code) or 'none of its steps'}",
        fix=f"Name a larger model with --model. {_INSTEAD.get(loop.id, _INSTEAD[''])} To try"
        " it all the same, set roles.try_small_models in .callboard/questfoundry.yaml.",
        loop=loop.id,
        model=model,
    )


_INSTEAD: Final = {
    "gatecheck": "`callboard quest gate --code` judges and merges by code alone.",
    "binding_run": "`callboard quest bind --code` builds the files by code alone.",
    "": "`callboard quest demo` has a small model make a whole book by picking from lists;"
    " `import`, `gate --code`, `bind --code` and `play` ask no model.",
}


def is_small(studio: Studio, agent: Agent) -> bool:
    """Say whether an agent's model is too small for what nobody narrows to a list."""
    is_tried = foundry_of(studio).settings.roles.try_small_models
    return not is_tried and tier_of(studio, agent) is ModelTier.MINIMAL


def require_inputs(foundry: Foundry, loop: Loop, request: LoopRequest) -> None:
    """Refuse a loop that lacks what somebody else has to make, before a unit is opened for it."""
    held = QuestWorkspace(foundry).entries(loop, request)
    # A book that has not begun gets these two when it does.
    founded = () if foundry.plan else ("style_guide", "cold_snapshot")
    require_entries(loop, {*held, *founded}, foundry.registry)


def roles_named(foundry: Foundry, raw: Any) -> tuple[str, ...]:
    """Return the roles that somebody names, in a list or between commas; nobody's is refused."""
    rows: list[Any] = raw.split(",") if isinstance(raw, str) else list(raw or ())
    named = tuple(told for each in rows if (told := str(each).strip()))
    known = [each.id for each in foundry.cast.roster()]
    for each in named:
        if each not in known:
            raise InvalidInput(f"There is no role {each!r}", fix=f"Roles: {', '.join(known)}.")
    return named


def awake_in(foundry: Foundry, loop: Loop) -> tuple[str, ...]:
    """Return the optional roles that are awake in a loop as it, the project and its plan say."""
    plan = foundry.plan
    wakes = cast("list[str]", loop.options.get("wakes", []))
    usual = (*wakes, *foundry.settings.roles.awake_optional, *(plan.awake if plan else ()))
    return tuple(dict.fromkeys(usual))


class QuestLoop(LoopChoreography):
    """A loop whose optional roles are awake as the project, its plan and the loop say."""

    def __init__(self, loop: Loop) -> None:
        """Take the loop."""
        super().__init__(loop, bring)
        self._definition = loop

    async def prepare(self, studio: Studio, raw: Mapping[str, Json]) -> Prepared:
        """Add who is awake to what a run is started with; what it lacks is told before it is."""
        loop, foundry = self._definition, foundry_of(studio)
        require_models(studio, loop)
        given = roles_named(foundry, raw.get("awake"))
        everybody = list(dict.fromkeys((*awake_in(foundry, loop), *given)))
        asked: dict[str, Json] = {**raw, "awake": cast("Json", everybody)}
        prepared = await super().prepare(studio, asked)
        if not raw.get("unit"):
            require_inputs(foundry, loop, read_request(loop.id, asked))
        return prepared


class QuestShelf(LoopShelf):
    """The loops of QuestFoundry and of the project."""

    def __init__(self, registry: LoopRegistry) -> None:
        """Take the loops in force."""
        super().__init__(registry, bring)
        self._loops = registry

    def find(self, name: str) -> Choreography | None:
        """Return a loop as something that can be run."""
        return QuestLoop(self._loops.get(name)) if name in self._loops.names() else None


def loops(studio: Studio | None) -> QuestShelf:
    """Open the shelf of loops for a studio; without one, what comes with the pack."""
    return QuestShelf(read_registry() if studio is None else foundry_of(studio).registry)
