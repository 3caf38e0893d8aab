"""Strategies: what a word before or after "recipes" means as a filter."""

import re
from typing import Any, Final

from callboard.knowledge.entities.matching import name_key
from callboard.packs.alfred.kitchen.router.words.items import read_items
from callboard.packs.alfred.kitchen.router.words.lexicon import keyed

QUICK_MINUTES: Final = 30
_QUICK: Final = frozenset({"quick", "fast", "speedy", "weeknight", "easy"})
_FILLER: Final = frozenset(
    {"", "my", "the", "our", "all", "some", "any", "saved", "own", "me", "and", "archived",
     "deleted", "a", "an", "other", "new", "old", "good", "nice", "great", "whole", "entire",
     "next", "out", "few"}
)  # fmt: skip
_MINUTES: Final = re.compile(
    r"(?:under|in under|less than|within|up to|that take(?:s)?(?: under| less than)?)\s+("
    r"\d{1,3})\s*min(?:ute)?s?",
    re.I,
)
_WITH: Final = re.compile(
    r"(?:with|using|containing)\s+(?P<what>.+?)(?=\s+(?:under|in under|within|without|that)\b|$)",
    re.I,
)
_WITHOUT: Final = re.compile(
    r"without\s+(?P<what>.+?)(?=\s+(?:under|in under|within|with|that)\b|$)", re.I
)


def recipe_filters(before: str, after: str) -> list[dict[str, Any]] | None:
    """Return what the words around "recipes" ask for, or None if a word says nothing here."""
    filters = _words(before)
    tail = after.strip()
    if filters is None:
        return None
    minutes = _MINUTES.search(tail)
    if minutes is not None:
        filters.append(at_most_minutes(int(minutes[1])))
        tail = tail.replace(minutes[0], " ").strip()
    for pattern, make in ((_WITHOUT, _holds_none), (_WITH, _holds)):
        found = pattern.search(tail)
        if found is None:
            continue
        items = read_items(found["what"])
        if not items:
            return None
        filters += [make(item.name) for item in items]
        tail = tail.replace(found[0], " ").strip()
    is_read = re.fullmatch(r"(?:from|for|that|in|,|\s)*", tail) is not None
    return filters if is_read else None


def split_diets(text: str) -> tuple[list[str], str]:
    """Return the diets a text names, and the rest of its words."""
    diets: list[str] = []
    rest: list[str] = []
    for word in re.split(r"[\s,]+", text.strip()):
        diet = keyed("diets").get(name_key(word)) if word else None
        (rest if diet is None else diets).append(diet or word)
    return diets, " ".join(rest)


def at_most_minutes(minutes: int) -> dict[str, Any]:
    """Return the condition that a recipe takes no longer; an untimed one is not known to."""
    return {"field": "total_minutes", "op": "lte", "value": minutes}


def has_tag(tag: str) -> dict[str, Any]:
    """Return the condition that a recipe has a tag."""
    return {"field": "tags", "op": "cs", "value": [tag]}


def _words(text: str) -> list[dict[str, Any]] | None:
    filters: list[dict[str, Any]] = []
    left = [word for word in re.split(r"[\s,]+", text.casefold()) if word not in _FILLER]
    for word in left:
        made = _word(word)
        if made is None:
            return None
        filters.append(made)
    return filters


def _word(word: str) -> dict[str, Any] | None:
    key = name_key(word)
    if word in _QUICK:
        return at_most_minutes(QUICK_MINUTES)
    if key in keyed("cuisines"):
        return {"field": "cuisine", "op": "ilike", "value": keyed("cuisines")[key]}
    if key in keyed("diets"):
        diet = keyed("diets")[key]
        # What is vegan is vegetarian, too.
        is_wider = diet == "vegetarian"
        return {"or": [has_tag(diet), has_tag("vegan")]} if is_wider else has_tag(diet)
    if key in keyed("courses"):
        course = keyed("courses")[key]
        return {"or": [{"field": "course", "op": "ilike", "value": course}, has_tag(course)]}
    from callboard.packs.alfred.kitchen.lexicon import food_facts

    return _holds(word) if food_facts(word).is_food else None


def _holds(name: str) -> dict[str, Any]:
    wanted = name_key(name).replace("%", "").replace("*", "")
    return {"field": "ingredients.name", "op": "ilike", "value": f"%{wanted}%"}


def _holds_none(name: str) -> dict[str, Any]:
    return {"not": _holds(name)}
