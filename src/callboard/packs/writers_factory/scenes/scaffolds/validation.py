"""Validation: what a scaffold may not say. Names every fault; puts nothing right by itself."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from callboard.packs.writers_factory.manuscript import parse_scene_id
from callboard.packs.writers_factory.scenes.scaffolds.derivation import (
    MOST_CALLBACKS,
    MOST_FORESHADOWING,
)
from callboard.packs.writers_factory.scenes.scaffolds.scaffold import (
    FREE_FIELDS,
    SmartScaffold,
    StoryView,
    is_marked,
)

_SINCE: Final = re.compile(r"\b(?:chapter|ch)[\s._-]*(\d{1,4})", re.IGNORECASE)
_DEAD: Final = re.compile(
    r"\b(?P<who>[A-Z][\w'’-]++(?:\s[A-Z][\w'’-]++)?)\s++(?:is|was|has been)?+\s*+"
    r"(?:already\s++)?+(?:dead|died|killed|dies)\b"
)
_GONE: Final = re.compile(
    r"\b(?:the|his|her|their|a)\s+(?P<what>[a-z][\w'’-]*(?:\s[a-z][\w'’-]*)?)\s+"
    r"(?:is|was|were|has been|got)\s+(?:lost|gone|destroyed|stolen|burned|broken|sold|thrown away)",
    re.IGNORECASE,
)
_NOT: Final = re.compile(r"(?:,|;|\band)\s+(?:not|never)\s+(?:a\s+|an\s+|the\s+)?(?P<what>[^,.;]+)")
_ADMITS: Final = re.compile(
    r"\b(?:lost|gone|missing|without|no longer|absence|destroyed|stolen|not|never|dead|died)\b",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"[^.!?;\n]+")


@dataclass(frozen=True, slots=True)
class Ban:
    """Something that may not be said from a chapter on, and the correction it comes from."""

    what: str
    kind: str
    since_chapter: int
    correction: str


def bans_of(corrections: Iterable[str]) -> tuple[Ban, ...]:
    """Return what the corrections rule out."""
    found: list[Ban] = []
    for correction in corrections:
        since = _SINCE.search(correction)
        chapter = int(since[1]) if since else 0
        for kind, pattern, group in (("dead", _DEAD, "who"), ("gone", _GONE, "what")):
            found += [
                Ban(hit[group].strip(), kind, chapter, correction)
                for hit in pattern.finditer(correction)
            ]
        found += [
            Ban(hit["what"].strip(), "not", 0, correction) for hit in _NOT.finditer(correction)
        ]
    return tuple(found)


def breaches(text: str, corrections: Iterable[str], chapter: int) -> tuple[str, ...]:
    """Return what a text says against corrections, in words; a mention that admits it is none."""
    faults: list[str] = []
    for ban in bans_of(corrections):
        if ban.kind == "dead" or chapter < ban.since_chapter:
            continue
        wanted = re.compile(rf"\b{re.escape(ban.what)}\b", re.IGNORECASE)
        for sentence in _SENTENCE.findall(text):
            if wanted.search(sentence) and not _ADMITS.search(sentence):
                faults.append(f"{sentence.strip()!r} goes against: {ban.correction}")
                break
    return tuple(faults)


def is_declared_dead(name: str, corrections: Iterable[str], chapter: int) -> bool:
    """Say whether a correction has somebody dead by a chapter."""
    return any(
        ban.kind == "dead"
        and ban.what.casefold() in name.casefold()
        and chapter >= ban.since_chapter
        for ban in bans_of(corrections)
    )


Fault = tuple[str, str]
"""The field that is at fault, and what is wrong with it."""


def scaffold_faults(scaffold: SmartScaffold, view: StoryView) -> tuple[Fault, ...]:
    """Return everything a scaffold says that the story does not allow."""
    return (
        *_cast_faults(scaffold, view),
        *_thread_faults(scaffold, view),
        *_word_faults(scaffold, view),
    )


def _cast_faults(scaffold: SmartScaffold, view: StoryView) -> Iterator[Fault]:
    for name in scaffold.people:
        person = view.person(name)
        if person is None:
            yield "characters_present", f"{name} is not in the story; mark somebody new as `New:`"
        elif not person.is_alive or is_declared_dead(name, view.corrections, view.chapter):
            yield "characters_present", f"{name} is dead at this point of the story"
    if not scaffold.people and not any(map(is_marked, scaffold.characters_present)):
        yield "characters_present", "nobody is present"
    pov = scaffold.pov_character
    if not pov:
        yield "pov_character", "nobody's point of view is named"
    elif not _is_there(pov, scaffold, view):
        yield "pov_character", f"{pov} is not present"
    if view.beats and view.beat(scaffold.beat_number) is None:
        yield "beat_number", f"there is no beat {scaffold.beat_number}"


def _is_there(pov: str, scaffold: SmartScaffold, view: StoryView) -> bool:
    person = view.person(pov)
    present = [_bare(each) for each in scaffold.characters_present]
    if person is not None:
        return any(person.answers_to(each) for each in present)
    return _bare(pov).casefold() in (each.casefold() for each in present)


def _bare(name: str) -> str:
    return name.partition(":")[2].strip() if is_marked(name) else name


def _thread_faults(scaffold: SmartScaffold, view: StoryView) -> Iterator[Fault]:
    here = (view.chapter, view.scene)
    for thread in scaffold.callbacks:
        planted = parse_scene_id(thread.scene_id) if thread.scene_id else None
        if planted is not None and planted >= here:
            yield (
                "callbacks",
                f"{thread.name} is planted in {thread.scene_id}, which is not earlier",
            )
    for thread in scaffold.foreshadowing:
        if thread.beat_number is not None and thread.beat_number <= scaffold.beat_number:
            yield "foreshadowing", f"{thread.name} is not later than this scene"
        planned = parse_scene_id(thread.scene_id) if thread.scene_id else None
        if planned is not None and planned <= here:
            yield "foreshadowing", f"{thread.name} comes in {thread.scene_id}, not later"
    if len(scaffold.callbacks) > MOST_CALLBACKS:
        yield "callbacks", f"{len(scaffold.callbacks)} are more than {MOST_CALLBACKS}"
    if len(scaffold.foreshadowing) > MOST_FORESHADOWING:
        yield "foreshadowing", f"{len(scaffold.foreshadowing)} are more than {MOST_FORESHADOWING}"


def _word_faults(scaffold: SmartScaffold, view: StoryView) -> Iterator[Fault]:
    for name in FREE_FIELDS:
        for fault in breaches(getattr(scaffold, name), view.corrections, view.chapter):
            yield name, fault
    if scaffold.word_target < 1:
        yield "word_target", f"{scaffold.word_target} words are none"


def mended(
    scaffold: SmartScaffold, safe: SmartScaffold, faults: tuple[Fault, ...]
) -> SmartScaffold:
    """Return a scaffold whose faulty fields are those of one that is known to be right."""
    names = {name for name, _ in faults}
    if "characters_present" in names:
        # A point of view belongs to a cast, and so do the threads.
        names |= {"pov_character", "callbacks", "foreshadowing"}
    changed = replace(scaffold, **{name: getattr(safe, name) for name in names})
    told = tuple(f"{name}: {fault}; taken from the plan instead" for name, fault in faults)
    return replace(changed, warnings=(*scaffold.warnings, *told))
