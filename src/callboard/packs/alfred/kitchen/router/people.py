"""What people say about themselves: allergies, diets, tastes, and how many they are."""

import re
from collections.abc import Sequence
from typing import Any, Final

from callboard.choreography.turn.domain import Routed, Row
from callboard.knowledge.entities.matching import name_key
from callboard.packs.alfred.kitchen.lexicon import food_facts
from callboard.packs.alfred.kitchen.router.situation import Situation
from callboard.packs.alfred.kitchen.router.words.items import read_things
from callboard.packs.alfred.kitchen.router.words.lexicon import any_of, keyed, read_count
from callboard.packs.alfred.kitchen.router.words.targets import names
from callboard.packs.alfred.kitchen.safety.words import food_words, group_called

_I_AM: Final = r"(?:i(?:'m| am)|we(?:'re| are))"
# Who eats along counts like the cook: nobody is served what one of them must not have.
_SOMEBODY: Final = (
    r"(?:(?:my|our) [\w-]+(?: [\w-]+)?|he|she|they|somebody|someone|one of us|[A-Z][\w-]+)"
)
_ALLERGIC: Final = re.compile(
    rf"^(?:{_I_AM}|{_SOMEBODY}(?:'s|'re| is| are))(?: also)? (?:allergic|intolerant) to"
    r" (?P<what>.+)$"
    rf"|^(?:i|we|{_SOMEBODY}) (?:also )?ha(?:ve|s) (?:an? )?(?P<named>.+?) (?:allergy|intolerance"
    r"|allergies)$",
    re.I,
)
_CANNOT: Final = re.compile(
    rf"^(?:i|we|{_SOMEBODY}) can(?:'t|not) (?:have|eat|tolerate) (?P<what>.+)$", re.I
)
_NOT_ALLERGIC: Final = re.compile(
    rf"^{_I_AM} (?:no longer|not) allergic to (?P<what>.+?)(?: any ?more)?$", re.I
)
_DIET: Final = re.compile(
    rf"^{_I_AM}(?: now| also)? (?:an? )?(?P<diet>{any_of('diets')}|celiac|coeliac"
    r"|lactose[- ]intolerant)s?(?: now)?$"
    rf"|^(?:i|we) (?:eat|follow|keep) (?:an? )?(?:only )?(?P<eats>{any_of('diets')})(?: (?:diet"
    r"|food))?$",
    re.I,
)
_NO_DIET: Final = re.compile(
    rf"^{_I_AM} (?:no longer|not) (?:an? )?(?P<diet>{any_of('diets')})(?: any ?more)?$", re.I
)
_DISLIKE: Final = re.compile(
    r"^(?:i|we) (?:really )?(?:hate|dislike|can't stand|don't like|do not like|don't eat"
    r"|do not eat|never eat)(?: eating)? (?P<what>.+)$",
    re.I,
)
_LIKE: Final = re.compile(
    rf"^(?:i|we) (?:really )?(?:love|like|enjoy) (?P<what>{any_of('cuisines')}(?:(?:,| and"
    rf"|, and) {any_of('cuisines')})*)(?: (?:food|cuisine|cooking|dishes))?$",
    re.I,
)
_HOUSEHOLD: Final = re.compile(
    r"^(?:we(?:'re| are)|there are|i cook for|we are a (?:family|household) of)\s+(?P<count>"
    r"\w+)(?: (?:people|persons|of us|in (?:the|our) (?:house|household|family)))?$",
    re.I,
)
_UNITS: Final = re.compile(
    r"^(?:i|we) (?:use|prefer) (?P<system>metric|us|imperial|american)(?: (?:units|measures"
    r"|measurements))?$",
    re.I,
)
_DIET_WORDS: Final = {"celiac": "gluten-free", "coeliac": "gluten-free"}
_MOST_PEOPLE: Final = 50


_AVOID: Final = re.compile(
    r"^(?:please )?(?:always (?:avoid|leave out)|never (?:use|plan|cook|suggest)|avoid)"
    r"\s+(?P<what>.+?)(?: (?:from now on|forever|please))?$",
    re.I,
)


async def route_people(situation: Situation) -> Routed | None:
    """Route what somebody says about themselves into their profile."""
    text = situation.text
    for pattern, column in ((_ALLERGIC, "allergies"), (_DISLIKE, "dislikes"), (_AVOID, "dislikes")):
        found = pattern.match(text)
        if found is not None:
            said = next(part for part in found.groups() if part)
            return await _adding(situation, column, _listed(said))
    cannot = _CANNOT.match(text)
    if cannot is not None:
        foods = _listed(cannot["what"])
        # Somebody who cannot have dinner tonight is not allergic to it.
        is_food = all(food_facts(each).is_food or group_called(food_words(each)) for each in foods)
        return await _adding(situation, "allergies", foods) if is_food else None
    liked = _LIKE.match(text)
    if liked is not None:
        cuisines = re.split(r",? and |, ?", liked["what"].casefold())
        return await _adding(situation, "favorite_cuisines", cuisines)
    diet = _DIET.match(text)
    if diet is not None:
        return await _diet(situation, (diet["diet"] or diet["eats"]).casefold())
    for pattern, column in ((_NOT_ALLERGIC, "allergies"), (_NO_DIET, "diet")):
        found = pattern.match(text)
        if found is not None:
            return await _dropping(situation, column, found.groups()[0])
    return _numbers(situation)


def _numbers(situation: Situation) -> Routed | None:
    people = _HOUSEHOLD.match(situation.text)
    if people is not None:
        word = people["count"]
        count = read_count(word)
        if count is None or not 1 <= count <= _MOST_PEOPLE:
            return None
        return _setting(situation, {"household_size": int(count)}, f"Cook for {count:g}")
    units = _UNITS.match(situation.text)
    if units is not None:
        system = "metric" if units["system"].casefold() == "metric" else "us"
        return _setting(situation, {"unit_system": system}, f"Use {system} units")
    return None


async def _diet(situation: Situation, word: str) -> Routed | None:
    if word.startswith("lactose"):
        return await _adding(situation, "allergies", ["milk"])
    plain = _DIET_WORDS.get(word, word)
    return await _adding(situation, "diet", [keyed("diets").get(name_key(plain), plain)])


def _listed(text: str) -> list[str]:
    plain = re.sub(r"\b(?:or|nor)\b", "and", text, flags=re.I)
    return [item.name.casefold() for item in read_things(plain)]


async def _adding(situation: Situation, column: str, added: Sequence[str]) -> Routed | None:
    if not added:
        return None
    profile = await _profile(situation)
    known = list(profile.get(column) or []) if profile else []
    told = f"Note {column.replace('_', ' ')}: {names(list(added))}"
    return _setting(situation, {column: list(dict.fromkeys([*known, *added]))}, told)


async def _dropping(situation: Situation, column: str, said: str) -> Routed | None:
    from callboard.packs.alfred.kitchen.safety.diets import canonical_allergies, canonical_diets

    profile = await _profile(situation)
    canonical = canonical_allergies if column == "allergies" else canonical_diets
    gone = set(canonical(_listed(said)))
    known: list[str] = list(profile.get(column) or []) if profile else []
    if not gone & set(known):
        return None
    told = f"Take {said} off your {column}"
    return _setting(situation, {column: [each for each in known if each not in gone]}, told)


async def _profile(situation: Situation) -> Row | None:
    rows = await situation.rows(table="user_profile", limit=1)
    return rows[0] if rows else None


def _setting(situation: Situation, values: dict[str, Any], what: str) -> Routed:
    steps = situation.steps
    # Everybody has one profile, and a household is somebody.
    own = {"field": "household_size", "op": "gte", "value": 1}
    steps.write(what, "preferences", op="update", table="user_profile", filters=[own], set=values)
    return Routed(steps=tuple(steps.made), goal=what)
