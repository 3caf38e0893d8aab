"""Pairs: which further scenes are worth laying side by side, and what names a pair in a cache."""

from collections.abc import Collection, Mapping
from itertools import combinations

from callboard.packs.writers_factory.health.timeline.facts import SceneFacts
from callboard.packs.writers_factory.health.timeline.travel import place_key
from callboard.packs.writers_factory.health.view import ManuscriptView, SceneView, is_in_scene

Pair = tuple[str, str]


def further_pairs(
    view: ManuscriptView,
    facts: Mapping[str, SceneFacts],
    inside: Collection[str],
    most: int,
    taken: Collection[Pair] = (),
) -> tuple[Pair, ...]:
    """Return pairs of scenes that share most, one of them in scope; near ones before far ones."""
    shared = {scene.scene_id: _entities(view, scene, facts) for scene in view.scenes}
    ranked: list[tuple[int, int, int, Pair]] = []
    for (at, one), (to, other) in combinations(enumerate(view.scenes), 2):
        pair = (one.scene_id, other.scene_id)
        if pair in taken or not (one.scene_id in inside or other.scene_id in inside):
            continue
        common = len(shared[one.scene_id] & shared[other.scene_id])
        if common:
            ranked.append((-common, to - at, at, pair))
    return tuple(pair for *_, pair in sorted(ranked)[:most])


def _entities(
    view: ManuscriptView, scene: SceneView, facts: Mapping[str, SceneFacts]
) -> frozenset[str]:
    people = {each.name for each in view.characters if is_in_scene(each, scene)}
    told = facts.get(scene.scene_id)
    things = {place_key(each.thing) for each in (told.things if told else ())}
    places = {place_key(scene.location)} if scene.location else set[str]()
    return frozenset(people | things | places)
