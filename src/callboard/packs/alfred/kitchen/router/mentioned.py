"""Mentioned: what is wanted with the things a message names, where no clause is plain.

The guess says what is wanted, the scan says of what. Both must be sure of every clause: then it is
done. Where they are not, it is shown as it was read, and waits for a yes.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from callboard.choreography.turn.domain import Routed
from callboard.packs.alfred.kitchen.hearing.clauses import Clause, split_clauses
from callboard.packs.alfred.kitchen.hearing.intents import Guess, guess_intent
from callboard.packs.alfred.kitchen.hearing.mentions import Mention, Mentions, find_mentions
from callboard.packs.alfred.kitchen.router.requests import CHANGES
from callboard.packs.alfred.kitchen.router.situation import Situation
from callboard.packs.alfred.kitchen.router.words import PLACE

RouteForm = Callable[[Situation], Awaitable[Routed | None]]
SURE_TO_DO: Final = 0.92
_SURE_OF_PART: Final = 0.6
_LEAST: Final = 0.35
_STOCK: Final = ("add_stock", "use_stock", "add_list", "remove_list")
_IDLE: Final = ("small_talk", "other", "ask_back", "correction")
_MOST_CLAUSES: Final = 6
_LEFT: Final = re.compile(r"\b(?:left|remaining|remain|down to)\b", re.I)
_PLACED: Final = re.compile(rf"\b(?:in|into|to|of)\s+(?:the|my|our)\s+(?P<place>{PLACE})\b", re.I)


@dataclass(frozen=True, slots=True)
class MentionReading:
    """What was read of one message: what to do in the words of the forms, and how sure that is."""

    said: tuple[str, ...]
    aside: tuple[str, ...]
    is_sure: bool


async def route_mentioned(situation: Situation, form: RouteForm) -> Routed | None:
    """Do what is wanted with the things a message names; propose it where that is not sure."""
    reading = read_mentioned(situation.text)
    if reading is None:
        return None
    steps = ()
    goals: list[str] = []
    group = situation.first_group
    for said in reading.said:
        routed = await form(situation.saying(said, group))
        if routed is None or not routed.steps:
            return None
        steps += routed.steps
        goals.append(routed.goal)
        group = max(step.group for step in routed.steps) + 1
    aside = tuple(f"I left aside “{each}”" for each in reading.aside)
    is_open = not reading.is_sure
    return Routed(
        steps=steps, goal="; ".join(goals), assumptions=aside, weak=is_open, unsure=is_open
    )


def read_mentioned(text: str) -> MentionReading | None:
    """Return what a message wants with the things it names, or None if it names none."""
    whole, clauses = guess_intent(text), split_clauses(text)
    if not 0 < len(clauses) <= _MOST_CLAUSES or any(each.is_question for each in clauses):
        return None
    if whole.of(*_STOCK) < _LEAST or CHANGES.search(text):
        return None
    heard = [_heard(clause, whole, len(clauses)) for clause in clauses]
    if any(each.is_unreal for each in heard):
        return None
    intents = {each.intent for each in heard if each.found.named}
    if len(intents) == 1:
        # One wish: an amount may stand in a sentence of its own. "Got the turkey. 5.2 kg."
        intent = intents.pop()
        told, found = [_said(text, intent, find_mentions(text))], find_mentions(text)
        if len({each.name for each in found.named}) < len(found.named):
            # What is named twice is told twice, or done twice: nobody can tell.
            return None
        is_sure = not found.doubts and _is_plain(found, intent)
    else:
        told = [_said(e.clause.text, e.intent, e.found) for e in heard if e.found.named]
        is_sure = False
    said = tuple(each for each in told if each is not None)
    if not said or len(said) < len(told):
        return None
    aside = [e.clause.text for e in heard if not e.found.named and not _AMOUNT.match(e.clause.text)]
    is_sure = is_sure and whole.certainty >= SURE_TO_DO and whole.intent in _STOCK
    return MentionReading(said, tuple(aside), is_sure and all(each.is_sure for each in heard))


@dataclass(frozen=True, slots=True)
class _HeardClause:
    clause: Clause
    found: Mentions
    intent: str
    is_sure: bool
    is_unreal: bool


_AMOUNT: Final = re.compile(r"^(?:about )?\d[\d.,/]* ?[a-z]{0,6}$", re.I)
_NUMBER: Final = re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten)\b", re.I)
_BOUND: Final = ("if", "because", "which", "unless")


def _heard(clause: Clause, whole: Guess, count: int) -> _HeardClause:
    found = find_mentions(clause.text)
    if found.named:
        intent, is_sure = _intent(clause, whole, count)
        is_unreal = clause.is_unreal or clause.bound in _BOUND
        return _HeardClause(clause, found, intent, is_sure, is_unreal)
    return _HeardClause(clause, found, "", _is_idle(clause, whole), is_unreal=False)


def _intent(clause: Clause, whole: Guess, count: int) -> tuple[str, bool]:
    """Return what a clause wants: what the whole message does, unless it says something else."""
    stock = next(name for name, _ in whole.ranked if name in _STOCK)
    if count == 1:
        return stock, True
    own = guess_intent(clause.text)
    if own.intent in _STOCK and own.certainty >= _SURE_OF_PART:
        return own.intent, own.intent == stock or own.certainty >= SURE_TO_DO
    return stock, own.of(stock) > _LEAST or own.intent in _IDLE


def _is_idle(clause: Clause, whole: Guess) -> bool:
    """Say whether a clause that names nothing wants nothing of its own."""
    if _AMOUNT.match(clause.text):
        return True
    if clause.act in ("put", "fetch", "need", "remove", "unwanted") or _NUMBER.search(clause.text):
        return False
    own = guess_intent(clause.text)
    return own.intent in (*_IDLE, whole.intent) or own.certainty < SURE_TO_DO


def _is_plain(found: Mentions, intent: str) -> bool:
    if intent == "use_stock":
        return not any(each.is_vague for each in found.named)
    if intent == "add_stock" and found.is_made:
        return False
    return not any(each.is_denied for each in found.named) or intent == "add_stock"


def _said(text: str, intent: str, found: Mentions) -> str | None:
    things = [each for each in found.named if not (each.is_denied and intent == "add_stock")]
    if not things:
        return None
    plain = ", ".join(each.said for each in things)
    match intent:
        case "add_stock":
            place = _PLACED.search(text)
            return f"bought {plain}" if place is None else f"put {plain} in the {place['place']}"
        case "use_stock":
            return _used(text, things)
        case "add_list":
            return f"add {plain} to the shopping list"
        case _:
            named = ", ".join(each.name for each in things)
            return f"remove {named} from the shopping list"


def _used(text: str, things: Sequence[Mention]) -> str:
    if _LEFT.search(text) and all(each.has_amount for each in things):
        return f"i have {', '.join(each.said for each in things)}"
    whole = [replace(each, said=each.name) if _is_all(each) else each for each in things]
    return f"used {', '.join(each.said for each in whole)}"


def _is_all(thing: Mention) -> bool:
    return thing.is_denied or (thing.is_whole and not thing.has_amount)
