"""What is done to an ingredient, told by listed words and by endings: `peeled`, `debearded`."""

import re
from typing import Final

from callboard.packs.alfred.kitchen.lexicon.foods import food_facts
from callboard.packs.alfred.kitchen.recipes.lines.lexicon import words

_NO_PARTICIPLES: Final = ("eed", "based", "flavored", "flavoured", "sized")
_LETTERS_DONE: Final = 5
_WORDS_DONE: Final = 2


def is_preparation(text: str) -> bool:
    """Say whether a part of a line is about what is done to the ingredient."""
    found = [word.casefold() for word in re.findall(r"[^\W\d_][\w'-]*", text)]
    if not found:
        return False
    if all(word in words("prepared") | words("adverbs") for word in found):
        return any(word in words("prepared") for word in found)
    lead = next((word for word in found if word not in words("adverbs")), "")
    if lead in words("prepared"):
        return not _names_food(found[found.index(lead) + 1 :])
    return _ends_prepared(found)


def is_participle(text: str) -> bool:
    """Say whether a part says what is done by its endings: `undiluted`, `pricked with a fork`."""
    found = text.casefold().split()
    if not found:
        return False
    if len(found) <= _WORDS_DONE and _ends_done(found[-1]):
        return True
    if all(is_done(word) or word in words("adverbs") for word in found):
        return any(_ends_done(word) for word in found)
    lead = next((at for at, word in enumerate(found) if word not in words("adverbs")), 0)
    return _ends_done(found[lead]) and bool(words("by").intersection(found[lead + 1 : lead + 2]))


def is_nameless(text: str) -> bool:
    """Say whether a text has no noun: `bone-in`, `frozen boned`."""
    return all(
        word in words("adjectives") or word in words("adverbs") or is_done(word)
        for word in text.casefold().split()
    )


def is_done(word: str) -> bool:
    """Say whether a word says what is done to something."""
    return word in words("prepared") or _ends_done(word)


def _names_food(found: list[str]) -> bool:
    """Say whether words name something to eat: `chopped` of `celery` is another ingredient."""
    if not found or any(word in words("adverbs") or word in words("by") for word in found):
        return False
    return food_facts(found[-1]).is_food


def _ends_prepared(found: list[str]) -> bool:
    """Say whether a part is of something done: `pulp cut into squares`, not `chopped celery`."""
    known = words("prepared") | words("adverbs")
    return any(
        word in words("prepared")
        and all(later in known or at == 0 for later in found[at + 1 : at + 2])
        for at, word in enumerate(found)
        if at
    )


def _ends_done(word: str) -> bool:
    is_long = len(word) >= _LETTERS_DONE
    return is_long and word.endswith("ed") and not word.endswith(_NO_PARTICIPLES)
