"""A book whose voice and scenes are set by the test, and the modes that look at it."""

from dataclasses import dataclass, field, replace
from typing import Any

from bible_samples import PROTAGONIST, RULES, THEME, beat_sheet

from callboard.packs.writers_factory.bible import Bible
from callboard.packs.writers_factory.model import PlannedScene, SceneMeta, SceneStatus
from callboard.packs.writers_factory.modes import Modes, Neighbours
from callboard.packs.writers_factory.voice import VoiceStatus
from callboard.packs.writers_factory.workspace import Workspace


@dataclass
class Book:
    """What the gates look at beside the Story Bible, and what was asked of other rooms."""

    voice: VoiceStatus = field(default_factory=VoiceStatus)
    outline: tuple[PlannedScene, ...] = ()
    scenes: tuple[SceneMeta, ...] = ()
    remembered: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    effects: list[str] = field(default_factory=list[str])

    def lock_voice(self) -> None:
        self.voice = VoiceStatus(
            test_passage="A passage",
            tournament_id="tour-1",
            winner="variant-3",
            bundle_ready=True,
            locked=True,
        )

    def plan(self) -> None:
        self.outline = tuple(
            PlannedScene(1, number, f"Scene {number}", number) for number in range(1, 16)
        )
        self.scenes = tuple(
            SceneMeta(scene.id, 1, scene.scene, beat_number=scene.beat_number)
            for scene in self.outline
        )

    def draft(self, count: int, status: SceneStatus = SceneStatus.DRAFTED) -> None:
        done = (replace(scene, status=status) for scene in self.scenes[:count])
        self.scenes = (*done, *self.scenes[count:])

    async def remember(self, *told: str) -> None:
        self.remembered.append(told)

    def modes(self, studio: Any) -> Modes:
        workspace = Workspace(studio)

        async def freeze() -> None:
            self.effects.append("freeze_first_draft")

        return Modes(
            workspace,
            Bible(workspace),
            Neighbours(
                voice=lambda: self.voice,
                outline=lambda: self.outline,
                scenes=lambda: self.scenes,
                remember=self.remember,
                effects={"freeze_first_draft": freeze},
            ),
        )


async def found(studio: Any, *, rules: int = 3) -> Bible:
    """Lay the foundation of a book, with some of its rules."""
    bible = Bible(Workspace(studio))
    await bible.write("protagonist", PROTAGONIST, source="writer_stated")
    await bible.write("beat_sheet", beat_sheet(), source="brainstorm")
    await bible.write("theme", THEME, source="writer_stated")
    await bible.write("world_rules", {"rules": RULES[:rules]}, source="writer_stated")
    return bible
