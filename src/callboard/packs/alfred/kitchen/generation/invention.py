"""Invention: a new recipe cast in a form that works, its gaps filled by picks.

The model only picks. Amounts, steps and what somebody must not eat are decided here, so that what
comes out is a recipe whatever was picked.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from callboard.choreography.turn.domain import Row
from callboard.knowledge.entities.matching import name_key, singular_words
from callboard.packs.alfred.kitchen.compute.amounts import rounded
from callboard.packs.alfred.kitchen.food.checking import Eater, check_for, is_allowed
from callboard.packs.alfred.kitchen.food.diets import diet_called
from callboard.packs.alfred.kitchen.food.foods import food_facts
from callboard.packs.alfred.kitchen.generation.dishes import Dish, DishKind, Share, dish_book

_WORD: Final = re.compile(r"[^\W\d_]+(?:[-'][^\W\d_]+)*")
_LONGEST_FOOD: Final = 3
_MOST_MAINS: Final = 6
# Too plain to be what a dish is about.
_NO_MAIN: Final = frozenset(
    {
        *("butter", "cream", "milk", "coconut milk", "flour", "sugar", "yeast"),
        *("garlic", "ginger", "lemon", "lime", "tomato paste", "tomato puree"),
    }
)
_DESCRIBING: Final = frozenset(
    {"red", "green", "white", "black", "sweet", "ground", "smoked", "fresh", "kidney", "brown"}
)
_SHOWN_DIETS: Final = ("vegan", "vegetarian", "gluten_free")


@dataclass(frozen=True, slots=True)
class Brief:
    """What a new recipe is to be: the wish, what is there, who eats."""

    wish: str
    servings: float
    eater: Eater
    stock: tuple[str, ...] = ()
    # Names that are taken.
    taken: frozenset[str] = frozenset()
    # A draft that is made again: its form stays.
    form: str = ""

    @property
    def asked_foods(self) -> tuple[str, ...]:
        """The foods the wish names, that may be eaten."""
        return tuple(food for food in foods_in(self.wish) if is_allowed(self.eater, food))


def eater_of(profile: Row | None, constraints: Iterable[str], wish: str) -> Eater:
    """Return what somebody may eat; a diet the wish names counts as well."""
    words = _WORD.findall(wish.casefold())
    named = [each for each in _grams(words) if diet_called(each) is not None]
    return Eater.of(profile, [*constraints, *(f"diet:{each}" for each in named)])


def foods_in(text: str) -> tuple[str, ...]:
    """Return the foods a text names, the longest names first; forms of dishes are none."""
    book = dish_book()
    forms = {word for dish in book.dishes.values() for word in dish.words}
    words = [word for word in _WORD.findall(text.casefold()) if word not in forms]
    found: list[str] = []
    for gram in _grams(words):
        is_covered = any(f" {gram} " in f" {known} " for known in found)
        if not is_covered and food_facts(gram).is_food and _is_whole(gram):
            found.append(gram)
    return tuple(found)


def dishes_for(brief: Brief) -> list[str]:
    """Return the forms that fit: the one of the draft, the ones the wish names, else any."""
    book = dish_book()
    known = [brief.form] if brief.form in book.dishes else book.named_in(brief.wish)
    fitting = [name for name in known or book.dishes if _can_make(book.dishes[name], brief)]
    if fitting or not known:
        return fitting
    return [name for name in book.dishes if _can_make(book.dishes[name], brief)]


def gaps_of(dish_name: str, brief: Brief) -> dict[str, list[str]]:
    """Return what can be picked for a form."""
    dish = dish_book().dishes[dish_name]
    mains = list(_mains(dish, brief))[:_MOST_MAINS]
    greens = [each for each in dish.greens if is_allowed(brief.eater, each)]
    stocked = [each for each in greens if name_key(each) in {name_key(s) for s in brief.stock}]
    asked = [
        f for f in brief.asked_foods if food_facts(f).category == "produce" and f not in mains[:1]
    ]
    flavours = [each for each in dish.flavours if _may_season(each, brief.eater)]
    return {
        "main": mains,
        "vegetable": list(dict.fromkeys([*asked, *stocked, *greens])) or ["onions"],
        "flavour": flavours or [""],
    }


def compose(dish_name: str, picks: Mapping[str, str], brief: Brief) -> dict[str, Any] | None:
    """Return the recipe, or None if it could not be eaten."""
    book = dish_book()
    dish = book.dishes[dish_name]
    base = _first_allowed(dish.rests_on, brief.eater)
    fat = _first_allowed(book.fats, brief.eater)
    if base is None or fat is None:
        return None
    main, green, flavour = picks["main"], picks["vegetable"], picks["flavour"]
    if name_key(green) == name_key(main) or name_key(green) == name_key(base.name):
        green = next((g for g in dish.greens if name_key(g) not in _keys(main, base.name)), green)
    # Made with something else than usual, it is called after that: gluten-free pasta.
    form = dish_name.replace("_", " ") if base is dish.rests_on[0] else base.name
    base = _at_hand(base, brief)
    kind = book.kind(food_facts(main).category)
    seasoning = book.flavours.get(flavour, ())
    content: dict[str, Any] = {
        "name": _name(form, main, flavour, green, brief),
        "course": dish.course,
        "servings": brief.servings,
        "prep_minutes": dish.minutes[0],
        "cook_minutes": dish.minutes[1],
        "difficulty": "easy",
        "ingredients": _lines(base, main, green, (*seasoning, fat), brief.servings),
        "steps": _steps(dish, kind, _words(base, main, green, seasoning, fat)),
        "tags": [form],
    }
    if dish.cuisine:
        content["cuisine"] = dish.cuisine
    content["tags"] += [
        diet.replace("_", "-")
        for diet in _SHOWN_DIETS
        if not check_for(Eater(diet=(diet,)), content)
    ]
    if sum(dish.minutes) <= 30:
        content["tags"].append("quick")
    return None if check_for(brief.eater, content) else content


def _can_make(dish: Dish, brief: Brief) -> bool:
    has_base = _first_allowed(dish.rests_on, brief.eater) is not None
    return has_base and next(iter(_mains(dish, brief)), None) is not None


def _mains(dish: Dish, brief: Brief) -> Iterator[str]:
    """Yield what the dish can be about: what was asked for, what is there, what always goes."""
    book = dish_book()
    base = {name_key(share.name) for share in dish.rests_on}
    seen: set[str] = set()
    asked = [food for food in brief.asked_foods if food_facts(food).category in book.kinds]
    stocked = [food for food in brief.stock if food_facts(food).category in dish.mains]
    stocked.sort(key=lambda food: dish.mains.index(food_facts(food).category))
    for food in [*asked, *stocked, *dish.defaults]:
        key = name_key(food)
        if key in seen or key in base or key in _NO_MAIN or not is_allowed(brief.eater, food):
            continue
        seen.add(key)
        yield food
        if asked and food == asked[0]:
            # What was asked for is no question.
            return


def _may_season(flavour: str, eater: Eater) -> bool:
    return all(is_allowed(eater, share.name) for share in dish_book().flavours[flavour])


def _first_allowed(shares: Sequence[Share], eater: Eater) -> Share | None:
    return next((share for share in shares if is_allowed(eater, share.name)), None)


def _at_hand(share: Share, brief: Brief) -> Share:
    """Return the same with the kind of it that is in the house, if any is."""
    stocked = _keys(*brief.stock)
    if name_key(share.name) in stocked:
        return share
    kinds = [each for each in share.also if name_key(each) in stocked]
    known = next((each for each in kinds if is_allowed(brief.eater, each)), share.name)
    return share.model_copy(update={"name": known})


def _lines(
    base: Share, main: str, green: str, others: Sequence[Share], servings: float
) -> list[dict[str, Any]]:
    book = dish_book()
    shares = [base, _share(main), _share(green, part=0.7), *others]
    lines: list[dict[str, Any]] = []
    for share in shares:
        line: dict[str, Any] = {
            "name": share.name,
            "quantity": _handy(share.quantity * servings, share.unit),
        }
        if share.unit:
            line["unit"] = share.unit
        lines.append(line)
    cut = book.kind(food_facts(main).category).cut
    lines[1]["preparation"] = cut
    lines.append({"name": "salt", "quantity": "to taste"})
    return lines


def _share(name: str, part: float = 1.0) -> Share:
    book = dish_book()
    count = book.counted.get(name.casefold())
    if count is not None:
        return Share(name=name, quantity=count)
    kind = book.kind(food_facts(name).category)
    return Share(name=name, quantity=kind.quantity * part, unit=kind.unit)


def _handy(quantity: float, unit: str | None) -> float:
    """Return an amount as somebody would weigh it out."""
    if unit in ("g", "ml") and quantity >= 20:
        return float(round(quantity / 5) * 5)
    return rounded(quantity)


def _words(
    base: Share, main: str, green: str, seasoning: Sequence[Share], fat: Share
) -> dict[str, str]:
    named = [share.name for share in seasoning] or ["pepper"]
    return {
        "base": base.name,
        "main": main,
        "green": green,
        "seasoning": " and ".join(named),
        "fat": fat.name,
    }


def _steps(dish: Dish, kind: DishKind, words: Mapping[str, str]) -> list[dict[str, Any]]:
    filled = {**words, "cut": kind.cut, "done": kind.done}
    steps: list[dict[str, Any]] = []
    for step in dish.steps:
        text = re.sub(r"\{(\w+)\}", lambda found: filled[found[1]], step.text)
        steps.append({"text": text, "minutes": step.minutes})
    return steps


def _name(form: str, main: str, flavour: str, green: str, brief: Brief) -> str:
    """Return a name nobody has used yet."""
    title = f"{_titled(_one(main))} {_titled(form)}"
    first = flavour.split(" and ")[0]
    repeats = set(name_key(first).split()) & set(name_key(f"{main} {form}").split())
    season = _titled(first) if not repeats else ""
    names = [
        f"{season} {title}".strip(),
        f"{season} {title} with {_titled(green)}".strip(),
        f"{title} with {_titled(green)} and {flavour}".strip(),
    ]
    for name in names:
        if name_key(name) not in brief.taken:
            return name
    number = 2
    while name_key(f"{names[0]} {number}") in brief.taken:
        number += 1
    return f"{names[0]} {number}"


def _one(food: str) -> str:
    """Return a food as it stands in a name: a chickpea curry, not a chickpeas curry."""
    words = food.split()
    return " ".join([*words[:-1], singular_words(words[-1])[-1]]) if words[-1].isalpha() else food


def _titled(text: str) -> str:
    return " ".join(word[:1].upper() + word[1:] for word in text.split())


def _keys(*names: str) -> set[str]:
    return {name_key(name) for name in names}


def _grams(words: Sequence[str]) -> list[str]:
    return [
        " ".join(words[at : at + size])
        for size in range(_LONGEST_FOOD, 0, -1)
        for at in range(len(words) - size + 1)
    ]


def _is_whole(gram: str) -> bool:
    """Say whether every word belongs to the food: in "weeknight chicken" one does not."""
    return all(food_facts(word).is_food or word in _DESCRIBING for word in gram.split())
