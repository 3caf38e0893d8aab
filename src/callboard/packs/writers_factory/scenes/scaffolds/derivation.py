"""Derivation: what of a scaffold follows from the story, without asking anybody."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from callboard.packs.writers_factory.model import scene_id
from callboard.packs.writers_factory.scenes.scaffolds.scaffold import (
    BeatNote,
    Person,
    SceneThread,
    SmartScaffold,
    StoryView,
    TiedThread,
)

MOST_CALLBACKS: Final = 5
MOST_FORESHADOWING: Final = 3
MOST_RULES: Final = 5
FLAW_GAP: Final = 6
FLAW_BEATS: Final = frozenset({4, 6, 9, 11, 13, 14})
BEAT_SHEET, CHARACTER_ARCS, WORLD_RULES = "beat_sheet", "character_arcs", "world_rules"
PRIOR_SCENES, FUTURE_SCENES = "prior_scenes", "future_scenes"
NOTEBOOK: Final = "notebook:"
ENRICHMENTS: Final = (BEAT_SHEET, CHARACTER_ARCS, WORLD_RULES, PRIOR_SCENES, FUTURE_SCENES)
_LOOSE_BEAT: Final = BeatNote(1, "Opening Image")
_SENTENCE: Final = re.compile(r"[^.!?]+[.!?]?")
_WORD: Final = re.compile(r"[^\W_]{4,}")


def read_enrichment(named: Sequence[str] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the sources to draw from and a warning for each that is none."""
    if not named:
        return ENRICHMENTS, ()
    names = list(dict.fromkeys(each.strip().lower() for each in named if each.strip()))
    known = [each for each in names if each in ENRICHMENTS or _is_notebook(each)]
    warnings = [
        f"{each!r} is no source of a scaffold; there are {', '.join(ENRICHMENTS)} and notebook:<id>"
        for each in names
        if each not in known
    ]
    return tuple(known) or ENRICHMENTS, tuple(warnings)


def _is_notebook(name: str) -> bool:
    return name.startswith(NOTEBOOK) and len(name) > len(NOTEBOOK)


def beat_of(view: StoryView) -> BeatNote:
    """Return the beat a scene serves: the outline's, else the one whose place it stands in."""
    if view.planned_beat is not None:
        planned = view.beat(view.planned_beat)
        if planned is not None:
            return planned
    at = view.position_pct
    fitting = [beat for beat in view.beats if beat.low_pct <= at <= beat.high_pct]
    begun = [beat for beat in view.beats if beat.low_pct <= at]
    if fitting:
        return min(fitting, key=lambda beat: (beat.high_pct - beat.low_pct, beat.number))
    return begun[-1] if begun else _LOOSE_BEAT


def people_named(texts: Iterable[str], people: Iterable[Person]) -> tuple[Person, ...]:
    """Return who is named in texts, in the order of first mention."""
    text = "\n".join(texts)
    found: dict[int, Person] = {}
    for person in people:
        names = "|".join(re.escape(each) for each in (person.name, *person.aliases) if each.strip())
        hit = re.search(rf"\b(?:{names})\b", text, re.IGNORECASE) if names else None
        if hit is not None:
            found.setdefault(hit.start() * 1000 + len(found), person)
    return tuple(found[at] for at in sorted(found))


def derive(view: StoryView, sources: Sequence[str] = ENRICHMENTS) -> SmartScaffold:
    """Return the scaffold code alone can make: complete and valid, if plain."""
    beat = beat_of(view)
    present = _present(view, beat)
    base = SmartScaffold(
        scaffold_id=scene_id(view.chapter, view.scene),
        title=view.title,
        beat_alignment=beat.alignment,
        beat_number=beat.number,
        word_target=view.word_target,
        pov_character=present[0].name if present else "",
        characters_present=tuple(person.name for person in present),
        location=view.previous_location or next(iter(view.locations), ""),
        summary=view.summary,
        flaw_challenge=_challenges(view, beat),
        health_notes=view.health_notes,
        sources=tuple(sources),
    )
    threaded = with_threads(base, view, sources)
    return replace(
        threaded,
        world_rules=_rules(view, threaded) if WORLD_RULES in sources else (),
        protagonist_constraint=_constraint(view, sources),
        scene_goal=_goal(view, beat, sources),
        conflict=_conflict(view, sources),
        outcome=f"The scene turns on this: {_first_sentence(beat.content or view.summary)}"
        if beat.content or view.summary
        else "",
        emotional_note=_note(view),
    )


def with_threads(scaffold: SmartScaffold, view: StoryView, sources: Sequence[str]) -> SmartScaffold:
    """Return a scaffold with what is owed to its people and what is coming for them."""
    found = [view.person(name) for name in scaffold.people]
    present = frozenset(person.id for person in found if person is not None)
    owed = _fitting(view.owed, present) if PRIOR_SCENES in sources else ()
    coming = _fitting(view.coming, present) if FUTURE_SCENES in sources else ()
    later = [
        each
        for each in coming
        if each.beat_number is None or each.beat_number > scaffold.beat_number
    ]
    return replace(
        scaffold,
        callbacks=tuple(owed[:MOST_CALLBACKS]),
        foreshadowing=tuple(later[:MOST_FORESHADOWING]),
    )


def _fitting(threads: Sequence[TiedThread], present: frozenset[str]) -> tuple[SceneThread, ...]:
    return tuple(each.thread for each in threads if not present.isdisjoint(each.people))


def _present(view: StoryView, beat: BeatNote) -> tuple[Person, ...]:
    """Return who is there: whoever the plan names, and the protagonist; nobody who is dead."""
    named = people_named((view.title, view.summary, beat.content), view.people)
    lead = view.person(view.protagonist)
    wanted = [lead, *named] if lead is not None else list(named)
    alive = {person.id: person for person in wanted if person.is_alive}
    if not alive:
        alive = {person.id: person for person in view.people if person.is_alive}
        return tuple(alive.values())[:1]
    return tuple(alive.values())


def _challenges(view: StoryView, beat: BeatNote) -> bool:
    is_due = view.flaw_gap is not None and view.flaw_gap >= FLAW_GAP
    return bool(view.flaw) and (is_due or beat.number in FLAW_BEATS)


def _rules(view: StoryView, scaffold: SmartScaffold) -> tuple[str, ...]:
    """Return the rules that bear on a scene, those that share its words first."""
    words = set(_WORD.findall(" ".join((scaffold.title, view.summary, scaffold.location)).lower()))

    def shared(rule: str) -> int:
        return -len(words.intersection(_WORD.findall(rule.lower())))

    return tuple(sorted(view.rules, key=shared)[:MOST_RULES])


def _constraint(view: StoryView, sources: Sequence[str]) -> str:
    who = view.protagonist or "The protagonist"
    if CHARACTER_ARCS in sources and view.lie:
        return f"{who} acts on the belief that {_lowered(view.lie, view)}"
    if CHARACTER_ARCS in sources and view.flaw:
        return f"{who} cannot act against the flaw: {_lowered(view.flaw, view)}"
    if WORLD_RULES in sources and view.rules:
        return view.rules[0]
    return ""


def _goal(view: StoryView, beat: BeatNote, sources: Sequence[str]) -> str:
    wanted = view.summary or (beat.content if BEAT_SHEET in sources else "")
    return _first_sentence(wanted) or f"{view.protagonist or 'Somebody'}: {view.title}"


def _conflict(view: StoryView, sources: Sequence[str]) -> str:
    if CHARACTER_ARCS in sources and view.flaw:
        return f"What stands in the way is the flaw: {_lowered(view.flaw, view)}"
    return view.rules[0] if WORLD_RULES in sources and view.rules else ""


def _note(view: StoryView) -> str:
    at = view.position_pct
    if at < 20:
        return "unsettled"
    if at < 50:
        return "resolute"
    return "strained" if at < 80 else "laid bare"


def _first_sentence(text: str) -> str:
    found = _SENTENCE.match(text.strip())
    return found[0].strip() if found else ""


def _lowered(text: str, view: StoryView) -> str:
    """Return a text as it goes on after a colon or `that`; a name keeps its capital."""
    stripped = text.strip().rstrip(".")
    first = stripped.split(" ", 1)[0].partition("'")[0].casefold()
    names = {word for each in view.people for word in each.name.casefold().split()}
    is_name = first in (*names, *view.protagonist.casefold().split(), "i")
    return stripped if is_name else stripped[:1].lower() + stripped[1:]
