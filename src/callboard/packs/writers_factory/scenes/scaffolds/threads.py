"""Threads of the graph: what earlier scenes planted and nobody paid off, and what is to come."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from callboard.knowledge import Edge, Graph, Node
from callboard.library.story.contradiction import find_point
from callboard.packs.writers_factory.manuscript import parse_scene_id
from callboard.packs.writers_factory.memory.scenery import beat_node_id
from callboard.packs.writers_factory.scenes.scaffolds.derivation import people_named
from callboard.packs.writers_factory.scenes.scaffolds.scaffold import (
    BeatNote,
    Person,
    SceneThread,
    TiedThread,
)

PLANTS, PAYS_OFF = "plants", "pays_off"
_SCENE: Final = "scene:"
_NAME_CHARS: Final = 160
_SCENE_WORDS: Final = re.compile(
    r"\bch(?:apter)?[\s._-]*\d{1,4}(?:[\s,._-]*sc(?:ene)?[\s._-]*\d+)?", re.IGNORECASE
)
_Place = tuple[int, int]


class Threads:
    """The threads of a story, as one scene sees them."""

    def __init__(self, graph: Graph, people: Sequence[Person], here: _Place) -> None:
        """Take the graph, who is in it, and where the scene stands."""
        self._graph = graph
        self._people = tuple(people)
        self._ids = frozenset(person.id for person in people)
        self._here = here

    def owed(self, continuity: Iterable[Any], paid_names: Iterable[str]) -> tuple[TiedThread, ...]:
        """Return what is planted before the scene and not paid off, the oldest first.

        `continuity` are remembered facts (key, value); what says no scene stands last.
        """
        paid = {edge.dst for edge in self._graph.edges(type=PAYS_OFF)}
        found: dict[str, tuple[_Place, TiedThread]] = {}
        for edge in self._graph.edges(type=PLANTS):
            place, node = place_of(edge.src), self._graph.node(edge.dst)
            if place is None or place >= self._here or node is None or node.id in paid:
                continue
            thread = SceneThread(node.id, node.name, edge.src.removeprefix(_SCENE))
            tied = TiedThread(thread, self._ties(node, edge))
            if node.id not in found or place < found[node.id][0]:
                found[node.id] = (place, tied)
        settled = {name.casefold() for name in paid_names}
        told = [each for entry in continuity if (each := self._remembered(entry, settled))]
        return tuple(tied for _, tied in sorted([*found.values(), *told], key=lambda each: each[0]))

    def coming(self, beats: Sequence[BeatNote], here: int) -> tuple[TiedThread, ...]:
        """Return the events after the scene that nothing prepares, the nearest first.

        Beats in which somebody is named stand behind the events the graph knows.
        """
        planted = {edge.dst for edge in self._graph.edges(type=PLANTS)}
        found: list[tuple[tuple[bool, float], TiedThread]] = []
        for node in self._graph.nodes("event"):
            at = self._when(node)
            if at is None or node.id in planted:
                continue
            beat, scene = at
            is_later = beat > here if beat is not None else _after(scene, self._here)
            if is_later:
                thread = SceneThread(node.id, node.name, scene or "", beat)
                found.append(((False, beat or here + 0.5), TiedThread(thread, self._ties(node))))
        for beat in beats:
            node_id = beat_node_id(beat.number)
            if beat.number <= here or not beat.content or node_id in planted:
                continue
            name = f"{beat.name}: {beat.content}"[:_NAME_CHARS]
            named = tuple(person.id for person in people_named([beat.content], self._people))
            thread = SceneThread(node_id, name, "", beat.number)
            found.append(((True, beat.number), TiedThread(thread, named)))
        return tuple(tied for _, tied in sorted(found, key=lambda each: each[0]))

    def _ties(self, node: Node, planted: Edge | None = None) -> tuple[str, ...]:
        """Return the people a thing concerns; if nobody says, those who saw it planted."""
        around = {edge.dst for edge in self._graph.edges(src=node.id)}
        around |= {edge.src for edge in self._graph.edges(dst=node.id)}
        tied = around & self._ids
        if not tied:
            tied = {person.id for person in people_named([node.name], self._people)}
        if not tied and planted is not None:
            there = self._graph.edges(dst=planted.src, type="present_in")
            tied = {edge.src for edge in there} & self._ids
        return tuple(sorted(tied))

    def _when(self, node: Node) -> tuple[int | None, str | None] | None:
        """Return the beat or the scene of an event; None if nothing says when it is."""
        for edge in self._graph.edges(src=node.id):
            if edge.type == "serves_beat":
                return beat_number_of(self._graph.node(edge.dst), edge.dst), None
            if edge.dst.startswith(_SCENE):
                return None, edge.dst.removeprefix(_SCENE)
        beat = node.attrs.get("beat_number")
        if isinstance(beat, int):
            return beat, None
        scene = str(node.attrs.get("scene") or node.attrs.get("since_scene") or "")
        return (None, scene) if parse_scene_id(scene) else None

    def _remembered(self, entry: Any, settled: set[str]) -> tuple[_Place, TiedThread] | None:
        value = " ".join(str(entry.value).split())[:_NAME_CHARS]
        if value.casefold() in settled:
            return None
        point = next((each for word in _scene_words(value) if (each := find_point(word))), None)
        place = point.first if point is not None else (1_000_000, 0)
        if point is not None and place >= self._here:
            return None
        people = people_named([value, str(entry.key).replace("_", " ")], self._people)
        scene = str(point) if point is not None and point.scene is not None else ""
        thread = SceneThread(f"kb:{entry.key}", value, scene)
        return place, TiedThread(thread, tuple(person.id for person in people))


def place_of(node_id: str) -> _Place | None:
    """Return where the scene a node stands for is."""
    return parse_scene_id(node_id.removeprefix(_SCENE)) if node_id.startswith(_SCENE) else None


def beat_number_of(node: Node | None, node_id: str) -> int | None:
    """Return which of the beats a node is."""
    told = node.attrs.get("number") if node is not None else None
    if isinstance(told, int):
        return told
    digits = "".join(each for each in node_id.partition(":")[2][:7] if each.isdigit())
    return int(digits) if digits else None


def _after(scene: str | None, here: _Place) -> bool:
    place = parse_scene_id(scene) if scene else None
    return place is not None and place > here


def _scene_words(text: str) -> list[str]:
    return _SCENE_WORDS.findall(text)
