"""Requests: what a clause asks for or tells, in the words of the forms a kitchen has.

A clause becomes a request only where what is done and what it is done to are both plain. What only
remarks on something is told as left aside; what may be more than a remark makes all unclear.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from callboard.packs.alfred.kitchen.hearing.clauses import Clause
from callboard.packs.alfred.kitchen.hearing.intents import guess_intent
from callboard.packs.alfred.kitchen.hearing.speech import lexicon
from callboard.packs.alfred.kitchen.router.things import Things, named_foods, read_list


class Kind(StrEnum):
    """What a clause is good for."""

    REQUEST = "request"
    REMARK = "remark"
    QUESTION = "question"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class HeardClause:
    """What a clause comes to."""

    kind: Kind
    said: str = ""
    intent: str = ""
    remarks: tuple[str, ...] = ()


_UNCLEAR: Final = HeardClause(Kind.UNCLEAR)
# Above it, a guess that speaks against a request is heeded.
_AGAINST: Final = 0.85
NEVER_DONE: Final = frozenset({"small_talk", "recipe_question", "correction", "cook", "scale"})
_WANTING: Final = frozenset({"plan_meal", "scale", "cook", "remove_list", "add_list"})
_WANTED: Final = 0.6
_CHANGES: Final = re.compile(
    r"\b(?:except|apart from|other than|all but|everything but|but not|instead of|rather than|"
    r"minus|without|twice|as much|as many|not \d|each|per)\b",
    re.I,
)
_WHY: Final = ("because", "since", "which", "cause", "though", "although", "while")
_THEIRS: Final = frozenset({"they", "it", "he", "she", "that", "this"})
_THEY: Final = ("they ", "it ", "he ", "she ", "that ", "those ")
_POINTING: Final = re.compile(
    r"^(?:it|them|that|those|some|both|the lot|these)"
    r"(?=\s*$|\s+(?:on|off|to|in|into|back|out|too|again|from|away|already|please)\b)",
    re.I,
)
_THINGS: Final = frozenset({"that", "this", "it"})
_AND: Final = re.compile(r"^(?:oh|ah|and|also|plus|oh,? and|and also)[, ]+(?:and )?", re.I)
_RECIPIENT: Final = re.compile(
    r"^(?:(?:the|my|our|his|her) )?(?P<who>[\w-]+)\s+(?=(?:an?|the|some|half|two|three|"
    r"four|our|my|\d)\b)",
    re.I,
)
_TO_WHOM: Final = re.compile(r"\s+to\s+(?:the|my|our|a|an|[A-Z])\b.*$", re.S)
_EATEN_AT: Final = re.compile(
    r"\bfor (?:breakfast|lunch|dinner|tea|supper|a snack)\b|\bleftover", re.I
)
_TAKEN_OUT: Final = re.compile(r"\bout\b", re.I)
_NO_MORE: Final = re.compile(r"(?<=[,\s])no (?:more )?(?=\w)", re.I)
_LEFT: Final = re.compile(r"\b(?:left|remaining)\b", re.I)
_MOST_LEFT_WORDS: Final = 12
_TREATED: Final = re.compile(r"(?:double|leave|keep|clear|halve)\b", re.I)
_PETS: Final = frozenset(
    ["cat", "dog", "cats", "dogs", "mice", "mouse", "rabbit", "puppy", "kitten", "birds"]
)
_THAW: Final = re.compile(r"\b(?:thaw|defrost|for tomorrow|to soften)\b", re.I)


def hear_all(clauses: Sequence[Clause]) -> list[HeardClause]:
    """Return what the clauses of a message come to; "it" is what the one before named."""
    heard: list[HeardClause] = []
    topic: list[str] = []
    for clause in clauses:
        if clause.act and _POINTING.match(clause.rest):
            if not topic or clause.is_unreal:
                heard.append(_UNCLEAR)
                continue
            rest = _POINTING.sub(", ".join(topic), clause.rest, count=1)
            now = hear(replace(clause, rest=rest))
            if now.kind is Kind.REQUEST and heard[-1].kind is Kind.UNCLEAR:
                # What was only named for this.
                heard[-1] = HeardClause(Kind.REMARK, clauses[len(heard) - 1].text)
            if clause.act == "put" and now.kind is Kind.UNCLEAR and _is_noted(heard):
                now = HeardClause(Kind.REMARK, clause.text)
            heard.append(now)
            continue
        heard.append(hear(clause))
        topic = list(named_foods(clause.rest or clause.text)) or topic
    return heard


def _is_noted(heard: Sequence[HeardClause]) -> bool:
    return bool(heard) and heard[-1].intent == "add_stock"


def hear(clause: Clause) -> HeardClause:
    """Return what one clause comes to."""
    if clause.is_question and clause.act not in ("unwanted",):
        return HeardClause(Kind.QUESTION, clause.text)
    is_theirs = set(clause.before[:1]) & _THEIRS or clause.text.casefold().startswith(_THEY)
    if clause.bound == "if" and is_theirs:
        return HeardClause(Kind.REMARK, clause.text)
    if clause.bound == "if" or (clause.is_unreal and _POINTING.match(clause.rest)):
        return _UNCLEAR
    if clause.bound in _WHY or clause.is_unreal or (clause.bound and is_theirs):
        return HeardClause(Kind.REMARK, clause.text)
    if not clause.act:
        return _without_act(clause)
    if _CHANGES.search(clause.rest) or _CHANGES.search(" ".join(clause.before)):
        return _UNCLEAR
    if set(clause.before[:1]) & _THINGS or (clause.act == "need" and not _is_ours(clause)):
        return _UNCLEAR
    made = _made(clause)
    if made.kind is Kind.REQUEST:
        guess = guess_intent(clause.text)
        if guess.intent in NEVER_DONE and guess.certainty >= _AGAINST:
            return _UNCLEAR
    return made


def _is_ours(clause: Clause) -> bool:
    """Say whether it is the cook who needs something, and not the plants."""
    return not clause.before or bool({"i", "we", "you"} & set(clause.before))


def _without_act(clause: Clause) -> HeardClause:
    """Tell a remark from what may change the meaning of the rest."""
    header, colon, rest = clause.text.partition(":")
    if colon and rest.strip():
        return _headed(clause.text, header, rest)
    things = read_list(clause.text)
    is_plain = not _CHANGES.search(clause.text) and not _TREATED.match(clause.text)
    if things is not None and things.is_listed and things.is_known and is_plain:
        return _listing(things)
    if named_foods(clause.text) or re.search(r"\d", clause.text) or _may_matter(clause.text):
        return HeardClause(Kind.UNCLEAR, clause.text)
    return HeardClause(Kind.REMARK, clause.text)


def _may_matter(text: str) -> bool:
    """Say whether a clause without a plain doing may want something all the same."""
    guess = guess_intent(text)
    return guess.intent in _WANTING and guess.certainty >= _WANTED


def _headed(text: str, header: str, rest: str) -> HeardClause:
    """Read a list that says in front what it is."""
    things = read_list(rest)
    guess = guess_intent(text)
    if things is None or not things.said or _CHANGES.search(rest):
        return _UNCLEAR
    if guess.intent == "add_stock" and guess.certainty >= 0.5:
        place = read_list(f"milk in the {header.split()[-1]}")
        where = "" if place is None else place.place
        return _stocked(things, where)
    if guess.intent == "add_list" and guess.certainty >= 0.5:
        return _listing(things)
    return _UNCLEAR


def _made(clause: Clause) -> HeardClause:
    act, rest = clause.act, clause.rest
    if act == "out_of":
        rest = _NO_MORE.sub("", rest)
    if act == "given":
        told = _RECIPIENT.match(rest)
        rest = rest[told.end() :] if told is not None else _TO_WHOM.sub("", rest)
        if rest == clause.rest:
            return _UNCLEAR
    if act == "put" and re.match(r"(?:that|it|them|down that)\b", rest, re.I):
        return _UNCLEAR
    if act == "had" and not _EATEN_AT.search(rest):
        return _UNCLEAR
    if act == "taken" and (not _TAKEN_OUT.search(rest) or _THAW.search(rest)):
        return _UNCLEAR
    things = read_list(rest)
    if things is None:
        return _UNCLEAR
    return _of(clause, act, things)


def _of(clause: Clause, act: str, things: Things) -> HeardClause:
    if act == "acquired" and set(clause.before) & _PETS:
        act = "consumed"
    match act:
        case "acquired":
            return _acquired(things)
        case "fetch" | "need" | "put":
            return _wanted(clause, act, things)
        case "have":
            return _there(clause, things)
        case "consumed" | "thrown" | "taken" | "given" | "had" | "gone":
            return _used(act, things)
        case "out_of":
            return _run_out(things)
        case "unwanted":
            return _off(things)
        case _:
            return _UNCLEAR


def _acquired(things: Things) -> HeardClause:
    if not things.said or things.is_listed or (things.is_whole and not things.is_known):
        return _UNCLEAR
    return _stocked(things, things.place)


def _wanted(clause: Clause, act: str, things: Things) -> HeardClause:
    """Put on the list what is to be bought; what is put somewhere goes there."""
    if act == "put" and things.place and not things.is_listed:
        return _stocked(things, things.place)
    is_said = {
        "fetch": not clause.has_subject or clause.is_request,
        "put": things.is_listed or clause.text.casefold().startswith("add"),
    }.get(act, True)
    return _listing(things) if is_said else _UNCLEAR


def _run_out(things: Things) -> HeardClause:
    if not things.is_known or things.remarks or not things.said:
        return _UNCLEAR
    return HeardClause(Kind.REQUEST, f"we're out of {things.text}", "use_stock", things.remarks)


def _listing(things: Things) -> HeardClause:
    if not things.said:
        return _UNCLEAR
    said = f"add {things.text} to the shopping list"
    return HeardClause(Kind.REQUEST, said, "add_list", things.remarks)


def _stocked(things: Things, place: str) -> HeardClause:
    if not things.said:
        return _UNCLEAR
    named = (*things.said, *things.vague)
    text = ", ".join(named)
    said = f"put {text} in the {place}" if place else f"bought {text}"
    return HeardClause(Kind.REQUEST, said, "add_stock", things.remarks)


def _there(clause: Clause, things: Things) -> HeardClause:
    if not things.is_known or not things.said or things.vague or things.remarks:
        return _UNCLEAR
    place = f" in the {things.place}" if things.place else ""
    left = "use_stock" if _LEFT.search(clause.rest) else "add_stock"
    said = [re.sub(r"\s+left\b.*$", "", each, flags=re.I) for each in things.said]
    return HeardClause(Kind.REQUEST, f"i have {', '.join(said)}{place}", left)


def _used(act: str, things: Things) -> HeardClause:
    if things.remarks or not things.said or not (things.is_known or act == "gone"):
        is_leftover = things.said and all("leftover" in each for each in things.said)
        if not is_leftover:
            return _UNCLEAR
    text = ", ".join([*things.said, *(f"a bit of {each}" for each in things.vague)])
    said = f"{text} is gone" if act == "gone" else f"used {text}"
    return HeardClause(Kind.REQUEST, said, "use_stock")


def _off(things: Things) -> HeardClause:
    if not things.said or not things.is_known:
        return _UNCLEAR
    said = f"remove {things.text} from the shopping list"
    return HeardClause(Kind.REQUEST, said, "remove_list", things.remarks)


def is_pointing(text: str) -> bool:
    """Say whether a text only points at something said before."""
    return set(text.casefold().split()) <= set(lexicon()["no_things"])
