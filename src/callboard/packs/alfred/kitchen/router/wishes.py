"""Wishes: what could be cooked from what is there, and something new."""

import re
from typing import Any, Final

from callboard.choreography.turn.domain import Routed
from callboard.packs.alfred.kitchen.lexicon import food_facts
from callboard.packs.alfred.kitchen.router.reads import read_profile, read_recipes, read_stock
from callboard.packs.alfred.kitchen.router.situation import Situation
from callboard.packs.alfred.kitchen.router.strategies import at_most_minutes, recipe_filters
from callboard.packs.alfred.kitchen.router.words.dates import DAY
from callboard.packs.alfred.kitchen.router.words.items import read_items
from callboard.packs.alfred.kitchen.router.words.lexicon import read_count
from callboard.packs.alfred.kitchen.safety.conflicts import Clash, find_clash

_WHEN: Final = rf"(?: (?:for \w+|now|from|with|using|out of|to use up|(?:on )?{DAY}))*"
_CAN_MAKE: Final = re.compile(
    rf"^what (?:can|could|should|shall) (?:i|we) (?:make|cook|eat|have){_WHEN}(?P<from>.*)$"
    r"|^(?P<verb>suggest|recommend|give me|show me|find(?: me)?|search for)(?: me| us)?"
    r" (?:a |an |some |any )?"
    r"(?P<kind>(?:[\w-]+ ){0,3}?)(?:recipes?|dish(?:es)?|meals?|dinner|lunch|ideas?"
    rf"|something(?: to (?:cook|eat|make))?){_WHEN}(?P<from2>.*)$"
    r"|^(?:(?:i|we)(?:'d like| want| need| fancy| feel like) )?something "
    rf"(?P<kind2>[\w-]+(?: [\w-]+){{0,2}}?)(?: to (?:cook|eat|make))?{_WHEN}$"
    r"|^(?:help me )?use up (?P<from3>.+)$"
    r"|^(?:any |some )?(?:dinner |meal |lunch |recipe )?ideas(?: for \w+)?$",
    re.I,
)
_PLAIN_KIND: Final = re.compile(r"(?:(?:new|good|nice|quick|easy) )*", re.I)
_IN_MINUTES: Final = re.compile(
    r"\s+(?:in|under|in under|in less than|within)\s+(?P<minutes>\d{1,3})\s*min(?:ute)?s?"
    r"(?: or less)?\b",
    re.I,
)
_OWN_STOCK: Final = re.compile(
    r"^(?:what(?:'s| is)?(?: (?:i|we))?(?: already)?(?: (?:have|have got|got|is))?|what"
    r"(?:ever)? (?:i|we) have|my |the |our |stuff|things|in|at|home|fridge|pantry|stock|kitchen"
    r"|inventory|right now|now|\s|,)*$",
    re.I,
)
_MAKE_ME: Final = re.compile(
    r"^(?:make|create|generate|invent|write|come up with|design|give|draft)(?: me| us)? (?:a "
    r"|an |some )?(?:new )?(?P<wish>.+?)(?: recipe)?(?: for (?P<people>\w+)(?: people"
    r"| persons)?)?$",
    re.I | re.S,
)


async def route_wishes(situation: Situation) -> Routed | None:
    """Route what needs more than one look: matching, inventing."""
    for route in (_can_make, _made_up):
        routed = await route(situation)
        if routed is not None:
            return routed
    return None


async def _can_make(situation: Situation) -> Routed | None:
    minutes = _IN_MINUTES.search(situation.text)
    found = _CAN_MAKE.match(_IN_MINUTES.sub("", situation.text))
    described = None if found is None else _described(found)
    if found is None or described is None:
        return None
    if minutes is not None:
        described.append(at_most_minutes(int(minutes["minutes"])))
    source = (found["from"] or found["from2"] or found["from3"] or "").strip(" ,?")
    if source and not _OWN_STOCK.match(source):
        held = await _held(situation, source)
        if held is None:
            return None
        described += held
    steps = situation.steps
    filters = described
    likely = None if filters else await situation.likely(())
    read = [
        read_recipes(steps, 0, filters, likely),
        read_stock(steps, 0, likely),
        read_profile(steps, 0),
    ]
    told = "See what can be made with what is there"
    steps.analyze(
        told, "recipes", 1, "match_recipes", read, constraints=list(situation.asked.constraints)
    )
    return Routed(steps=tuple(steps.made), goal=told)


async def _held(situation: Situation, source: str) -> list[dict[str, Any]] | None:
    """Return what recipes must hold or must not, or None if that names no food anybody knows."""
    plain = re.sub(r"^(?:with|using|from|the|my)\s+", "", source, flags=re.I)
    is_plain = re.match(r"(?:without|under|in under|that)\b", plain, re.I) is None
    said = f"with {plain}" if is_plain else plain
    for word in re.split(r"\b(?:with|without)\b", said, flags=re.I):
        for item in read_items(re.sub(r"\s+(?:under|in under|within)\b.*", "", word.strip())):
            near = {"field": "name", "op": "ilike", "value": f"%{item.name.replace('%', '')}%"}
            if not food_facts(item.name).is_food and not await situation.rows(
                table="ingredients", columns=["id"], filters=[near], limit=1
            ):
                return None
    return recipe_filters("", said)


def _described(found: re.Match[str]) -> list[dict[str, Any]] | None:
    """Return what the words before "dinner" ask for, or None if they say nothing here."""
    kind = found["kind"] or found["kind2"] or ""
    if str(found["verb"] or "").casefold() in ("give me", "show me"):
        # Whoever wants a certain dish shown or given asks for something else.
        return [] if _PLAIN_KIND.fullmatch(kind) else None
    return recipe_filters(kind, "")


async def _made_up(situation: Situation) -> Routed | None:
    found = _MAKE_ME.match(situation.text)
    if found is None or re.match(r"^(?:it|that|this)\b", found["wish"], re.I):
        return None
    known = await situation.rows(table="user_profile", limit=1)
    clash = find_clash(found["wish"], known[0] if known else None)
    if clash is not None and _must_ask(situation, clash):
        return Routed(question=clash.question)
    steps = situation.steps
    read = [read_stock(steps, 0), read_profile(steps, 0)]
    details: dict[str, Any] = {"wish": found["wish"].strip()[:200]}
    people = read_count(found["people"] or "")
    if people:
        details["servings"] = people
    told = f"Make up {found['wish'].strip()[:80]}"
    steps.generate(told, "recipes", 1, "recipe", read, **details)
    limit = "" if clash is None else clash.limit.replace("_", " ")
    assumptions = (f"Kept to {limit}: left out {clash.food}",) if clash is not None else ()
    return Routed(steps=tuple(steps.made), goal=told, assumptions=assumptions)


def _must_ask(situation: Situation, clash: Clash) -> bool:
    """Say whether a wish is asked about: it contradicts itself, and nobody has said what counts.

    What the profile forbids is simply left out.
    """
    is_answered = situation.text.endswith(")")
    may_ask = situation.asked.mode not in ("quick", "cook")
    return may_ask and not is_answered and not clash.is_from_profile
