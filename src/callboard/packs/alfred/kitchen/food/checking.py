"""Checking: what somebody must not eat is found by code, in names, tags, steps and wishes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, cast

from callboard.choreography.turn.domain import Objection
from callboard.packs.alfred.kitchen.food.words import (
    Diet,
    Words,
    also_meant,
    diet_called,
    diets,
    food_groups,
    food_words,
    group_called,
    holds,
    plant_versions_in,
)

Row = Mapping[str, Any]
AVOID: Final = "avoid:"
# What is only said about a dish ("lovely with peanut sauce") is enough to warn who is allergic; it
# makes no dish meat, and nobody has to like a remark.
_NOT_FOR_DIETS: Final = frozenset({"name", "remark"})
_NOT_FOR_TASTES: Final = frozenset({"step", "remark"})
_SAID_OF_CONTENT: Final = {
    "name": "name", "label": "name", "note": "note", "description": "remark", "notes": "remark",
}  # fmt: skip
# Whatever was read out of a line, the line itself may say more: "may contain nuts".
_SAID_OF_LINE: Final = ("raw_text", "text", "preparation", "note", "notes")


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
class FoodPart:
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
    eaten = [part for part in parts if part.where not in _NOT_FOR_DIETS]
    for name in eater.diet:
        found += _diet_objections(name, eaten)
    tasted = [part for part in parts if part.where not in _NOT_FOR_TASTES]
    for avoided in eater.avoided:
        found += _objections("avoid", avoided, tasted)
    return list(dict.fromkeys(found))


def is_allowed(eater: Eater, name: str, tags: Iterable[str] = ()) -> bool:
    """Say whether somebody may eat an ingredient, by its name and its tags."""
    content = {"ingredients": [{"name": name, "allergen_tags": list(tags)}]}
    return not check_for(eater, content)


def _diet_objections(name: str, parts: Sequence[FoodPart]) -> list[Objection]:
    diet = diet_called(name)
    if diet is None:
        return []
    return [
        Objection("diet", diet.name, objection.detail)
        for group in diet.without
        for objection in _objections("diet", group, parts)
    ]


def _objections(kind: str, subject: str, parts: Sequence[FoodPart]) -> list[Objection]:
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


def _parts(content: Row) -> Iterator[FoodPart]:
    for key, where in _SAID_OF_CONTENT.items():
        if content.get(key):
            yield FoodPart(where, str(content[key]))
    for line in _rows(content.get("ingredients")):
        yield from _line_parts(line)
    for step in _rows(content.get("steps")):
        yield FoodPart("step", str(step.get("text", "")))
    for tag in _rows(content.get("tags")):
        yield FoodPart("name", str(tag.get("tag") or tag.get("text", "")))
    for key in ("entries", "recipes"):
        for entry in _rows(content.get(key)):
            yield from _parts(entry)


def _line_parts(line: Row) -> Iterator[FoodPart]:
    """Yield all a line says, piece by piece: `coconut` before `milk` would make the milk harmless.

    The first piece carries the tags.
    """
    inner: Any = line.get("ingredient")
    known: Row = cast("Row", inner) if isinstance(inner, Mapping) else {}
    name = line.get("name") or known.get("name") or (inner if isinstance(inner, str) else "")
    tags: Any = line.get("allergen_tags") or known.get("allergen_tags") or ()
    yield FoodPart("ingredient", str(name or ""), frozenset(str(tag) for tag in tags))
    rest = dict.fromkeys(str(line.get(key) or "") for key in _SAID_OF_LINE)
    yield from (FoodPart("ingredient", said) for said in rest if said and said != name)


def _rows(value: Any) -> list[Row]:
    """Return rows; a list of texts means rows with only a text."""
    listed = cast("list[Any]", value) if isinstance(value, list | tuple) else []
    return [
        cast("Row", each) if isinstance(each, Mapping) else {"text": str(each)} for each in listed
    ]


_BLANK: Final = "…"
_FREE: Final = "free"


@dataclass(frozen=True, slots=True)
class WishClash:
    """Two things that do not go together: `vegan` and `chicken`."""

    limit: str
    food: str
    # Whether the limit is the person's own and not part of the wish.
    is_from_profile: bool

    @property
    def question(self) -> str:
        """What to ask the user."""
        whose = "your profile says" if self.is_from_profile else "you asked for"
        limit = self.limit.replace("_", " ")
        return f"{self.food.capitalize()} does not fit: {whose} {limit}. Which should count?"


def find_clash(wish: str, profile: Row | None = None) -> WishClash | None:
    """Return what in a wish for food contradicts itself or the profile, if anything."""
    said = food_words(wish)
    rest = _without_plant_versions(said)
    for diet in diets().values():
        named = next((name for name in diet.called if holds(said, name)), None)
        if named is None:
            continue
        food = _food_against(diet, _blanked(rest, named))
        if food:
            return WishClash(diet.name, food, is_from_profile=False)
    return _profile_clash(rest, Eater.of(profile))


def _profile_clash(said: Words, eater: Eater) -> WishClash | None:
    for allergy in eater.allergies:
        group = group_called(food_words(allergy))
        found: Any = group.find(said) if group else None
        if found is None and group is None and holds(said, food_words(allergy)):
            found = food_words(allergy)
        if found:
            return WishClash(f"{allergy} allergy", " ".join(found), is_from_profile=True)
    for name in eater.diet:
        diet = diet_called(name)
        food = _food_against(diet, said) if diet else None
        if food:
            return WishClash(name, food, is_from_profile=True)
    return None


def _food_against(diet: Diet, said: Words) -> str | None:
    for group in diet.without:
        found = food_groups()[group].find(said)
        if found:
            return " ".join(found)
    return None


def _without_plant_versions(said: Words) -> Words:
    """Blank the foods; the word that makes them so stays: the rest must fit it too."""
    places = plant_versions_in(said)
    return tuple(_BLANK if at in places else word for at, word in enumerate(said))


def _blanked(said: Words, part: Words) -> Words:
    """Blank the name of the limit itself, unless a food follows that is free of it."""
    size = len(part)
    for at in range(len(said) - size + 1):
        if said[at : at + size] == part and _FREE not in part:
            return said[:at] + (_BLANK,) * size + said[at + size :]
    return said
