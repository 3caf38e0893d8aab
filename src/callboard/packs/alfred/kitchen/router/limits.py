"""Limits: who in the house must not eat what, read out of what people say.

It is read clause by clause: a cue ("allergic", "makes her sick"), who it is about, and the foods it
names. A food nobody knows is asked about; what is only for tonight says nothing.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from callboard.choreography.turn.domain import Routed
from callboard.packs.alfred.kitchen.food.diets import (
    canonical_allergies,
    canonical_diets,
    diet_called,
)
from callboard.packs.alfred.kitchen.food.foods import food_facts, is_listed
from callboard.packs.alfred.kitchen.food.groups import also_meant, food_groups, group_called
from callboard.packs.alfred.kitchen.food.household import (
    Limit,
    LimitKind,
    is_known_food,
    nearest_allergen,
)
from callboard.packs.alfred.kitchen.food.lexicon import food_words
from callboard.packs.alfred.kitchen.food.naming import objection
from callboard.packs.alfred.kitchen.router.situation import Situation, names
from callboard.packs.alfred.kitchen.router.words import forms

_FORMS: Final = forms("limits")
_CLAUSES: Final = re.compile(r"[.!?;\n]+\s*")
_LISTED: Final = re.compile(
    r"\s*(?:,|;|/|&|\+|\band also to\b|\b(?:and|or|nor|und|et|y|e|ou|o)\b)\s*", re.I
)
_ALLERGIC_TO: Final = re.compile(
    r"\b(?:al+ergic|al+ergisch|intolerant|allergique|al+[eé]rgic[oa]|react\w*(?: \w+)?)\s+"
    r"(?:to|of|on|gegen|auf|aux?|à la|à l'|à|al|a los|a las|a la|a|alle|alla|ai|agli|all')\s*"
    r"(?P<what>.+)$",
    re.I,
)
_HAS: Final = re.compile(
    r"\b(?:have|has|with|'s got|got|habe|hat)\s+(?:an?\s+|that\s+)?(?:\w+\s+)?"
    r"(?P<what>[\w' -]{2,40}?)[ -]"
    r"(?:allerg(?:y|ies)|intolerance)",
    re.I,
)
_ANSWER: Final = re.compile(r"\s*\((?P<answer>[^()]{1,80})\)$")
_YES: Final = re.compile(r"(?:yes|yep|yeah|sure|ok|okay|right|exactly|correct|that)\b", re.I)
_ARTICLE: Final = re.compile(
    r"^(?:(?:the|my|our|any|all|some|eating|both|a|an|also|to|of|even|raw|dem|den|die|der|das|les?|la|l'|los|las|"
    r"el|il|lo|gli|ai|i)\s+|l')+(?=\w)",
    re.I,
)
_TOLD: Final = re.compile(r"\b(?:did i|have i|i told|says|has|gives|makes)\b", re.I)
_NO_FOOD: Final = frozenset({
    "both", "any", "no", "more", "no more", "further", "food", "all", "bad", "severe", "it",
    "something",
})  # fmt: skip
_ME: Final = frozenset({"me", "him", "her", "them", "us", "i"})
_NO_NAME: Final = frozenset({
    "i", "the", "our", "my", "we", "no", "not", "peanut", "milk", "could", "one", "neither", "this",
    "whey", "raw", "fava", "doctor", "mussels", "tree", "wine", "it", "she", "he", "they", "gluten",
    "there", "that", "penuts", "monday", "tuesday", "wednesday", "thursday", "friday",
    "saturday", "sunday", "tomorrow", "and", "but", "so", "lent", "doctors",
})  # fmt: skip
_GUESTS: Final = frozenset({"guest", "guests", "friend", "neighbour", "neighbor", "colleague"})
_LONGEST: Final = 4
_MOST: Final = 12


@dataclass(frozen=True, slots=True)
class Stated:
    """What a message says of limits: which, and what it names that nobody knows as a food."""

    limits: tuple[Limit, ...] = ()
    unknown: tuple[Limit, ...] = ()


async def route_limits(situation: Situation) -> Routed | None:
    """Route what somebody in the house must not eat into the profile, or ask about it."""
    answered = _ANSWER.search(situation.text)
    text = situation.text if answered is None else situation.text[: answered.start()]
    is_question = answered is None and situation.asked.message.rstrip().endswith("?")
    stated = read_limits_said(f"{text}?" if is_question else text)
    if not stated.limits and not stated.unknown:
        return None
    limits = list(stated.limits)
    for each in stated.unknown:
        meant = nearest_allergen(each.subject)
        if answered is None:
            ask = f"Did you mean {meant}?" if meant else "What is it, or is it just that?"
            return Routed(question=f"I know no food called “{each.subject}”. {ask}")
        settled = _settled(each, meant, answered["answer"])
        if objection(settled.subject):
            asked = f"“{each.subject}” is still no food I know, so I noted nothing."
            return Routed(question=f"{asked} Which food is it?")
        limits.append(settled)
    return await _noting(situation, limits[:_MOST])


def read_limits_said(message: str) -> Stated:
    """Return what a message says about who must not eat what."""
    limits: list[Limit] = []
    unknown: list[Limit] = []
    who = ""
    for clause, is_question in _clauses(message):
        found = _whose(clause)
        who = found if found is not None else who
        kind = _cue(clause)
        is_told = kind == "allergy" and (_TOLD.search(clause) is not None or found is not None)
        if (is_question and not is_told) or kind is None or _FORMS["no_statement"].search(clause):
            continue
        if kind != "allergy" and _FORMS["not_now"].search(clause):
            continue
        for limit in _read_clause(clause, kind, who):
            known = limit.kind == "diet" or is_known_food(limit.subject)
            (limits if known else unknown).append(limit)
    if limits:
        # Whoever named a food that is known may have said the rest in passing.
        unknown = [each for each in unknown if nearest_allergen(each.subject)]
    return Stated(tuple(dict.fromkeys(limits)), tuple(dict.fromkeys(unknown)))


def _clauses(message: str) -> Iterator[tuple[str, bool]]:
    """Yield the sentences of a message, and whether each only asks."""
    start = 0
    for end in _CLAUSES.finditer(f"{message}."):
        clause = message[start : end.start()].strip(" ,")
        if clause:
            yield clause, "?" in end[0]
        start = end.end()


def _cue(clause: str) -> LimitKind | None:
    if _FORMS["allergy"].search(clause) or _FORMS["coeliac"].search(clause):
        return "allergy"
    if _FORMS["diet"].search(clause):
        return "diet"
    if _FORMS["intolerance"].search(clause):
        return "allergy"
    if _FORMS["avoid"].search(clause) or _FORMS["nothing_for"].search(clause):
        return "avoid"
    return None


def _whose(clause: str) -> str | None:
    """Return who a clause is about: empty is the cook, None if it names nobody."""
    kin = _FORMS["kin"].search(clause)
    named = next(
        (each["name"] for each in _FORMS["named"].finditer(clause) if _is_name(each)), None
    )
    named = named or next(
        (each["name"] for each in _FORMS["for_named"].finditer(clause) if _is_name(each)), None
    )
    if named is not None:
        return named
    if kin is not None:
        return _called(kin["kin"] or kin["abroad"])
    if _FORMS["everybody"].search(clause):
        return "household"
    return "" if re.search(r"\b(?:i|i'm|i'd|me|my)\b", clause, re.I) else None


def _called(kin: str) -> str:
    """Return somebody by how they are related, with the name that follows if it is one."""
    words = kin.split()
    is_named = words[-1][0].isupper() and len(words) > 1
    plain = [word.casefold() for word in (words[:-1] if is_named else words)]
    if not is_named and len(words) > 1 and words[0].casefold() in _GUESTS:
        plain = plain[:1]
    return " ".join([*plain, words[-1]] if is_named else plain)


def _is_name(found: re.Match[str]) -> bool:
    name = found["name"]
    return name[0].isupper() and name.casefold() not in _NO_NAME and not food_facts(name).is_food


def _read_clause(clause: str, kind: LimitKind, who: str) -> Iterator[Limit]:
    allowed = {
        word for each in _FORMS["allowed"].finditer(clause) for word in food_words(each["what"])
    }
    diet = _FORMS["diet"].search(clause)
    if kind == "diet" and diet is not None:
        said = diet["diet"] or diet["kept"]
        known = diet_called(said)
        yield Limit("diet", canonical_diets([known.name if known else said])[0], who)
    if _FORMS["coeliac"].search(clause):
        yield Limit("allergy", "gluten", who)
        return
    named = _ALLERGIC_TO.search(clause) or _HAS.search(clause)
    foods = _enumerated(named["what"]) if named is not None else []
    foods = [each for each in foods if each not in _NO_FOOD]
    is_told = bool(foods)
    foods = foods or list(foods_named(clause))
    if not foods and kind == "allergy":
        # Nothing that is known: perhaps a slip of the pen.
        slips = [word for word in re.findall(r"[^\W\d_]{5,}", clause) if _is_slip(word)]
        foods, is_told = slips[:1], True
    for food in foods:
        if set(food_words(food)) <= allowed or (kind == "diet" and diet_called(food)):
            continue
        group = group_called(food_words(food))
        subject = group.name if group is not None else food
        if is_told or is_known_food(food):
            each_kind: LimitKind = "avoid" if kind == "diet" else kind
            yield Limit(each_kind, subject, who)
            if each_kind == "avoid":
                # Whoever checks an allergy takes in by itself what is meant along with it.
                yield from (Limit(each_kind, kin, who) for kin in also_meant(food))


def _is_slip(word: str) -> bool:
    return not is_known_food(word) and nearest_allergen(word) is not None


def _enumerated(text: str) -> list[str]:
    """Return the things somebody is said to be allergic to."""
    plain = _FORMS["allowed"].sub("", text)
    plain = _FORMS["not_now"].sub("", _FORMS["stop"].sub("", plain))
    parts = (_ARTICLE.sub("", part.strip(" .'\"“”")) for part in _LISTED.split(plain))
    return [each.casefold() for each in parts if each and len(each.split()) <= _LONGEST]


def foods_named(text: str) -> Iterator[str]:
    """Yield the foods a text names, the longest name at each place."""
    words = re.findall(r"[\w'’-]+", text)
    at = 0
    while at < len(words):
        for size in range(min(_LONGEST, len(words) - at), 0, -1):
            name = " ".join(words[at : at + size])
            if _is_food(name, size):
                yield name.casefold()
                at += size - 1
                break
        at += 1


def _is_food(name: str, size: int) -> bool:
    words = food_words(name)
    if len(words) > size + 1 or not words or words[0] in _ME or len(name) < 3:
        return False
    if group_called(words) is not None or any(words in g.words for g in food_groups().values()):
        return True
    return is_listed(name)


def _settled(limit: Limit, meant: str | None, answer: str) -> Limit:
    """Return a limit after the answer to what was asked about it."""
    if meant and _YES.match(answer):
        return Limit(limit.kind, meant, limit.who)
    said = re.sub(r"^(?:no|nope|i mean[t]?|it's|,|\s)+", "", answer, flags=re.I).strip()
    if not said or _YES.match(said):
        return limit
    return Limit(limit.kind, canonical_allergies([said])[0], limit.who)


_COLUMNS: Final = {"allergy": "allergies", "diet": "diet", "avoid": "dislikes"}


async def _noting(situation: Situation, limits: Sequence[Limit]) -> Routed:
    profile = await situation.profile()
    values: dict[str, list[Any]] = {}
    for each in limits:
        column = "eaters" if each.who else _COLUMNS[each.kind]
        said = each.line() if each.who else each.subject
        known = values.setdefault(column, list(profile.get(column) or []))
        if said not in known:
            known.append(said)
    told = "; ".join(_told(limits))
    steps = situation.steps
    own = {"field": "household_size", "op": "gte", "value": 1}
    steps.write(told, op="update", table="user_profile", filters=[own], set=values)
    return steps.done(told)


def _told(limits: Sequence[Limit]) -> Iterator[str]:
    by_kind: dict[tuple[str, str], list[str]] = {}
    for each in limits:
        by_kind.setdefault((each.who, each.kind), []).append(each.subject.replace("_", " "))
    for (who, kind), subjects in by_kind.items():
        column = _COLUMNS[kind] if not who else f"for {who}, {kind}"
        yield f"Note {column}: {names(subjects)}"
