"""Checking: whether somebody may eat something, told by names, tags and steps.

Whatever a model says about it does not count. What an ingredient's row is tagged with counts
always; names come on top.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, cast

from callboard.choreography.turn.domain import Objection
from callboard.packs.alfred.kitchen.safety.diets import diet_called
from callboard.packs.alfred.kitchen.safety.words import (
    Words,
    also_meant,
    food_groups,
    food_words,
    group_called,
    holds,
)

Row = Mapping[str, Any]
AVOID: Final = "avoid:"


@dataclass(frozen=True, slots=True)
class Eater:
    """What somebody must not, does not or would rather not eat."""

    allergies: tuple[str, ...] = ()
    diet: tuple[str, ...] = ()
    avoided: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Take in what people mean along with a name: who says nuts means peanuts as well."""
        meant = [kin for each in self.allergies for kin in also_meant(each)]
        wide = tuple(dict.fromkeys((*self.allergies, *meant)))
        object.__setattr__(self, "allergies", wide)

    @classmethod
    def of(cls, profile: Row | None, constraints: Iterable[str] = ()) -> "Eater":
        """Return what a profile and a session's constraints say."""
        known: Row = profile or {}
        avoided: list[str] = []
        diets = [str(each) for each in known.get("diet") or ()]
        for each in constraints:
            text = each.removeprefix(AVOID).removeprefix("diet:").strip()
            if not each.startswith(AVOID) and diet_called(text) is not None:
                diets.append(text)
            elif text:
                avoided.append(text)
        allergies = tuple(str(each) for each in known.get("allergies") or ())
        return cls(allergies, tuple(diets), tuple(avoided))

    @property
    def has_limits(self) -> bool:
        """Whether there is anything to check."""
        return bool(self.allergies or self.diet or self.avoided)


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of content that is looked at: where it is, its words, and what it is tagged with."""

    where: str
    text: str
    tags: frozenset[str] = frozenset()


def check_constraints(
    content: Row, profile: Row | None, constraints: Iterable[str] = ()
) -> list[Objection]:
    """Return why content may not be shown or kept, if anything."""
    return check_for(Eater.of(profile, constraints), content)


def check_for(eater: Eater, content: Row) -> list[Objection]:
    """Do the same as `check_constraints` for somebody whose limits are already known."""
    if not eater.has_limits:
        return []
    parts = list(_parts(content))
    found = [
        objection
        for allergy in eater.allergies
        for objection in _objections("allergy", allergy, parts)
    ]
    for name in eater.diet:
        found += _diet_objections(name, [part for part in parts if part.where != "name"])
    for avoided in eater.avoided:
        found += _objections("avoid", avoided, [part for part in parts if part.where != "step"])
    return list(dict.fromkeys(found))


def is_allowed(eater: Eater, name: str, tags: Iterable[str] = ()) -> bool:
    """Say whether somebody may eat an ingredient, by its name and its tags."""
    content = {"ingredients": [{"name": name, "allergen_tags": list(tags)}]}
    return not check_for(eater, content)


def _diet_objections(name: str, parts: Sequence[Part]) -> list[Objection]:
    diet = diet_called(name)
    if diet is None:
        return []
    return [
        Objection("diet", diet.name, objection.detail)
        for group in diet.without
        for objection in _objections("diet", group, parts)
    ]


def _objections(kind: str, subject: str, parts: Sequence[Part]) -> list[Objection]:
    name, group, words = _meant(subject)
    if not words:
        return []
    return [
        Objection(kind, name, f"{part.where}: {part.text[:80]}")
        for part in parts
        if name in part.tags
        or _stands_in(part.text, group, words, is_sentence=part.where != "ingredient")
    ]


@lru_cache(maxsize=1_000)
def _meant(subject: str) -> tuple[str, str, Words]:
    """Return how a subject is called, the group it is if there is one, and its words."""
    words = food_words(subject)
    group = group_called(words)
    return (group.name, group.name, words) if group else (subject, "", words)


@lru_cache(maxsize=50_000)
def _stands_in(text: str, group: str, words: Words, *, is_sentence: bool) -> bool:
    """Say whether a text names a group, or just these words where there is no such group."""
    spoken = food_words(text)
    if not group:
        # Some plurals stay as they are written: kiwis.
        return holds(spoken, words) or holds(spoken, (*words[:-1], f"{words[-1]}s"))
    return food_groups()[group].find(spoken, is_sentence=is_sentence) is not None


def _parts(content: Row) -> Iterator[Part]:
    for key in ("name", "label", "note"):
        if content.get(key):
            yield Part("name" if key != "note" else "note", str(content[key]))
    for line in _rows(content.get("ingredients")):
        yield _ingredient(line)
    for step in _rows(content.get("steps")):
        yield Part("step", str(step.get("text", "")))
    for tag in _rows(content.get("tags")):
        yield Part("name", str(tag.get("tag") or tag.get("text", "")))
    for key in ("entries", "recipes"):
        for entry in _rows(content.get(key)):
            yield from _parts(entry)


def _ingredient(line: Row) -> Part:
    inner: Any = line.get("ingredient")
    known: Row = cast("Row", inner) if isinstance(inner, Mapping) else {}
    name = line.get("name") or known.get("name") or (inner if isinstance(inner, str) else "")
    said = [str(name or ""), str(line.get("raw_text") or ""), str(line.get("text") or "")]
    tags: Any = line.get("allergen_tags") or known.get("allergen_tags") or ()
    spoken = " / ".join(dict.fromkeys(part for part in said if part))
    return Part("ingredient", spoken, frozenset(str(tag) for tag in tags))


def _rows(value: Any) -> list[Row]:
    """Return rows; a list of texts means rows with only a text."""
    listed = cast("list[Any]", value) if isinstance(value, list | tuple) else []
    return [
        cast("Row", each) if isinstance(each, Mapping) else {"text": str(each)} for each in listed
    ]
