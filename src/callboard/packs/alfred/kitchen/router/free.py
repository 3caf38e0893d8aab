"""Free wording: what no form has is understood clause by clause, else guessed, else asked about.

Something is written only where every clause is plain. A guess may answer, show and walk on; it
never writes. Where it is not sure enough, two or three things that may be meant are named.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from callboard.choreography.turn.domain import Routed
from callboard.choreography.turn.shapes import ThinkStep
from callboard.packs.alfred.kitchen.hearing.clauses import split_clauses
from callboard.packs.alfred.kitchen.hearing.intents import Guess, guess_intent
from callboard.packs.alfred.kitchen.hearing.speech import asking, full_words
from callboard.packs.alfred.kitchen.router.guessed import answer_guess, tell_made
from callboard.packs.alfred.kitchen.router.plainness import plainest
from callboard.packs.alfred.kitchen.router.requests import NEVER_DONE, Kind, hear_all
from callboard.packs.alfred.kitchen.router.situation import Situation
from callboard.packs.alfred.kitchen.router.things import named_foods, read_list

RouteForm = Callable[[Situation], Awaitable[Routed | None]]
# What only answers may be wrong more often than what writes.
_SURE: Final = 0.42
_SURE_HARMLESS: Final = 0.7
_HARMLESS: Final = ("small_talk", "other", "recipe_question")
# What is only answered, and so hides what it was not.
_SAID_ONLY: Final = ("small_talk", "other", "recipe_question", "show")
_ONE_CLAUSE: Final = ("plan_meal", "scale", "cook", "remove_list", "show")
_IDLE: Final = ("small_talk", "other", "ask_back")
_ORDERING: Final = ("put", "fetch", "need", "remove", "unwanted")
_SURE_OF_CLAUSE: Final = 0.7
_AGAINST: Final = 0.6
_TAKEN_BACK: Final = re.compile(
    r"(?:never ?mind|ne'er mind|forget (?:it|that|about it)|scratch that|cancel that)\b.{0,12}$",
    re.I,
)
_MOST_CLAUSES: Final = 6
_CHOICES: Final = {
    "add_stock": "note it as in the house",
    "use_stock": "take it out of the house",
    "add_list": "put it on the shopping list",
    "remove_list": "take it off the shopping list",
    "plan_meal": "plan a meal",
    "cook": "go on cooking",
    "scale": "change the number of portions",
    "correction": "correct what was noted last",
    "show": "show what there is",
    "recipe_question": "find recipes",
}
_SAID: Final = {
    "add_stock": "bought {x}",
    "use_stock": "used {x}",
    "add_list": "add {x} to the shopping list",
    "remove_list": "remove {x} from the shopping list",
    "show": "do I have {x}",
    "recipe_question": "what can I make with {x}",
}
_ANSWERS: Final = (
    ("remove_list", re.compile(r"\b(?:off|remove|delete)\b", re.I)),
    ("add_list", re.compile(r"\b(?:list|buy|shopping|need)\b", re.I)),
    ("use_stock", re.compile(r"\b(?:used|gone|out|take|ate|eaten|finished)\b", re.I)),
    ("add_stock", re.compile(r"\b(?:house|home|stock|bought|have|fridge|freezer|in)\b", re.I)),
    ("show", re.compile(r"\bshow|see|look\b", re.I)),
    ("recipe_question", re.compile(r"\brecipes?\b", re.I)),
)  # fmt: skip
_WRITING: Final = (
    "add_stock", "use_stock", "add_list", "remove_list", "correction", "plan_meal",
)  # fmt: skip
# So likely, something is to be written and not only answered.
_MAY_WRITE: Final = 0.2
_MAY_WRITE_ASKED: Final = 0.35
_MATTERS: Final = frozenset(
    ["acquired", "consumed", "thrown", "need", "put", "out_of", "given", "unwanted", "remove"]
)
_ANSWERED: Final = re.compile(r"^(?P<request>.+\S)\s+\((?P<answer>[^()]{1,80})\)$", re.S)


async def route_clauses(situation: Situation, form: RouteForm) -> Routed | None:
    """Route a message whose every clause is plain; nothing if one is not."""
    clauses = [] if _ANSWERED.match(situation.text) else split_clauses(situation.text)
    if not clauses or len(clauses) > _MOST_CLAUSES:
        return None
    if _TAKEN_BACK.match(clauses[-1].text) and len(clauses) > 1:
        return Routed(reply="All right, I left everything as it is.")
    heard = hear_all(clauses)
    if not any(each.kind is Kind.REQUEST for each in heard):
        return None
    whole = guess_intent(situation.text)
    if whole.intent in NEVER_DONE and whole.certainty >= _AGAINST:
        return None
    steps = ()
    goals: list[str] = []
    told: list[str] = []
    group = situation.first_group
    for clause, each in zip(clauses, heard, strict=True):
        if each.kind is Kind.REMARK:
            told.append(clause.text)
            continue
        said = each.said if each.kind is Kind.REQUEST else clause.text
        routed = await form(situation.saying(said, group))
        if routed is None and each.kind is Kind.QUESTION:
            told.append(clause.text)
            continue
        if routed is None or (routed.steps and each.kind is not Kind.REQUEST and _writes(routed)):
            return None
        if not routed.steps:
            # What cannot be reckoned with is told or asked; the rest waits for that.
            return routed
        told += each.remarks
        steps, goals = _joined(steps, goals, routed)
        group = max(step.group for step in routed.steps) + 1
    aside = tuple(f"I left aside “{each}”" for each in told)
    return Routed(steps=steps, goal="; ".join(goals), assumptions=aside)


def _joined(
    steps: tuple[ThinkStep, ...], goals: list[str], routed: Routed
) -> tuple[tuple[ThinkStep, ...], list[str]]:
    """Add what a clause wants; said twice is wanted once: "out of milk, put it on the list"."""
    made = [step.write for step in steps]
    if all(step.write is not None and step.write in made for step in routed.steps):
        return steps, goals
    return steps + routed.steps, [*goals, routed.goal]


def _writes(routed: Routed) -> bool:
    return any(step.write is not None for step in routed.steps)


def has_request(text: str) -> bool:
    """Say whether a clause of a message plainly asks for something that is to be written."""
    return any(each.kind is Kind.REQUEST for each in hear_all(split_clauses(text)))


async def route_guess(situation: Situation, form: RouteForm) -> Routed | None:
    """Answer what is most likely wanted; where that is not sure, name what may be."""
    answered = _ANSWERED.match(situation.text)
    if answered is not None:
        return await _chosen(situation, answered["request"], answered["answer"], form)
    routed = await _guessed(situation, form)
    return plainest(situation, routed) or _asked_back(situation.text)


async def _guessed(situation: Situation, form: RouteForm) -> Routed | None:
    made = await tell_made(situation)
    if made is not None:
        return replace(made, weak=True)
    guess = guess_intent(situation.text)
    is_sure = guess.certainty >= _SURE or guess.of(*_HARMLESS) >= _SURE_HARMLESS
    # To answer one half of a message would hide that the other was not done.
    is_safe = guess.intent in NEVER_DONE or not has_request(situation.text)
    if is_sure and is_safe and not (guess.intent in _SAID_ONLY and _may_want(situation, guess)):
        routed = await _main_clause(situation, guess, form)
        routed = routed or await answer_guess(situation, guess, form)
        return None if routed is None else replace(routed, weak=True)
    return None


async def _main_clause(situation: Situation, guess: Guess, form: RouteForm) -> Routed | None:
    """Route the one clause that wants what the message wants, if the others only remark on it."""
    clauses = split_clauses(situation.text)
    if guess.intent not in _ONE_CLAUSE or not 1 < len(clauses) <= _MOST_CLAUSES:
        return None
    own = [guess_intent(each.text) for each in clauses]
    main = [at for at, each in enumerate(own) if each.intent == guess.intent]
    idle = [
        at
        for at, each in enumerate(own)
        if each.intent in _IDLE and at not in main and clauses[at].act not in _ORDERING
    ]
    if len(main) != 1 or len(idle) != len(clauses) - 1 or own[main[0]].certainty < _SURE_OF_CLAUSE:
        return None
    part = situation.saying(clauses[main[0]].text, situation.first_group)
    routed = await form(part) or await answer_guess(part, own[main[0]], form)
    if routed is None or not routed.steps:
        return routed
    aside = tuple(f"I left aside “{clauses[at].text}”" for at in idle)
    return replace(routed, assumptions=(*routed.assumptions, *aside))


async def _chosen(situation: Situation, said: str, answer: str, form: RouteForm) -> Routed | None:
    """Do what somebody picked when they were asked what they mean."""
    if not set(named_foods(answer)) <= set(named_foods(said)):
        # Who names another food has gone on to something else.
        other = situation.saying(answer, situation.first_group)
        return plainest(other, await form(other)) or _asked_back(answer)
    intent = next((name for name, words in _ANSWERS if words.search(answer)), None)
    things = read_list(split_clauses(said)[0].rest or said) if split_clauses(said) else None
    if intent not in _SAID or things is None or not things.said:
        return None
    return await form(situation.saying(_SAID[intent].format(x=things.text), situation.first_group))


def _asked_back(text: str) -> Routed:
    """Return the question what is meant, with two or three things that may be."""
    guess = guess_intent(text)
    foods = named_foods(text)[:3]
    likely = [name for name, value in guess.ranked if name in _CHOICES and value > 0.04]
    if foods:
        likely = [n for n in likely if n in _SAID] + ["add_list", "add_stock", "show"]
    chosen = list(dict.fromkeys([*likely, "add_list", "show"]))[:3]
    named = [_CHOICES[each] for each in chosen]
    about = f" about {', '.join(foods)}" if foods else ""
    question = (
        f"I could not tell what you mean{about}, so nothing was changed. "
        f"Shall I {', '.join(named[:-1])}, or {named[-1]}?"
    )
    return Routed(question=question, weak=True)


def _may_want(situation: Situation, guess: Guess) -> bool:
    """Say whether a message that would only be answered may want something written."""
    text = full_words(situation.text)
    first = text.casefold().split()[:1]
    asks = "?" in situation.asked.message or bool(set(first) & asking())
    if guess.of(*_WRITING) >= (_MAY_WRITE_ASKED if asks else _MAY_WRITE):
        return True
    if _TAKES_BACK.match(text):
        return True
    told = [each for each in split_clauses(text) if not (each.is_question or each.is_unreal)]
    return not asks and any(each.act in _MATTERS and named_foods(each.rest) for each in told)


_TAKES_BACK: Final = re.compile(
    r"(?:no|nope|wrong|wait|oops|forget|scratch|undo|not)\b(?!.*\b(?:problem|worries|idea)\b)", re.I
)
