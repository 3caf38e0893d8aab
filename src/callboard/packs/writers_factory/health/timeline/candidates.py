"""Candidates: pairs of scenes that by rule cannot both be true.

A candidate is a suspicion with a quotation from each scene; a judge may still clear it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from callboard.packs.writers_factory.health.quotes import sentences_near
from callboard.packs.writers_factory.health.timeline.facts import (
    DEAD,
    FOUND,
    HELD,
    LOST,
    Placed,
    SceneFacts,
    is_proper_place,
)
from callboard.packs.writers_factory.health.timeline.statements import (
    StoryTime,
    is_before,
    is_same_time,
    most_hours_between,
    place_key,
    read_losses,
    read_time,
    read_travel_rule,
)
from callboard.packs.writers_factory.health.view import ManuscriptView, SceneView
from callboard.packs.writers_factory.model import Evidence

Facts = Mapping[str, SceneFacts]


@dataclass(frozen=True, slots=True)
class TimelineCandidate:
    """Two places in the text that contradict each other by a rule."""

    rule: str
    title: str
    fix: str
    first: Evidence
    second: Evidence
    entities: tuple[str, ...]
    # The writer's own words the text is held against; then one scene alone can be wrong.
    authority: str = ""
    # Whether it stands where no judge can be asked.
    is_certain: bool = True

    @property
    def pair(self) -> tuple[str, str]:
        """The scenes it is about."""
        return self.first.scene_id, self.second.scene_id


def find_candidates(view: ManuscriptView, facts: Facts) -> tuple[TimelineCandidate, ...]:
    """Return every suspicion the rules have, each once."""
    times = {scene.scene_id: read_time(_time_of(scene, facts)) for scene in view.scenes}
    whereabouts = _whereabouts(view, facts)
    found = [
        *_two_places(view, whereabouts, times),
        *_dead_acting(view, facts, times),
        *_lost_used(view, facts),
        *_lost_by_correction(view, facts),
        *_too_fast(view, whereabouts, times),
        *_effect_first(view, times),
    ]
    unique = {(each.rule, each.entities): each for each in reversed(found)}
    return tuple(reversed(unique.values()))


def is_elsewhere(view: ManuscriptView, first: str, second: str) -> bool:
    """Say whether two places are two, and neither lies in the other or both in a third."""
    one, other = place_key(first), place_key(second)
    if one == other or set(one.split()) <= set(other.split()):
        return False
    if set(other.split()) <= set(one.split()):
        return False
    return not ({one, *_around(view, one)} & {other, *_around(view, other)})


def _around(view: ManuscriptView, place: str) -> Iterator[str]:
    """Go through the places a place lies in."""
    held = {place_key(inner): place_key(outer) for inner, outer in view.within.items()}
    seen = {place}
    while (place := held.get(place, "")) and place not in seen:
        seen.add(place)
        yield place


def _time_of(scene: SceneView, facts: Facts) -> str:
    told = facts.get(scene.scene_id)
    return scene.story_time or (told.story_time if told else "")


def _whereabouts(view: ManuscriptView, facts: Facts) -> dict[str, list[tuple[SceneView, Placed]]]:
    found: dict[str, list[tuple[SceneView, Placed]]] = {}
    for scene in view.scenes:
        told = facts.get(scene.scene_id)
        for placed in told.places if told else ():
            if placed.quote:
                found.setdefault(placed.character, []).append((scene, placed))
    return found


def _two_places(
    view: ManuscriptView,
    whereabouts: Mapping[str, Sequence[tuple[SceneView, Placed]]],
    times: Mapping[str, StoryTime],
) -> Iterator[TimelineCandidate]:
    for character, stays in whereabouts.items():
        for (scene, here), (other, there) in combinations(stays, 2):
            first, second = times[scene.scene_id], times[other.scene_id]
            if scene is other or not is_same_time(first, second):
                continue
            if not is_elsewhere(view, here.place, there.place):
                continue
            yield TimelineCandidate(
                "two_places",
                f"{character} is in {here.place} in {scene.scene_id} and in {there.place} in"
                f" {other.scene_id} at the same time ({first.text})",
                f"Move one of the scenes to another time, or send somebody else to {there.place}.",
                Evidence(scene.scene_id, here.quote),
                Evidence(other.scene_id, there.quote),
                (character, scene.scene_id, other.scene_id),
                is_certain=is_proper_place(here.place, scene.text)
                and is_proper_place(there.place, other.text),
            )


def _dead_acting(
    view: ManuscriptView, facts: Facts, times: Mapping[str, StoryTime]
) -> Iterator[TimelineCandidate]:
    for name, died in _deaths(view, facts).items():
        for scene in view.scenes[view.positions[died.scene_id] + 1 :]:
            told = facts.get(scene.scene_id)
            act = next((a for a in (told.acts if told else ()) if a.character == name), None)
            if act is None or is_before(times[scene.scene_id], times[died.scene_id]):
                continue
            yield TimelineCandidate(
                "dead_acting",
                f"{name} dies in {died.scene_id} and acts in {scene.scene_id}",
                f"Give the deed in {scene.scene_id} to somebody who lives, or let {name} survive.",
                died,
                Evidence(scene.scene_id, act.quote),
                (name, died.scene_id),
            )
            break


def _deaths(view: ManuscriptView, facts: Facts) -> dict[str, Evidence]:
    """Return where everybody who dies does so first: told in a scene, or known to the graph."""
    found: dict[str, Evidence] = {}
    for scene in view.scenes:
        told = facts.get(scene.scene_id)
        for state in told.states if told else ():
            if state.state == DEAD and state.quote:
                found.setdefault(state.character, Evidence(scene.scene_id, state.quote))
    for death in view.deaths:
        scene = view.by_id.get(death.scene_id)
        if scene is not None and death.name not in found:
            near = sentences_near(scene.text, f"{death.name} dead died killed death", 1)
            if near:
                found[death.name] = Evidence(scene.scene_id, near[0])
    return found


def _lost_used(view: ManuscriptView, facts: Facts) -> Iterator[TimelineCandidate]:
    gone: dict[str, tuple[str, Evidence]] = {}
    for scene in view.scenes:
        told = facts.get(scene.scene_id)
        for each in told.things if told else ():
            key = place_key(each.thing)
            if each.status in LOST:
                gone[key] = each.status, Evidence(scene.scene_id, each.quote)
            elif each.status == FOUND:
                gone.pop(key, None)
            elif each.status in HELD and key in gone and gone[key][1].scene_id != scene.scene_id:
                how, lost = gone.pop(key)
                yield TimelineCandidate(
                    "lost_used",
                    f"{each.thing} is {how} in {lost.scene_id} and there again in {scene.scene_id}",
                    f"Let {each.thing} be found again before {scene.scene_id}, or take it out.",
                    lost,
                    Evidence(scene.scene_id, each.quote),
                    (each.thing, lost.scene_id),
                )


def _lost_by_correction(view: ManuscriptView, facts: Facts) -> Iterator[TimelineCandidate]:
    for loss in read_losses(view):
        key = place_key(loss.thing)
        for scene in view.scenes[view.positions[loss.scene_id] + 1 :]:
            told = facts.get(scene.scene_id)
            uses = [t for t in (told.things if told else ()) if place_key(t.thing) == key]
            if any(each.status == FOUND for each in uses):
                break
            used = next((each for each in uses if each.status in HELD), None)
            if used is not None:
                yield TimelineCandidate(
                    "lost_used",
                    f'{loss.thing} is used in {scene.scene_id}, though you noted: "{loss.text}"',
                    f"Take {loss.thing} out of {scene.scene_id}, or let it be found again before.",
                    Evidence(loss.scene_id, ""),
                    Evidence(scene.scene_id, used.quote),
                    (loss.thing, loss.scene_id),
                    authority=loss.text,
                )
                break


def _too_fast(
    view: ManuscriptView,
    whereabouts: Mapping[str, Sequence[tuple[SceneView, Placed]]],
    times: Mapping[str, StoryTime],
) -> Iterator[TimelineCandidate]:
    rules = [rule for rule in map(read_travel_rule, view.rules) if rule is not None]
    for character, stays in whereabouts.items():
        for (scene, here), (other, there) in pairwise(stays):
            first, second = times[scene.scene_id], times[other.scene_id]
            hours = most_hours_between(first, second)
            if scene is other or hours is None or is_same_time(first, second):
                continue
            for rule in rules:
                if rule.covers(here.place, there.place) and hours < rule.hours:
                    yield TimelineCandidate(
                        "too_fast",
                        f"{character} gets from {here.place} ({scene.scene_id}) to {there.place}"
                        f" ({other.scene_id}) in at most {hours:g} hours; your rule asks for"
                        f" {rule.hours:g}",
                        "Put more time between the two scenes, or send somebody who was nearer.",
                        Evidence(scene.scene_id, here.quote),
                        Evidence(other.scene_id, there.quote),
                        (character, scene.scene_id, other.scene_id),
                        authority=rule.text,
                    )


def _effect_first(
    view: ManuscriptView, times: Mapping[str, StoryTime]
) -> Iterator[TimelineCandidate]:
    for each in view.causes:
        cause, effect = view.by_id.get(each.cause_scene), view.by_id.get(each.effect_scene)
        if cause is None or effect is None or cause is effect:
            continue
        first, second = times[effect.scene_id], times[cause.scene_id]
        is_earlier = is_before(first, second)
        if is_earlier is None:
            is_earlier = view.positions[effect.scene_id] < view.positions[cause.scene_id]
        quotes = (
            sentences_near(effect.text, each.effect, 1),
            sentences_near(cause.text, each.cause, 1),
        )
        if is_earlier and all(quotes):
            yield TimelineCandidate(
                "effect_first",
                f"{each.effect} ({effect.scene_id}) comes before what causes it, {each.cause}"
                f" ({cause.scene_id})",
                f"Put {cause.scene_id} first, or mark {effect.scene_id} as told out of order.",
                Evidence(effect.scene_id, quotes[0][0]),
                Evidence(cause.scene_id, quotes[1][0]),
                (each.cause, each.effect),
            )
