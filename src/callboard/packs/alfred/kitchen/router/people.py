"""People: what they say about themselves, want to be reminded of, or only say to be polite."""

import re
from collections.abc import Sequence
from typing import Any, Final

from callboard.choreography.turn.domain import Routed, Row
from callboard.knowledge.entities.matching import name_key
from callboard.packs.alfred.kitchen.food.diets import canonical_allergies, canonical_diets
from callboard.packs.alfred.kitchen.food.foods import OTHER, food_facts
from callboard.packs.alfred.kitchen.food.groups import group_called
from callboard.packs.alfred.kitchen.food.household import read_limit
from callboard.packs.alfred.kitchen.food.lexicon import food_words
from callboard.packs.alfred.kitchen.router.dates import find_when
from callboard.packs.alfred.kitchen.router.situation import WHOLE, Situation, among, names, same
from callboard.packs.alfred.kitchen.router.words import forms, keyed, kinds, read_count, read_things

_FORMS: Final = forms("people")

_DIET_WORDS: Final = {"celiac": "gluten-free", "coeliac": "gluten-free"}
_MOST_PEOPLE: Final = 50


async def route_people(situation: Situation) -> Routed | None:
    """Route what somebody says about themselves into their profile."""
    text = situation.text
    # Before anything is noted: who takes a limit back names it, too.
    lifted = _FORMS["lifted"].match(text)
    if lifted is not None:
        who = str(lifted["who"] or lifted["whose"]).casefold()
        return await _lifting(situation, who, lifted["what"] or lifted["gone"])
    for pattern, column in (
        (_FORMS["allergic"], "allergies"),
        (_FORMS["dislike"], "dislikes"),
        (_FORMS["avoid"], "dislikes"),
    ):
        found = pattern.match(text)
        if found is not None:
            said = next(part for part in found.groups() if part)
            return await _adding(situation, column, _listed(said))
    cannot = _FORMS["cannot"].match(text)
    if cannot is not None:
        foods = _listed(cannot["what"])
        # Somebody who cannot have dinner tonight is not allergic to it.
        is_food = all(food_facts(each).is_food or group_called(food_words(each)) for each in foods)
        return await _adding(situation, "allergies", foods) if is_food else None
    liked = _FORMS["like"].match(text)
    if liked is not None:
        cuisines = re.split(r",? and |, ?", liked["what"].casefold())
        return await _adding(situation, "favorite_cuisines", cuisines)
    diet = _FORMS["diet"].match(text)
    if diet is not None:
        return await _diet(situation, (diet["diet"] or diet["eats"]).casefold())
    for pattern, column in ((_FORMS["not_allergic"], "allergies"), (_FORMS["no_diet"], "diet")):
        found = pattern.match(text)
        if found is not None:
            return await _dropping(situation, column, found.groups()[0])
    return _numbers(situation)


def _numbers(situation: Situation) -> Routed | None:
    people = _FORMS["household"].match(situation.text)
    if people is not None:
        word = people["count"]
        count = read_count(word)
        if count is None or not 1 <= count <= _MOST_PEOPLE:
            return None
        return _setting(situation, {"household_size": int(count)}, f"Cook for {count:g}")
    units = _FORMS["units"].match(situation.text)
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
    known = list((await situation.profile()).get(column) or [])
    told = f"Note {column.replace('_', ' ')}: {names(list(added))}"
    return _setting(situation, {column: list(dict.fromkeys([*known, *added]))}, told)


async def _dropping(situation: Situation, column: str, said: str) -> Routed | None:
    canonical = canonical_allergies if column == "allergies" else canonical_diets
    gone = set(canonical(_listed(said)))
    known: list[str] = list((await situation.profile()).get(column) or [])
    if not gone & set(known):
        return None
    told = f"Take {said} off your {column}"
    return _setting(situation, {column: [each for each in known if each not in gone]}, told)


async def _lifting(situation: Situation, who: str, said: str) -> Routed | None:
    """Take limits off somebody who eats along; the write asks before it does."""
    gone = set(canonical_allergies(_listed(said)))
    lines: list[str] = list((await situation.profile()).get("eaters") or [])
    limits = {line: read_limit(line) for line in lines}
    dropped = [
        line
        for line, each in limits.items()
        if each is not None and each.who.casefold() == who and each.subject in gone
    ]
    if not dropped:
        return Routed(question=f"I have no such limit of {who} on file. Whose is it?")
    told = f"Take {names(sorted(gone))} off the limits of {who}"
    return _setting(situation, {"eaters": [each for each in lines if each not in dropped]}, told)


def _setting(situation: Situation, values: dict[str, Any], what: str) -> Routed:
    steps = situation.steps
    # Everybody has one profile, and a household is somebody.
    own = {"field": "household_size", "op": "gte", "value": 1}
    steps.write(what, op="update", table="user_profile", filters=[own], set=values)
    return steps.done(what)


async def route_tasks(situation: Situation) -> Routed | None:
    """Route reminders and what becomes of them."""
    found = _FORMS["remind"].match(situation.text)
    if found is not None and not _is_to_buy(situation.text, found["what"]):
        return _remind(situation, (found["what"] or found["task"]).strip())
    deleted = _FORMS["delete"].match(situation.text)
    if deleted is not None:
        task = await find_task(situation, deleted["what"])
        return None if task is None else _change(situation, task, delete=True)
    done = _FORMS["done"].match(situation.text)
    # Who finished the milk has drunk it, whatever there is to do about milk.
    if done is not None and not food_facts(done["what"]).is_food:
        task = await find_task(situation, done["what"])
        return None if task is None else _change(situation, task, delete=False)
    return None


_TO_BUY: Final = re.compile(
    r"(?:to )?(?:buy|get|pick up|order) (?P<what>.+?)"
    r"(?: (?:when|if|on the way|tomorrow|today|on) ?.*)?$",
    re.I,
)
# Who names an hour wants to be told at that hour.
_AT_TIME: Final = re.compile(r"\bat \d|\d ?(?:am|pm|o'clock)\b|\d:\d\d|\bin \d+ (?:min|hour)", re.I)


def _is_to_buy(text: str, what: str | None) -> bool:
    """Say whether only food is not to be forgotten: that goes on the list."""
    bought = None if what is None else _TO_BUY.match(what)
    if bought is not None and _AT_TIME.search(text) is None:
        things = read_things(bought["what"])
        return bool(things) and all(food_facts(each.name).category != OTHER for each in things)
    is_kept = text.casefold().startswith("don't let me forget")
    return is_kept and what is not None and food_facts(what).is_food and " to " not in what


async def find_task(situation: Situation, text: str) -> Row | None:
    """Return the one open task a text means."""
    name = text.strip(" \"'“”.")
    plain = name.replace("%", "").replace("*", "")
    if not plain:
        return None
    is_open = among("status", ["open"])
    exact = await situation.rows(
        table="tasks", filters=[same("description", name), is_open], limit=2
    )
    if len(exact) == 1:
        return exact[0]
    near = {"field": "description", "op": "ilike", "value": f"%{plain}%"}
    rows = await situation.rows(table="tasks", filters=[near, is_open], limit=2)
    return rows[0] if len(rows) == 1 else None


def _remind(situation: Situation, text: str) -> Routed | None:
    when = find_when(text, situation.today)
    described = (when.rest if when else text).strip(" .,;:")
    description = re.sub(r"^(?:to|that i|that we)\s+", "", described, flags=re.I).strip()
    if not description or description in ("to", "about", "that") or WHOLE.match(description):
        return None
    record: dict[str, Any] = {"description": description, "kind": _kind(description)}
    assumptions: tuple[str, ...] = ()
    if when is not None:
        record["due_at"] = when.at
        if not when.has_time:
            assumptions = ("No time of day was said, so one was picked",)
    steps = situation.steps
    what = f"Add a task: {description}"
    steps.write(what, op="create", table="tasks", records=[record])
    return steps.done(what, assumptions)


def _kind(description: str) -> str:
    first = description.casefold()
    for word, kind in kinds("task_kinds").items():
        if re.match(rf"{re.escape(word)}\b", first):
            return kind
    return "other"


def _change(situation: Situation, task: Row, *, delete: bool) -> Routed:
    steps = situation.steps
    filters = [same("id", task["id"])]
    if delete:
        what = f"Remove the task {task['description']}"
        steps.write(what, op="delete", table="tasks", filters=filters)
    else:
        what = f"Mark {task['description']} as done"
        steps.write(what, op="update", table="tasks", filters=filters, set={"status": "done"})
    return steps.done(what)


_EXAMPLES: Final = (
    "You could say:\n"
    "- add 6 eggs to the shopping list\n"
    "- what's in the fridge?\n"
    "- what can I make with what I have?\n"
    "- make me a weeknight pasta\n"
    "- plan dinners for next week\n"
    "- I'm making shakshuka for 4"
)


async def route_manners(situation: Situation) -> Routed | None:
    """Route what asks for nothing but an answer."""
    text = situation.text
    if _FORMS["hello"].match(text):
        return Routed(reply=f"Hello. {_EXAMPLES}")
    if _FORMS["thanks"].match(text):
        return Routed(reply="You are welcome.")
    return Routed(reply=_EXAMPLES) if _FORMS["help"].match(text) else None
