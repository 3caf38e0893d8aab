"""Gathering: reads from the other rooms what revision measures by, and makes plain values of it.

A room that has nothing to say yet leaves its facts empty; nothing here fails for want of a bundle,
a graph or a report.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from callboard.knowledge.graph import Graph
from callboard.packs.writers_factory.bible import Bible, act_at
from callboard.packs.writers_factory.health import Health
from callboard.packs.writers_factory.manuscript import WRITTEN, Manuscript
from callboard.packs.writers_factory.memory.recall import Memory
from callboard.packs.writers_factory.model import SceneMeta
from callboard.packs.writers_factory.prose import base_sheet
from callboard.packs.writers_factory.revision.analysis.forbidden import Correction
from callboard.packs.writers_factory.revision.facts import (
    Planting,
    SceneGround,
    StoryFacts,
    VoiceFacts,
)
from callboard.packs.writers_factory.voice import Phase, Voice, VoiceBundle

_CORRECTION: Final = "correction"
_PLANTS: Final = "plants"
_PAYS_OFF: Final = "pays_off"
_SCENE_PREFIX: Final = "scene:"
_ARC_FIELDS: Final = ("fatal_flaw", "the_lie", "arc_start", "arc_midpoint", "arc_resolution")


@dataclass(frozen=True)
class Rooms:
    """What revision reads from."""

    bible: Bible
    manuscript: Manuscript
    memory: Memory
    voice: Voice
    health: Health
    conflicts: Callable[[], Iterable[str]]


def gather_story(rooms: Rooms) -> StoryFacts:
    """Return the facts of the story as they are now."""
    project = rooms.bible.project()
    graph, report = rooms.memory.graph, rooms.health.latest()
    return StoryFacts(
        title=project.title,
        author=str(getattr(project, "author", "")),
        project_id=project.id,
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


def _grounds(rooms: Rooms, graph: Graph) -> dict[str, SceneGround]:
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
