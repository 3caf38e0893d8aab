"""Routing: a message becomes steps if code is sure of every part of it, else nothing.

Whatever a message holds is only ever a value in a filter or a record.
"""

import re
from collections.abc import Awaitable, Callable
from typing import Final

from callboard.choreography.turn.domain import Routed
from callboard.packs.alfred.kitchen.router.dishes import route_dishes
from callboard.packs.alfred.kitchen.router.links import route_links
from callboard.packs.alfred.kitchen.router.manners import route_manners
from callboard.packs.alfred.kitchen.router.marking import route_marking
from callboard.packs.alfred.kitchen.router.meals import route_meals
from callboard.packs.alfred.kitchen.router.people import route_people
from callboard.packs.alfred.kitchen.router.planning import route_planning
from callboard.packs.alfred.kitchen.router.preparations import route_preparations
from callboard.packs.alfred.kitchen.router.provisions import route_provisions
from callboard.packs.alfred.kitchen.router.showing import route_showing
from callboard.packs.alfred.kitchen.router.situation import Situation
from callboard.packs.alfred.kitchen.router.statements import route_statements
from callboard.packs.alfred.kitchen.router.stock import route_adding
from callboard.packs.alfred.kitchen.router.taking import route_taking
from callboard.packs.alfred.kitchen.router.tasks import route_tasks
from callboard.packs.alfred.kitchen.router.wishes import route_wishes
from callboard.packs.alfred.kitchen.router.words.targets import TARGET

Route = Callable[[Situation], Awaitable[Routed | None]]

LONGEST_MESSAGE: Final = 2_000
"""A longer message is no plain request; code does not try to read it."""
_MOST_PARTS: Final = 4
# Whoever is asked first has the more particular forms.
_ROUTES: Final[tuple[Route, ...]] = (
    route_manners,
    route_links,
    route_preparations,
    route_tasks,
    route_people,
    route_provisions,
    route_marking,
    route_meals,
    route_dishes,
    route_planning,
    route_wishes,
    route_showing,
    route_taking,
    route_statements,
    route_adding,
)
_VERBS: Final = (
    "add|put|buy|remove|delete|take|show|list|check|mark|set|update|move|plan|suggest|save|remind|"
    "make|rate|rename|clear|tell"
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
    whole = await _route(situation) if _THEN.search(situation.text) is None else None
    if whole is not None:
        return whole
    return await _parts(situation) or await _route(situation)


async def _route(situation: Situation) -> Routed | None:
    for route in _ROUTES:
        routed = await route(situation)
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
