"""The rooms a scene is made in: one place that knows the bible, the memory and the voice."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from callboard.knowledge import Edge, Graph, Node
from callboard.library.story.contradiction import ScenePoint, find_point, value_at
from callboard.packs.writers_factory.bible import Bible
from callboard.packs.writers_factory.manuscript import Manuscript
from callboard.packs.writers_factory.memory.recall import Memory
from callboard.packs.writers_factory.model import SceneMeta, scene_id
from callboard.packs.writers_factory.scenes.drafts import Drafts
from callboard.packs.writers_factory.scenes.scaffolds import (
    BeatNote,
    Person,
    SmartScaffold,
    StoryView,
)
from callboard.packs.writers_factory.scenes.scaffolds.derivation import beat_of
from callboard.packs.writers_factory.scenes.scaffolds.threads import Threads
from callboard.packs.writers_factory.workspace import Workspace

_EVERYTHING: Final = 200
_DEAD: Final = frozenset({"false", "no", "dead", "0", "deceased", "killed"})


@dataclass(frozen=True, slots=True)
class SceneWish:
    """Which scene a scaffold is wanted for, and what was found elsewhere about it."""

    chapter: int
    scene: int
    title: str = ""
    flaw_gap: int | None = None
    health_notes: tuple[str, ...] = ()
    research: tuple[str, ...] = ()


class SceneRooms:
    """What the choreographies of scenes work with."""

    def __init__(self, workspace: Workspace) -> None:
        """Take the project; rooms are opened when they are first entered."""
        self.workspace = workspace

    @cached_property
    def manuscript(self) -> Manuscript:
        """The outline and the scenes."""
        return Manuscript(self.workspace)

    @cached_property
    def desk(self) -> Drafts:
        """What is being worked on."""
        return Drafts(self.workspace, self.manuscript)

    @cached_property
    def bible(self) -> Bible:
        """The four templates."""
        return Bible(self.workspace)

    @cached_property
    def memory(self) -> Memory:
        """What was decided."""
        return Memory(self.workspace)

    @property
    def graph(self) -> Graph:
        """What is known for certain."""
        return self.memory.graph

    def beats(self) -> tuple[BeatNote, ...]:
        """Return the fifteen beats with what happens in them."""
        return tuple(
            BeatNote(
                beat.number,
                beat.name,
                beat.content,
                beat.midpoint_type or "",
                beat.point.low_pct,
                beat.point.high_pct,
            )
            for beat in self.bible.beats()
        )

    def people(self, chapter: int, scene: int) -> tuple[Person, ...]:
        """Return every character of the graph, and whether they live in a scene."""
        point = ScenePoint(chapter, scene)
        return tuple(
            Person(node.id, node.name, node.aliases, _lives(node, point))
            for node in self.graph.nodes("character")
        )

    def corrections(self) -> tuple[str, ...]:
        """Return what the writer put right."""
        return tuple(line.text for line in self.memory.corrections(_EVERYTHING))

    def preferences(self) -> tuple[str, ...]:
        """Return what the writer likes."""
        return tuple(line.text for line in self.memory.preferences(_EVERYTHING))

    def view(self, asked: SceneWish) -> StoryView:
        """Return the story as one scene sees it."""
        name = scene_id(asked.chapter, asked.scene)
        planned = self.manuscript.planned(name)
        people = self.people(asked.chapter, asked.scene)
        facts = self.bible.project()
        fields = self.bible.protagonist
        base = StoryView(
            chapter=asked.chapter,
            scene=asked.scene,
            title=asked.title or (planned.title if planned else ""),
            summary=planned.summary if planned else "",
            planned_beat=planned.beat_number if planned else None,
            position_pct=self._position(asked),
            word_target=self.manuscript.word_target(name),
            protagonist=facts.protagonist_name,
            flaw=_text(fields.get("fatal_flaw")),
            lie=_text(fields.get("the_lie")),
            people=people,
            locations=tuple(node.name for node in self.graph.nodes("location")),
            beats=self.beats(),
            rules=tuple(self.bible.rules),
            corrections=self.corrections(),
            previous_location=self._previous_location(asked),
            flaw_gap=asked.flaw_gap,
            health_notes=asked.health_notes,
            research=asked.research,
        )
        return self._threaded(base)

    def meta_of(self, scaffold: SmartScaffold) -> SceneMeta:
        """Return a scene's facts with what its scaffold says of it."""
        known = self.manuscript.scene(scaffold.scaffold_id)
        return replace(
            known,
            title=scaffold.title or known.title,
            characters=scaffold.people,
            location=scaffold.location,
            story_time=known.story_time or scaffold.time_of_day,
            beat_number=scaffold.beat_number,
            pov=scaffold.pov_character,
        )

    def _threaded(self, view: StoryView) -> StoryView:
        here = (view.chapter, view.scene)
        threads = Threads(self.graph, view.people, here)
        earlier = [m for m in self.manuscript.scenes() if (m.chapter, m.scene) < here]
        paid = [name for meta in earlier for name in meta.callbacks]
        continuity = self.memory.decisions("continuity")
        return replace(
            view,
            owed=threads.owed(continuity, paid),
            coming=threads.coming(view.beats, beat_of(view).number),
        )

    def _position(self, asked: SceneWish) -> float:
        """Return where the scene begins; one outside the outline by the scenes before it."""
        outline = self.manuscript.outline()
        if not outline:
            return self.manuscript.position(scene_id(asked.chapter, asked.scene))
        here = (asked.chapter, asked.scene)
        before = sum((each.chapter, each.scene) < here for each in outline)
        return 100 * before / len(outline)

    def _previous_location(self, asked: SceneWish) -> str:
        previous = self.manuscript.previous(scene_id(asked.chapter, asked.scene))
        return previous.location if previous else ""


def subgraph_lines(nodes: Sequence[Node], edges: Sequence[Edge], limit: int) -> tuple[str, ...]:
    """Return a part of the graph as short lines, the most relevant first."""
    names = {node.id: node.name for node in nodes}
    lines = [_node_line(node) for node in nodes]
    for edge in edges:
        if edge.src in names and edge.dst in names:
            kind = edge.type.replace("_", " ")
            lines.append(f"{names[edge.src]} {kind} {names[edge.dst]}")
    return tuple(lines[:limit])


def _node_line(node: Node) -> str:
    shown = {
        key: value
        for key, value in node.attrs.items()
        if isinstance(value, str | int | float) and str(value).strip() and key != "hash"
    }
    told = "; ".join(f"{key.replace('_', ' ')}: {value}" for key, value in shown.items())
    return f"{node.type.replace('_', ' ')} {node.name}" + (f" ({told})" if told else "")


def _lives(node: Node, point: ScenePoint) -> bool:
    for name in ("alive", "status", "life"):
        value = value_at(node.attrs, name, point)
        if value is not None and str(value).strip().casefold() in _DEAD:
            return False
    died = node.attrs.get("died_in") or node.attrs.get("death_scene")
    if died:
        when = find_point(died)
        return when is None or point.first <= when.last
    return True


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
