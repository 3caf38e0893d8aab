"""The facts of the story as revision needs them: plain values, read once from the other rooms."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from callboard.packs.writers_factory.model import Finding, SceneMeta
from callboard.packs.writers_factory.prose import PatternSheet, base_sheet
from callboard.packs.writers_factory.revision.analysis.brief import JudgeGround, SceneBrief
from callboard.packs.writers_factory.revision.analysis.forbidden import (
    Correction,
    forbidden_facts,
)
from callboard.packs.writers_factory.revision.analysis.threads import Thread


@dataclass(frozen=True, slots=True)
class SceneText:
    """A scene with its text."""

    meta: SceneMeta
    text: str


@dataclass(frozen=True, slots=True)
class VoiceFacts:
    """The voice that was chosen; everything but the patterns is empty before that."""

    gold_text: str = ""
    excerpt: str = ""
    summary: str = ""
    pov: str | None = None
    patterns: PatternSheet = field(default_factory=base_sheet)
    # act ("1", "2a", "2b", "3") -> how the voice is to sound there
    evolution: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Planting:
    """Something the graph says a scene plants or pays off."""

    name: str
    scene_id: str
    is_payoff: bool = False


@dataclass(frozen=True, slots=True)
class SceneGround:
    """What is known about one scene beside its text and its front matter."""

    act: str = ""
    beat: str = ""
    goal: str = ""
    characters: str = ""


@dataclass(frozen=True, slots=True)
class StoryFacts:
    """Everything revision measures by."""

    title: str = ""
    author: str = ""
    project_id: str = ""
    voice: VoiceFacts = field(default_factory=VoiceFacts)
    corrections: tuple[Correction, ...] = ()
    rules: tuple[Correction, ...] = ()
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    scenes: Mapping[str, SceneGround] = field(default_factory=dict[str, SceneGround])
    plantings: tuple[Planting, ...] = ()
    conflicts: tuple[str, ...] = ()
    health: tuple[Finding, ...] = ()
    health_report: str = ""

    def aliases_of(self, name: str) -> tuple[str, ...]:
        """Return the other names something goes by."""
        return self.aliases.get(name.strip().casefold(), ())

    def ground_of(self, scene_id: str) -> SceneGround:
        """Return what is known about a scene."""
        return self.scenes.get(scene_id, SceneGround())

    def threads_of(self, meta: SceneMeta) -> tuple[Thread, ...]:
        """Return what a scene has to take up or to plant."""
        callbacks = [Thread(name, self.aliases_of(name)) for name in meta.callbacks]
        plants = [Thread(name, self.aliases_of(name), True) for name in meta.foreshadowing]
        return (*callbacks, *plants)

    def brief_of(self, meta: SceneMeta) -> SceneBrief:
        """Return what a scene is measured by."""
        ground, threads = self.ground_of(meta.scene_id), self.threads_of(meta)
        return SceneBrief(
            scene_id=meta.scene_id,
            patterns=self.voice.patterns,
            chapter=meta.chapter,
            pov=self.voice.pov,
            gold_text=self.voice.gold_text,
            threads=threads,
            forbidden=forbidden_facts(self.corrections),
            judge=JudgeGround(
                voice=self.voice.summary,
                gold_excerpt=self.voice.excerpt,
                evolution=self.voice.evolution.get(ground.act, ""),
                beat=ground.beat,
                goal=ground.goal,
                characters=ground.characters,
                world_rules="\n".join(f"- {rule.value}" for rule in self.rules),
                corrections="\n".join(f"- {each.value}" for each in self.corrections),
                threads="\n".join(f"- {each.kind}: {each.name}" for each in threads),
            ),
        )
