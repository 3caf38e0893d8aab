"""Checking: what somebody must not eat is found by code, in names, tags, steps and wishes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, cast

from callboard.choreography.turn.domain import Objection
from callboard.packs.alfred.kitchen.food.diets import diet_called
from callboard.packs.alfred.kitchen.food.groups import (
    also_meant,
    food_groups,
    group_called,
    holds,
)
from callboard.packs.alfred.kitchen.food.household import Limit, read_limits
from callboard.packs.alfred.kitchen.food.lexicon import food_words, known_words
from callboard.packs.alfred.kitchen.food.spelling import Words, near

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
    """What somebody, and whoever eats with them, must not, does not or would rather not eat."""

    allergies: tuple[str, ...] = ()
    diet: tuple[str, ...] = ()
    avoided: tuple[str, ...] = ()
    # The limits of others in the house.
    others: tuple[Limit, ...] = ()

    def __post_init__(self) -> None:
        """Take in what people mean along with a name: who says nuts means peanuts as well."""
        meant = [kin for each in self.allergies for kin in also_meant(each)]
        wide = tuple(dict.fromkeys((*self.allergies, *meant)))
        object.__setattr__(self, "allergies", wide)

    @classmethod
    def of(cls, profile: Row | None, constraints: Iterable[str] = ()) -> "Eater":
        """Return what a profile and a session's constraints say."""
        known: Row = profile or {}
        avoided: list[str] = [str(each) for each in known.get("dislikes") or ()]
        diets = [str(each) for each in known.get("diet") or ()]
        for each in constraints:
            text = each.removeprefix(AVOID).removeprefix("diet:").strip()
            if not each.startswith(AVOID) and diet_called(text) is not None:
                diets.append(text)
            elif text:
                avoided.append(text)
        allergies = tuple(str(each) for each in known.get("allergies") or ())
        others = read_limits(known.get("eaters") or ())
        return cls(allergies, tuple(diets), tuple(dict.fromkeys(avoided)), others)

    @property
    def limits(self) -> Iterator[Limit]:
        """Everything to be looked for, and whose limit it is."""
        yield from (Limit("allergy", each) for each in self.allergies)
        yield from (Limit("diet", each) for each in self.diet)
        yield from (Limit("avoid", each) for each in self.avoided)
        for each in self.others:
            yield each
            if each.kind == "allergy":
                yield from (Limit(each.kind, kin, each.who) for kin in also_meant(each.subject))

    @property
    def has_limits(self) -> bool:
        """Whether there is anything to check."""
        return bool(self.allergies or self.diet or self.avoided or self.others)


@dataclass(frozen=True, slots=True)
class FoodPart:
    """A piece of content that is looked at: where it is, its words, and what it is tagged with."""

    where: str
    text: str
    tags: frozenset[str] = frozenset()
    # Whether the ingredients of what it belongs to are listed.
    has_lines: bool = False
    # Whether it is the name of a thing, and not what else is said about it.
    is_name: bool = False
    # The whole line it was read out of: what that says to be left out is.
    line: str = ""


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
    found = [each for limit in eater.limits for each in _against(limit, parts)]
    return list(dict.fromkeys(found))


def _against(limit: Limit, parts: Sequence[FoodPart]) -> list[Objection]:
    match limit.kind:
        case "allergy":
            found = _objections("allergy", limit.subject, parts)
        case "diet":
            eaten = [part for part in parts if part.where not in _NOT_FOR_DIETS]
            found = _diet_objections(limit.subject, eaten)
        case "avoid":
            tasted = [part for part in parts if part.where not in _NOT_FOR_TASTES]
            found = _objections("avoid", limit.subject, tasted)
    return [replace(each, who=limit.who) for each in found] if limit.who else found


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
    known = food_groups().get(group)
    tags = known.tags if known else frozenset({name})
    is_replaced = known is not None and any(
        known.is_replaced(food_words(part.text)) for part in parts if part.where == "ingredient"
    )
    found: list[Objection] = []
    for part in parts:
        told = f"{part.where}: {part.text[:80]}"
        if part.line and known is not None and known.is_replaced(food_words(part.line)):
            continue
        if tags & part.tags or _stands_in(part, group, words, is_replaced):
            found.append(Objection(kind, name, told))
        elif kind == "allergy" and (slip := _slip(part, group, words)):
            found.append(Objection(kind, name, f"{told} (“{slip[0]}” reads like {slip[1]})"))
    return found


@lru_cache(maxsize=1_000)
def _meant(subject: str) -> tuple[str, str, Words]:
    """Return how a subject is called, the group it is if there is one, and its words."""
    words = food_words(subject)
    group = group_called(words)
    return (group.name, group.name, words) if group else (subject, "", words)


@lru_cache(maxsize=50_000)
def _stands_in(part: FoodPart, group: str, words: Words, is_replaced: bool) -> bool:
    """Say whether a text names a group, or just these words where there is no such group."""
    spoken = food_words(part.text)
    if not group:
        # Some plurals stay as they are written: kiwis.
        return holds(spoken, words) or holds(spoken, (*words[:-1], f"{words[-1]}s"))
    known = food_groups()[group]
    is_sentence = part.where != "ingredient"
    among = known.words
    if part.where == "name" and is_replaced:
        # Shortbread with vegan butter: what it is usually made with was left out.
        among = known.itself
    elif part.has_lines and part.where in ("step", "remark"):
        among = known.itself | known.made_with
    return known.find(spoken, is_sentence=is_sentence, among=among) is not None


@lru_cache(maxsize=50_000)
def _slip(part: FoodPart, group: str, words: Words) -> tuple[str, str] | None:
    """Return a word that is only almost a name of what is looked for, and that name."""
    spoken = food_words(part.text)
    if group:
        return food_groups()[group].find_near(spoken, is_name=part.is_name)
    names = [word for word in words if len(words) == 1]
    known = ((word, near(word, names)) for word in spoken if word not in known_words())
    return next(((word, name) for word, name in known if name), None)


def _parts(content: Row) -> Iterator[FoodPart]:
    lines = _rows(content.get("ingredients"))
    has_lines = bool(lines)
    for key, where in _SAID_OF_CONTENT.items():
        if content.get(key):
            yield FoodPart(where, str(content[key]), has_lines=has_lines)
    for line in lines:
        yield from _line_parts(line)
    for step in _rows(content.get("steps")):
        yield FoodPart("step", str(step.get("text", "")), has_lines=has_lines)
    for tag in _rows(content.get("tags")):
        yield FoodPart("name", str(tag.get("tag") or tag.get("text", "")), has_lines=has_lines)
    for key in ("entries", "recipes", "linked"):
        for entry in _rows(content.get(key)):
            yield from _parts(entry)


def _line_parts(line: Row) -> Iterator[FoodPart]:
    """Yield all a line says, piece by piece: `coconut` before `milk` would make the milk harmless.

    The first piece carries the tags, unless the line as it was written says it is without.
    """
    inner: Any = line.get("ingredient")
    known: Row = cast("Row", inner) if isinstance(inner, Mapping) else {}
    name = line.get("name") or known.get("name") or (inner if isinstance(inner, str) else "")
    tags: Any = line.get("allergen_tags") or known.get("allergen_tags") or ()
    rest = dict.fromkeys(str(line.get(key) or "") for key in _SAID_OF_LINE)
    said = [each for each in rest if each and each != name]
    spoken = set(food_words(str(name or "")))
    whole = next((each for each in said if spoken <= set(food_words(each))), "")
    given = frozenset(str(tag) for tag in tags)
    yield FoodPart("ingredient", str(name or ""), given, line=whole, is_name=True)
    yield from (FoodPart("ingredient", each, line=whole, is_name=not name) for each in said)


def _rows(value: Any) -> list[Row]:
    """Return rows; a list of texts means rows with only a text."""
    listed = cast("list[Any]", value) if isinstance(value, list | tuple) else []
    return [
        cast("Row", each) if isinstance(each, Mapping) else {"text": str(each)} for each in listed
    ]
