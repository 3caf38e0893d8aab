"""What revision needs to know of the book, and how it is gathered from the rooms that know it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from callboard.knowledge.graph import Graph
from callboard.packs.writers_factory.bible import Bible, act_at
from callboard.packs.writers_factory.health import Health
from callboard.packs.writers_factory.manuscript import WRITTEN, Manuscript
from callboard.packs.writers_factory.memory.ledger import ConflictLedger
from callboard.packs.writers_factory.memory.recall import Memory
from callboard.packs.writers_factory.model import Finding, SceneMeta
from callboard.packs.writers_factory.prose import PatternSheet, base_sheet
from callboard.packs.writers_factory.revision.analysis.brief import JudgeGround, SceneBrief, Thread
from callboard.packs.writers_factory.revision.analysis.forbidden import (
    Correction,
    forbidden_facts,
)
from callboard.packs.writers_factory.voice import Phase, Voice, VoiceBundle
from callboard.packs.writers_factory.workspace import Workspace


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
        workspace, threads = self.ground_of(meta.scene_id), self.threads_of(meta)
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
                evolution=self.voice.evolution.get(workspace.act, ""),
                beat=workspace.beat,
                goal=workspace.goal,
                characters=workspace.characters,
                world_rules="\n".join(f"- {rule.value}" for rule in self.rules),
                corrections="\n".join(f"- {each.value}" for each in self.corrections),
                threads="\n".join(f"- {each.kind}: {each.name}" for each in threads),
            ),
        )


_CORRECTION: Final = "correction"
_PLANTS: Final = "plants"
_PAYS_OFF: Final = "pays_off"
_SCENE_PREFIX: Final = "scene:"
_ARC_FIELDS: Final = ("fatal_flaw", "the_lie", "arc_start", "arc_midpoint", "arc_resolution")


@dataclass(frozen=True)
class RevisionSources:
    """What revision reads from."""

    bible: Bible
    manuscript: Manuscript
    memory: Memory
    voice: Voice
    health: Health
    conflicts: Callable[[], Iterable[str]]


def gather_story(rooms: RevisionSources) -> StoryFacts:
    """Return the facts of the story as they are now."""
    graph, report = rooms.memory.graph, rooms.health.latest()
    return StoryFacts(
        voice=_voice(rooms.voice.bundle()),
        corrections=tuple(
            Correction(entry.key, entry.value) for entry in rooms.memory.decisions(_CORRECTION)
        ),
        rules=tuple(
            Correction(f"rule {number}", rule)
            for number, rule in enumerate(rooms.bible.rules, start=1)
        ),
        aliases=_aliases(graph),
        scenes=_grounds(rooms, graph),
        plantings=_plantings(graph),
        conflicts=tuple(rooms.conflicts()),
        health=tuple(each.finding for each in rooms.health.findings() if each.is_alert),
        health_report=report.id if report else "",
    )


def _voice(bundle: VoiceBundle | None) -> VoiceFacts:
    if bundle is None:
        return VoiceFacts()
    return VoiceFacts(
        gold_text=bundle.passage,
        excerpt=bundle.gold_excerpt,
        summary=bundle.summary,
        pov=bundle.pov or None,
        patterns=bundle.patterns if bundle.patterns.patterns else base_sheet(),
        evolution={act: _told(phase) for act, phase in bundle.evolution.items()},
    )


def _told(phase: Phase) -> str:
    domains = ", ".join(phase.metaphor_domains)
    parts = [
        phase.voice_state,
        phase.sentence_rhythm,
        f"images from {domains}" if domains else "",
        f"can admit: {phase.can_admit}" if phase.can_admit else "",
    ]
    return "; ".join(part for part in parts if part)


def _aliases(graph: Graph) -> dict[str, tuple[str, ...]]:
    return {node.name.casefold(): tuple(node.aliases) for node in graph.nodes() if node.aliases}


def _plantings(graph: Graph) -> tuple[Planting, ...]:
    found: list[Planting] = []
    for kind in (_PLANTS, _PAYS_OFF):
        for edge in graph.edges(type=kind):
            node = graph.node(edge.dst)
            if node is not None and edge.src.startswith(_SCENE_PREFIX):
                scene = edge.src.removeprefix(_SCENE_PREFIX)
                found.append(Planting(node.name, scene, kind == _PAYS_OFF))
    return tuple(found)


def _grounds(rooms: RevisionSources, graph: Graph) -> dict[str, SceneGround]:
    beats = {beat.number: beat for beat in rooms.bible.beats()}
    planned = {scene.id: scene for scene in rooms.manuscript.outline()}
    hero = _hero(rooms.bible.protagonist)
    grounds: dict[str, SceneGround] = {}
    total, usual = rooms.manuscript.planned_words(), rooms.manuscript.usual_scene_words()
    before = 0
    for meta in rooms.manuscript.scenes():
        place = min(100.0, 100 * before / max(1, total))
        target = planned[meta.scene_id].word_target if meta.scene_id in planned else None
        before += meta.word_count if meta.status in WRITTEN else (target or usual)
        beat = beats.get(meta.beat_number) if meta.beat_number is not None else None
        grounds[meta.scene_id] = SceneGround(
            act=beat.point.act if beat else act_at(place),
            beat=f"{beat.point.title}: {beat.content}" if beat else "",
            goal=planned[meta.scene_id].summary if meta.scene_id in planned else "",
            characters="\n".join([*hero, *_cast(meta, graph)]),
        )
    return grounds


def _hero(fields: Mapping[str, Any]) -> list[str]:
    name = str(fields.get("name") or "The protagonist")
    told = [f"{key.replace('_', ' ')}: {fields[key]}" for key in _ARC_FIELDS if fields.get(key)]
    return [f"{name}: {'; '.join(told)}"] if told else []


def _cast(meta: SceneMeta, graph: Graph) -> list[str]:
    lines: list[str] = []
    for name in meta.characters:
        node = graph.find(name, "character")
        told = "; ".join(f"{key}: {value}" for key, value in node.attrs.items()) if node else ""
        lines.append(f"{name}: {told}" if told else name)
    return lines


def open_rooms(workspace: Workspace) -> RevisionSources:
    """Return the rooms of a project."""
    ledger = ConflictLedger(workspace.records)
    return RevisionSources(
        bible=Bible(workspace),
        manuscript=Manuscript(workspace),
        memory=Memory(workspace),
        voice=Voice(workspace),
        health=Health(workspace),
        conflicts=lambda: [each.told for each in ledger.all(only_open=True)],
    )
