"""Routing: a message becomes steps if code is sure of every part of it, else nothing.

Whatever a message holds is only ever a value in a filter or a record. The mode it sounds like is
only ever told, never imposed.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from callboard.choreography.turn.domain import Routed
from callboard.packs.alfred.kitchen.hearing.clauses import split_clauses
from callboard.packs.alfred.kitchen.router.free import has_request, route_clauses, route_guess
from callboard.packs.alfred.kitchen.router.limits import route_limits
from callboard.packs.alfred.kitchen.router.marking import route_marking
from callboard.packs.alfred.kitchen.router.meals import (
    route_meals,
    route_preparations,
    route_provisions,
)
from callboard.packs.alfred.kitchen.router.mentioned import route_mentioned
from callboard.packs.alfred.kitchen.router.people import route_manners, route_people, route_tasks
from callboard.packs.alfred.kitchen.router.plainness import plainest
from callboard.packs.alfred.kitchen.router.planning import route_planning
from callboard.packs.alfred.kitchen.router.recipes import route_dishes, route_links, route_wishes
from callboard.packs.alfred.kitchen.router.showing import route_showing
from callboard.packs.alfred.kitchen.router.situation import Situation
from callboard.packs.alfred.kitchen.router.stock import route_adding, route_statements
from callboard.packs.alfred.kitchen.router.taking import route_taking
from callboard.packs.alfred.kitchen.router.words import TARGET, forms

_MODES: Final = (
    ("cook", re.compile(r"\b(?:i'm|i am|we're|we are) (?:making|cooking|baking|preparing)\b")),
    ("plan", re.compile(
        r"\bplan (?:my|our|the|out|all|dinners?|lunch(?:es)?|breakfasts?|meals?|next|this|a|\d)\b"
        r"|\bmeal plan for\b|\bplan\b.*\b(?:week|month|days)\b"
    )),
    ("create", re.compile(
        r"\b(?:make|create|invent|write|come up with|design)(?: me| us)? an? (?:new )?"
        r".*\b(?:recipe|pasta|soup|curry|salad|dish|bowl|dessert|cake|stew|bake|tacos?)\b"
    )),
    ("explore", re.compile(
        r"\b(?:suggest|ideas?|what (?:can|could|should) (?:i|we) (?:make|cook|eat)|inspire)\b"
    )),
    ("quick", re.compile(
        r"^\s*(?:please )?(?:add|put|buy|get|remove|delete|take|show|list|check|mark|set|update|"
        r"move|what'?s (?:in|on)|do (?:i|we) have|how (?:much|many)|remind|save|keep)\b"
    )),
)  # fmt: skip


# What a message wants stands at its beginning; what follows may be a whole recipe.
_LOOKED_AT: Final = 2_000


def mode_of(message: str) -> str | None:
    """Return the mode a message sounds like, or None if it fits any."""
    folded = message[:_LOOKED_AT].casefold().replace("’", "'")
    found = next((mode for mode, form in _MODES if form.search(folded)), None)
    # Who tells what was bought or used up wants it noted, not planned.
    return "quick" if found is None and has_request(message[:_LOOKED_AT]) else found


Route = Callable[[Situation], Awaitable[Routed | None]]

LONGEST_MESSAGE: Final = 2_000
"""A longer message is no plain request; code does not try to read it."""
_MOST_PARTS: Final = 4
# Which requests they are asked about, and in which order, the file of forms says.
_ROUTES: Final[Mapping[str, Route]] = {
    "manners": route_manners,
    "links": route_links,
    "preparations": route_preparations,
    "tasks": route_tasks,
    "limits": route_limits,
    "people": route_people,
    "provisions": route_provisions,
    "marking": route_marking,
    "meals": route_meals,
    "dishes": route_dishes,
    "planning": route_planning,
    "wishes": route_wishes,
    "showing": route_showing,
    "taking": route_taking,
    "statements": route_statements,
    "stock": route_adding,
}
_WHEN: Final = forms("routes")
_VERBS: Final = (
    "add|put|buy|remove|delete|take|show|list|check|mark|set|update|move|plan|suggest|save|remind|"
    "make|rate|rename|clear|tell|scratch|drop|cross|need|is there|are there|do we have|do i have|"
    "what's|what is"
)
_THEN: Final = re.compile(
    rf"\s*(?:[,;.]\s*)?(?:\band\s+)?\b(?:then|after that|afterwards)\b[,:]?\s+"
    rf"|\s*(?:[.;!?]|,?\s+and)\s+(?=(?:{_VERBS})\s)",
    re.IGNORECASE,
)

_ANSWERED: Final = re.compile(
    r"^(?P<request>(?:remove|delete|take)\s.+?)\s+\((?:(?:from|off|the|my|our|on|in)\s+)*"
    rf"(?P<target>{TARGET})\)$",
    re.I | re.S,
)


async def route_message(situation: Situation) -> Routed | None:
    """Return the steps a message plainly asks for, or None."""
    if not situation.text:
        return None
    answered = _ANSWERED.match(situation.text)
    if answered is not None:
        # A request with the answer to what was asked about it: which of two places was meant.
        told = f"{answered['request']} from the {answered['target']}"
        return await _route(situation.saying(told, situation.first_group))
    is_single = len(split_clauses(situation.text)) == 1
    routed = await _whole_or_parts(situation) if is_single else None
    routed = routed or await route_clauses(situation, _whole_or_parts)
    if routed is None and not is_single:
        routed = await _whole_or_parts(situation)
    plain = plainest(situation, routed)
    if plain is None or plain.unsure:
        # What the scan finds is named as foods are; what a form took for a name may be a sentence.
        mentioned = await route_mentioned(situation, _whole_or_parts)
        plain = plainest(situation, routed, mentioned)
    return plain or await route_guess(situation, _whole_or_parts)


async def _whole_or_parts(situation: Situation) -> Routed | None:
    whole = await _route(situation) if _THEN.search(situation.text) is None else None
    if whole is not None:
        return whole
    return await _parts(situation) or await _route(situation)


def routes_for(text: str) -> list[str]:
    """Return who is asked about a request, by its first word and its shape."""
    return [name for name, when in _WHEN.items() if when.search(text)]


async def _route(situation: Situation) -> Routed | None:
    for name in routes_for(situation.text):
        routed = await _ROUTES[name](situation)
        if routed is not None:
            return routed
    return None


async def _parts(situation: Situation) -> Routed | None:
    """Route a message of several parts; each waits for the one before."""
    parts = [part.strip() for part in _THEN.split(situation.text) if part and part.strip()]
    if not 1 < len(parts) <= _MOST_PARTS:
        return None
    steps = ()
    goals: list[str] = []
    assumptions: list[str] = []
    first_group = situation.first_group
    for part in parts:
        routed = await _route(situation.saying(part, first_group))
        if routed is None or not routed.steps:
            return None
        steps += routed.steps
        goals.append(routed.goal)
        assumptions += routed.assumptions
        first_group = max(step.group for step in routed.steps) + 1
    return Routed(steps=steps, goal="; ".join(goals), assumptions=tuple(dict.fromkeys(assumptions)))
