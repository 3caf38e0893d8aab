"""What `pack.yaml` names beside the doors: the loops as something that can be run."""

from collections.abc import Mapping
from typing import Any, cast

from callboard.choreography.loop import (
    Loop,
    LoopChoreography,
    LoopHouse,
    LoopRegistry,
    LoopSettings,
    LoopShelf,
)
from callboard.core.canonical import Json
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
        """Add who is awake to what a run is to be started with."""
        usual = awake_in(foundry_of(studio), self._definition)
        named: Any = raw.get("awake") or []
        given = named.split(",") if isinstance(named, str) else list(named)
        everybody = list(dict.fromkeys((*usual, *(str(each).strip() for each in given))))
        return await super().prepare(studio, {**raw, "awake": [each for each in everybody if each]})


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
