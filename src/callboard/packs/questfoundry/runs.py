"""Runs beside single loops: several in a row, which comes next, and one role asked directly."""

from collections.abc import Mapping
from functools import partial
from typing import Any, cast

from callboard.choreography import Stage, choreography
from callboard.choreography.definition import StagedFunction
from callboard.choreography.loop import (
    LoopRequest,
    StoredArtifact,
    ask_alone,
    decide_next_loop,
    play_chain,
)
from callboard.choreography.loop.house import DecisionPolicy
from callboard.choreography.staffing import find_agent
from callboard.core.canonical import Json
from callboard.packs.questfoundry.artifacts import catalog
from callboard.packs.questfoundry.foundry import PACK, Foundry, foundry_of
from callboard.packs.questfoundry.pack import (
    awake_in,
    bring,
    is_small,
    require_inputs,
    require_models,
    roles_named,
)
from callboard.studio.runnable import Prepared
from callboard.studio.studio import Studio


class QuestChain(StagedFunction):
    """Loops in a row, of which the first is held to what it needs before a run is there."""

    async def prepare(self, studio: Studio, raw: Mapping[str, Json]) -> Prepared:
        """Refuse a first loop as it is refused alone: for its models, roles and inputs."""
        prepared = await super().prepare(studio, raw)
        foundry = foundry_of(studio)
        loop = foundry.registry.get(str(prepared.args["first"]))
        require_models(studio, loop)
        roles_named(foundry, prepared.args.get("awake", ""))
        require_inputs(foundry, loop, LoopRequest(loop=loop.id))
        return prepared


@QuestChain
async def chain(
    stage: Stage,
    first: str,
    most: int = 0,
    awake: str = "",
    brief: str = "",
    policy: str = "",
    is_interactive: bool = True,
) -> Json:
    """Play loops one after the other, as far as each hands its work on."""
    foundry = foundry_of(stage.studio)
    request = LoopRequest(
        loop=first,
        awake=roles_named(foundry, awake),
        brief=brief,
        policy=policy,
        is_interactive=is_interactive,
    )
    wakes = partial(awake_in, foundry)
    results = await play_chain(stage, bring, first, request, most or None, wakes)
    return {"loops": [each.to_json() for each in results]}


def inventory(foundry: Foundry) -> list[StoredArtifact]:
    """Return the newest artifact of each kind; a snapshot without a section is none to bind."""
    tip = foundry.cold.tip()
    is_empty = tip is None or "topology_notes" not in tip.files
    kinds = [each for each in catalog.shapes() if each != "cold_snapshot" or not is_empty]
    found = [foundry.shelf.newest(kind) for kind in kinds]
    return [each.stored() for each in found if each is not None]


@choreography
async def next_loop(stage: Stage, policy: str = "") -> Json:
    """Say which loop should come next, and why."""
    foundry = foundry_of(stage.studio)
    await foundry.begun()
    house = bring(stage.studio)
    there: Any = await stage.step(
        "inventory", lambda: [(each.kind, each.version, each.note) for each in inventory(foundry)]
    )
    rows = [StoredArtifact(kind, "", "", version=number, note=note) for kind, number, note in there]
    showrunner = find_agent(stage.studio, house.cast.showrunner, PACK)
    # A small model picks among thirteen loops by chance.
    usual = "playbook" if is_small(stage.studio, showrunner) else house.settings.policy
    who = cast("DecisionPolicy", policy or usual)
    chosen = await decide_next_loop(stage, house, None, rows, who)
    if chosen is None:
        return {"suggested_loop": None, "reasoning": ["no loop has what it needs"]}
    return chosen.answer.model_dump(mode="json") | {"fallback": chosen.is_fallback}


@choreography
async def ask_role(stage: Stage, role: str, message: str, kinds: str = "") -> Json:
    """Ask one role directly; what it makes is kept as a draft."""
    foundry = foundry_of(stage.studio)
    roles_named(foundry, [role])
    wanted = tuple(each.strip() for each in kinds.split(",") if each.strip())
    said = await ask_alone(stage, bring(stage.studio), role, message, wanted)
    errors = () if said.response is None else said.response.errors
    return {
        "text": said.text,
        "artifacts": [each.id for each in said.artifacts],
        "errors": [f"{each.path}: {each.message}" for each in errors],
    }
