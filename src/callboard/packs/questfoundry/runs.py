"""Runs beside single loops: several in a row, which comes next, and one role asked directly."""

from functools import partial
from typing import Any, cast

from callboard.choreography import Stage, choreography
from callboard.choreography.loop import (
    LoopRequest,
    StoredArtifact,
    ask_alone,
    decide_next_loop,
    play_chain,
)
from callboard.choreography.loop.house import DecisionPolicy
from callboard.core.canonical import Json
from callboard.packs.questfoundry.artifacts import catalog
from callboard.packs.questfoundry.foundry import Foundry, foundry_of
from callboard.packs.questfoundry.pack import awake_in, bring, require_models, roles_named


@choreography
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
    require_models(stage.studio, foundry.registry.get(first))
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
    chosen = await decide_next_loop(
        stage, house, None, rows, cast("DecisionPolicy", policy or house.settings.policy)
    )
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
