"""Guessed: the answer to what is most likely wanted, where no form and no clause is plain.

It shows, answers and walks on. It writes one thing only: a meal on a day, where the dish, the day
and the wish are all named.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Final

from callboard.choreography.turn.domain import Routed, Row
from callboard.packs.alfred.kitchen.hearing.intents import Guess
from callboard.packs.alfred.kitchen.hearing.speech import acts_in, full_words, lexicon
from callboard.packs.alfred.kitchen.router.dates import DAY
from callboard.packs.alfred.kitchen.router.meals import find_recipes
from callboard.packs.alfred.kitchen.router.situation import Situation
from callboard.packs.alfred.kitchen.router.things import named_foods
from callboard.packs.alfred.kitchen.router.words import kinds, read_count

RouteForm = Callable[[Situation], Awaitable[Routed | None]]
_SURE_TO_WRITE: Final = 0.85
_CHAT: Final = "All right. Tell me when there is something to note, to show or to cook."
_OTHER: Final = (
    "That is nothing I do here: I keep the stock, the shopping list, recipes, plans and tasks. "
    "Nothing was changed."
)
_COOKING: Final = (
    "That is a question about cooking, not about what you have. The model that runs here is too "
    "small to answer it well, and nothing was changed."
)
_NO_DATES: Final = "I keep no record of that. Nothing was changed."
_IDEAS: Final = re.compile(
    r"\b(?:ideas?|what (?:can|could|should|shall) (?:i|we) (?:make|cook|do|eat)|suggest|"
    r"inspir\w{1,6}|"
    r"recipes? (?:for|with))\b",
    re.I,
)
# What somebody wants to see, by the words that tell it; the first counts.
_SHOWN: Final = (
    (re.compile(r"\b(?:allerg\w{0,4}|diet|intoleran\w{1,4})\b", re.I), "show my allergies"),
    (re.compile(r"\b(?:reminders?|tasks?|to-?dos?|chores?)\b", re.I), "show my tasks"),
    (re.compile(r"\b(?:expir\w{1,4}|go(?:ing|es)? (?:off|bad)|eating up|needs? eating)\b", re.I),
     "what's expiring soon"),
    (re.compile(r"\bwhat did (?:we|i) (?:cook|make|eat|have)\b|\blast (?:cooked|made|ate)\b", re.I),
     "what did we cook"),
    (re.compile(r"\b(?:list|to buy|shopping|did you|have you)\b", re.I), "show my shopping list"),
    (re.compile(r"\b(?:plan|planned|menu|eating|having|doing|for (?:dinner|lunch|tea|"
                r"supper|breakfast))\b",
                re.I), "show my meal plan"),
)  # fmt: skip
_WHEN_LAST: Final = re.compile(
    r"\bwhen did (?:i|we) (?:last )?(?:buy|get)|\bhow (?:old|long ago)\b", re.I
)
_RECIPES: Final = re.compile(r"\brecipes?\b", re.I)
_OF_RECIPE: Final = re.compile(r"\b(?:ingredients?|recipe|goes into|steps?)\b", re.I)
_CANCELLED: Final = re.compile(
    r"\b(?:cancel|skip|clear|remove|delete|no (?:dinner|lunch|breakfast|supper)|eat(?:ing)? out|"
    r"not (?:cook|home)|"
    r"invited|order(?:ing)? in|nobody is home)\b",
    re.I,
)
_DAYED: Final = re.compile(rf"\b(?P<day>{DAY})\b", re.I)
_BEGINS: Final = re.compile(
    r"\b(?:start|begin|making|cooking|baking|walk|guide|talk|take) ?(?:me|us)?\b|"
    r"\blet us (?:make|cook|get)\b|"
    r"\bgo\b",
    re.I,
)
_OVER: Final = re.compile(
    r"\b(?:finished|done|had|ate|made|cooked|baked|burne?[dt]|over|yesterday|last night|not|never|"
    r"tomorrow|might|maybe|would)\b",
    re.I,
)
_AT_IT: Final = re.compile(
    r"\b(?:how (?:much|many|long|hot)|timer|minutes|done|oven|repeat|again|swap|replace|"
    r"instead|substitute|leave|left|skip|without)\b",
    re.I,
)
_STEPS_DONE: Final = re.compile(
    r"\b(?:done|finished|through) with (?:steps? )?(?P<steps>[\w ,]{1,40})", re.I
)
_BACK: Final = re.compile(r"\b(?:before|back a|go back|previous|last step)\b", re.I)
_NEXT: Final = re.compile(
    r"\b(?:next|now what|what now|go on|continue|and then|weiter|carry on|what comes|then what)\b",
    re.I,
)
_MADE: Final = re.compile(
    r"^(?:(?:i|we|he|she|they) )?(?:have )?(?:just )?(?:made|cooked|baked)\s+(?:\w{1,9} of )?"
    r"(?:the |a |some |our |my )?(?P<what>[\w' -]{2,60})",
    re.I,
)
_NOT_MADE: Final = re.compile(
    r"\b(?:not|never) (?:cook|make|bake|made|cooking|making|baking)\w{0,3}\b", re.I
)
_TIMES: Final = re.compile(
    r"\b(?P<times>double|halve|triple|half the recipe|half batch|twice)\b", re.I
)
_STEP: Final = re.compile(
    r"\b(?P<step>one|two|three|\d) (?:more )?(?:portions?|servings?|people|"
    r"guests?) ?(?P<how>more|less|fewer)?\b",
    re.I,
)
_ALONE: Final = re.compile(
    r"\b(?:just|only) (?:for )?me\b|\bfor one\b|\bone portion\b|\b1 portion\b", re.I
)
_COUNT: Final = re.compile(
    r"\b(?:for|to|so|feed|feeding|are|be|make it|do for|serve) (?P<count>\d{1,3}|two|"
    r"three|four|five|six|seven|"
    r"eight|nine|ten|eleven|twelve|fifteen|twenty)\b(?! ?(?:min|hour|g\b|kg|ml|gram|o'clock))|"
    r"\b(?P<count2>\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|twelve) (?:people|"
    r"persons|portions|servings|of us|guests)\b",
    re.I,
)
# Who orders something and is not understood is asked, not turned away.
_ORDERS: Final = re.compile(
    r"(?:please )?(?:add|put|delete|remove|take|clear|move|note|write|remember|remind|"
    r"bought|used)\b(?! my (?:account|data))",
    re.I,
)
_MAY_BE: Final = 0.15
_SURE_TO_CHAT: Final = 0.85
_SURE_TO_SHOW: Final = 0.6
_MATTERS: Final = frozenset({"acquired", "consumed", "thrown", "need", "put", "out_of", "gone"})
_MOST_TRIED: Final = 6


async def answer_guess(situation: Situation, guess: Guess, form: RouteForm) -> Routed | None:
    """Return the answer to what is most likely wanted, or None if there is none."""
    text = full_words(situation.text)
    match guess.intent:
        case "small_talk":
            # Who names food and says what became of it may want more than a kind word.
            may_matter = _names_something(text) or bool(
                set(acts_in(text.casefold().split())) & _MATTERS
            )
            return None if may_matter and guess.certainty < _SURE_TO_CHAT else Routed(reply=_CHAT)
        case "other":
            is_open = _names_something(text) and guess.certainty < _SURE_TO_CHAT
            return None if is_open or _ORDERS.match(text) else Routed(reply=_OTHER)
        case "recipe_question":
            is_open = "?" not in situation.asked.message and guess.certainty < _SURE_TO_SHOW
            if is_open or (guess.of("plan_meal") > _MAY_BE and _DAYED.search(text)):
                return None
            return await _question(situation, text, form)
        case "show":
            is_sure = guess.certainty >= _SURE_TO_SHOW or "?" in situation.asked.message
            return await _shown(situation, text, form) if is_sure else None
        case "cook":
            return await _cooked(situation, text, guess)
        case "scale":
            return await _scaled(situation, text, form)
        case "plan_meal":
            return await _planned(situation, text, guess, form)
        case _:
            return None


def _names_something(text: str) -> bool:
    """Say whether a text names what something could be wanted with."""
    return bool(named_foods(text) or _dishes(text) or _DAYED.search(text) or re.search(r"\d", text))


async def _question(situation: Situation, text: str, form: RouteForm) -> Routed | None:
    foods = named_foods(text)[:3]
    if _IDEAS.search(text):
        said = f"what can I make with {', '.join(foods)}" if foods else "what can I make"
        return await form(situation.saying(said, situation.first_group))
    more = f" Say “recipes with {foods[0]}” to see yours." if foods else ""
    return Routed(reply=_COOKING + more)


async def _shown(situation: Situation, text: str, form: RouteForm) -> Routed | None:
    foods = named_foods(text)[:1]
    if _WHEN_LAST.search(text):
        return Routed(reply=_NO_DATES)
    said = next((shown for words, shown in _SHOWN if words.search(text)), None)
    place = next((w for w in re.findall(r"\w+", text.casefold()) if kinds("places").get(w)), None)
    recipe = await named_recipe(situation, text) if _OF_RECIPE.search(text) else None
    if recipe is not None:
        said = f"show me the recipe for {recipe['name']}"
    elif _RECIPES.search(text):
        said = f"show me recipes with {foods[0]}" if foods else "show me all my recipes"
    elif said is None and foods:
        said = f"do I have {foods[0]}"
    elif said is None:
        said = f"what's in the {place}" if place else "what do I have"
    return await form(situation.saying(said, situation.first_group))


async def _cooked(situation: Situation, text: str, guess: Guess) -> Routed | None:
    """Walk on at the stove, begin there, or note what was cooked."""
    made = _MADE.match(text)
    if _NOT_MADE.search(text):
        return Routed(reply="All right, nothing was logged and nothing taken out.")
    if made is not None:
        logged = await _logged(situation, text)
        is_open = guess.certainty < _SURE_TO_WRITE
        return replace(logged, unsure=True) if logged is not None and is_open else logged
    recipe = await named_recipe(situation, text)
    if recipe is not None and _BEGINS.search(text) and not _OVER.search(text):
        count = _people(text)
        people = f" for {count:g}" if count else ""
        return await situation.at_stove(f"start cooking {recipe['name']}{people}")
    at_it = [each.search(text) for each in (_STEPS_DONE, _NEXT, _BACK, _AT_IT)]
    if recipe is not None and not any(at_it):
        # It may be begun, be over, or only be talked of.
        return None
    steps = _STEPS_DONE.search(text)
    numbers = [read_count(w) for w in re.findall(r"\w+", steps["steps"])] if steps else []
    counted = [int(each) for each in numbers if each]
    if counted:
        said = f"step {max(counted) + 1}"
    else:
        said = "back" if _BACK.search(text) else "next" if _NEXT.search(text) else "repeat"
    return await situation.at_stove(said)


async def tell_made(situation: Situation) -> Routed | None:
    """Return the entry for a dish somebody says they have made, if it is one of their recipes."""
    text = full_words(situation.text)
    return await _logged(situation, text) if _MADE.match(text) else None


async def _logged(situation: Situation, text: str) -> Routed | None:
    recipe = await named_recipe(situation, text)
    if recipe is None:
        return None
    record = {"recipe_id": recipe["id"], "inventory_deducted": False}
    told = f"Log {recipe['name']} as cooked"
    aside = ("Nothing was taken out of the house: say what was used up",)
    return situation.writing(told, aside, op="create", table="cooking_log", records=[record])


async def _scaled(situation: Situation, text: str, form: RouteForm) -> Routed | None:
    recipe = await named_recipe(situation, text)
    times, count = _TIMES.search(text), _people(text)
    factor = None
    if times is not None:
        first = times["times"].casefold()
        factor = "halve" if first.startswith("hal") else "triple" if first == "triple" else "double"
    if recipe is not None:
        said = (
            f"{factor} {recipe['name']}"
            if factor
            else f"scale {recipe['name']} to {count:g}"
            if count
            else ""
        )
        return await form(situation.saying(said, situation.first_group)) if said else None
    step = _STEP.search(text)
    if factor:
        return await situation.at_stove(f"{factor} it")
    if _ALONE.search(text) and not (step and step["how"]):
        return await situation.at_stove("make it for 1")
    if step is not None and step["how"]:
        return await situation.at_stove(f"{step['step']} portion {step['how']}")
    return await situation.at_stove(f"make it for {count:g}") if count else None


def _people(text: str) -> float | None:
    found = None
    for each in _COUNT.finditer(text):
        found = each
    return None if found is None else read_count(found["count"] or found["count2"])


async def _planned(situation: Situation, text: str, guess: Guess, form: RouteForm) -> Routed | None:
    day = _DAYED.search(text)
    is_asked = "?" in situation.asked.message
    days = _DAYED.findall(text)
    if day is not None and _CANCELLED.search(text):
        return await form(situation.saying(f"remove {day['day']}'s dinner", situation.first_group))
    recipe = await named_recipe(situation, text)
    if recipe is not None and day is not None and len(days) == 1:
        if is_asked or guess.certainty < _SURE_TO_WRITE:
            return Routed(question=f"Shall I plan {recipe['name']} for {day['day']}? Say “plan "
                          f"{recipe['name']} for {day['day']}”.")  # fmt: skip
        said = f"plan {recipe['name']} for {day['day']}"
        return await form(situation.saying(said, situation.first_group))
    is_open = _ANY_MEAL.search(text) is not None
    if recipe is None and is_open and not named_foods(text) and not _dishes(text) and len(days) < 2:
        return await form(situation.saying("what can I make with what I have", 0))
    return None


_ANY_MEAL: Final = re.compile(
    r"\b(?:something|anything|some|quick|easy|light|ideas?|plan|choose|pick|suggest|what|dinner|"
    r"dinners|lunch|supper|tea|meals?|week|veggie|vegetarian|stuff)\b",
    re.I,
)


def _dishes(text: str) -> list[str]:
    listed: Sequence[str] = lexicon()["kinds"]["dish"]
    return [word for word in re.findall(r"[\w-]+", text.casefold()) if word in listed]


_NAMES_NEXT: Final = re.compile(
    r"the|an?|my|our|these|those|that|this|his|her|[\w-]+'s|made|cooked|baked|making|cooking|start",
    re.I,
)


async def named_recipe(situation: Situation, text: str) -> Row | None:
    """Return the one recipe a text names, if it names one."""
    words = re.findall(r"[\w'-]+", text)
    starts = [at for at, word in enumerate(words) if _NAMES_NEXT.fullmatch(word)]
    tried = [" ".join(words[at + 1 : at + 1 + size]) for at in starts for size in (3, 2, 1)]
    tried += _dishes(text)
    for name in list(dict.fromkeys(each for each in tried if each))[: _MOST_TRIED * 2]:
        near = await find_recipes(situation, name)
        if len(near) == 1:
            return near[0]
    return None
