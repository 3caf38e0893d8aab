"""Mentions: the things a clause names wherever they stand, with their amounts.

A scan for foods the lexicon knows. It says what it could not place; nothing is done here.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from callboard.packs.alfred.kitchen.compute.amounts import is_known_unit
from callboard.packs.alfred.kitchen.hearing.speech import (
    act_at,
    food_at,
    food_meant,
    full_words,
    lexicon,
)

_TOKEN: Final = re.compile(
    r"\d+(?:[.,/]\d+)?(?=[a-z]|\b)|[½¼¾⅓⅔]|[^\W\d_]+(?:['’&-][^\W\d_]+)*|[&,;:.!?()\u00d7-]", re.I
)
_SIGNS: Final = frozenset(",;:.!?()-")
_BY: Final = ("x", "\u00d7")
_LEAST_COMPOUND: Final = 3
_LONGEST_AMOUNT: Final = 7


@dataclass(frozen=True, slots=True)
class Mention:
    """A thing with its amount, as one writes it, and how much of it is meant."""

    said: str
    name: str
    has_amount: bool = False
    # All of it, some of it nobody can reckon with, or none of it.
    is_whole: bool = False
    is_vague: bool = False
    is_denied: bool = False


@dataclass(frozen=True, slots=True)
class Mentions:
    """What a text names, what only stands beside that, and which words may change all of it."""

    named: tuple[Mention, ...] = ()
    aside: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    # Whether something was made: what of it is kept, and what went into it, nobody says.
    is_made: bool = False


def find_mentions(text: str) -> Mentions:
    """Return what a text names."""
    words = _TOKEN.findall(full_words(text))
    folded = [word.casefold() for word in words]
    named: list[Mention] = []
    aside: list[str] = []
    used: set[int] = set()
    at = 0
    while at < len(words):
        size = _foods_at(words, folded, at)
        if not size:
            at += 1
            continue
        start, end = _amount_before(folded, at), at + size
        after = _amount_after(folded, end)
        if _is_beside(folded, start):
            aside.append(" ".join(words[start:end]))
        else:
            named.append(_mention(words, folded, start, at, end, after))
        used |= set(range(start, after))
        at = max(after, end)
    is_made = bool(set(folded) & _group("making"))
    return Mentions(tuple(named), tuple(aside), tuple(_doubts(folded, used)), is_made)


def _foods_at(words: Sequence[str], folded: Sequence[str], at: int) -> int:
    """Return how many words from here on name a thing; foods in a row are one: quince jelly."""
    size = 0
    while at + size < len(words) and folded[at + size] not in _SIGNS:
        if act_at(folded, at + size) and not (size or _is_counted(folded, at)):
            break
        end = next((i for i in range(at + size, len(words)) if words[i] in _SIGNS), len(words))
        found = food_at(words[:end], at + size)
        if not found:
            break
        size += found
    return size


def _is_counted(folded: Sequence[str], at: int) -> bool:
    return at > 0 and (folded[at - 1] in _group("articles") or _is_number(folded[at - 1]))


def _mention(
    words: Sequence[str], folded: Sequence[str], start: int, at: int, end: int, after: int
) -> Mention:
    kept = [word for word in folded[start:at] if word in lexicon()["describing"]]
    name = " ".join([*kept, *(food_meant(word) or word for word in words[at:end])])
    amount = _measure(folded[start:at])
    behind = _measure(folded[end:after])
    if behind and (not amount or any(map(_is_weight, behind))):
        amount = behind
    has_amount = bool(amount)
    said = f"{' '.join(amount)} {name}".strip() if has_amount else name
    ahead = " ".join(folded[max(0, start - 4) : at])
    return Mention(
        said,
        name,
        has_amount,
        bool(_WHOLE.search(ahead)),
        bool(_VAGUE.search(ahead)),
        bool(_DENIED.search(ahead)),
    )


def _measure(words: Sequence[str]) -> list[str]:
    """Return the number and the first unit among some words: 5 lb of "5 lb bag of"."""
    number = next((word for word in words if _is_number(word)), "")
    if not number and not {"a", "an", "another"} & set(words):
        return []
    after = words[words.index(number) + 1 :] if number else words
    unit = next((word for word in after if is_known_unit(word)), "")
    portion = next((word for word in after if word in _group("portions")), "")
    if number == "half" and not unit:
        return ["half", "the"]
    return [number or "1", *([unit or portion] if unit or portion else [])]


_WHOLE: Final = re.compile(r"\b(?:all|last|rest|whole|remaining|entire|both)\b")
_VAGUE: Final = re.compile(
    r"\b(?:bit|little|some|most|splash|pinch|dash|few|several|part|half|third|quarter|half of) "
    r"(?:of )?(?:the |our |my |those |that |these )?(?:[\w-]+ )?$"
    r"|\b(?:about|nearly|almost) (?:all|half)\b"
)
_DENIED: Final = re.compile(r"\b(?:no|not|no more|not any|without|any)(?: more| the| a| any)? ?$")


def _amount_before(folded: Sequence[str], at: int) -> int:
    """Return where the amount and the adjectives before a thing begin."""
    start = at
    while start > 0 and at - start < _LONGEST_AMOUNT:
        word = folded[start - 1]
        if word in _SIGNS or not (
            word in _group("articles")
            or word in _group("sizes")
            or word in lexicon()["describing"]
            or _is_number(word)
            or (word == "of" and start > 1 and _is_measured(folded, start - 1))
            or (is_known_unit(word) and _stands_for_unit(folded, start - 1, at))
        ):
            break
        start -= 1
    return start


def _is_measured(folded: Sequence[str], of: int) -> bool:
    before = folded[of - 1]
    return is_known_unit(before) or before in _group("sizes") or before in _group("portions")


def _stands_for_unit(folded: Sequence[str], unit: int, at: int) -> bool:
    is_before = unit > 0 and (_is_number(folded[unit - 1]) or folded[unit - 1] in _group("articles")
                              or folded[unit - 1] in _group("sizes"))  # fmt: skip
    return is_before or folded[unit + 1 : unit + 2] == ["of"] or unit + 1 == at


def _amount_after(folded: Sequence[str], end: int) -> int:
    """Return where an amount that stands behind a thing ends: leeks 3, cream (300 ml)."""
    at = end
    while at < len(folded) and folded[at] in (",", ":", "(", "-", ".", *_BY):
        at += 1
    if at >= len(folded) or not _is_number(folded[at]):
        return end
    at += 1
    at += folded[at : at + 1] == ["x"]
    if at < len(folded) and (is_known_unit(folded[at]) or folded[at] in _group("portions")):
        at += 1
    at += folded[at : at + 1] == [")"]
    is_end = at >= len(folded) or folded[at] in _SIGNS or folded[at] in _group("joining")
    return at if is_end else end


def _is_beside(folded: Sequence[str], start: int) -> bool:
    """Say whether a thing is only what another is for, or stands behind."""
    at = start - 1
    while at >= 0 and folded[at] in _group("fillers"):
        at -= 1
    if at < 0 or folded[at] not in _group("beside"):
        return False
    return not (folded[at] == "to" and folded[at - 1 : at] == ["down"])


def _doubts(folded: Sequence[str], used: set[int]) -> list[str]:
    """Return the words that may change what is said: exceptions, and parts of a name."""
    doubtful = [
        word for at, word in enumerate(folded) if at not in used and word in _group("changing")
    ]
    for at, word in enumerate(folded):
        if at in used or word in _SIGNS:
            continue
        if (_is_number(word) and word != "half") or word == "&":
            doubtful.append(word)
        if word in ("a", "an") and _is_unknown_thing(folded, at, used):
            doubtful += folded[at + 1 : at + 2]
        if at - 1 not in used:
            continue
        if len(word) >= _LEAST_COMPOUND and not _is_plain(folded, at):
            doubtful.append(word)
    return doubtful


def _is_unknown_thing(folded: Sequence[str], at: int, used: set[int]) -> bool:
    """Say whether an article stands before something nobody knows: sausages and a haggis."""
    if folded[at - 1 : at] and (folded[at - 1] in _group("beside")):
        return False
    behind = folded[at + 1 : at + 2]
    return bool(behind) and at + 1 not in used and behind[0] not in _group("idle")


def _is_plain(folded: Sequence[str], at: int) -> bool:
    """Say whether a word behind a thing is no part of its name."""
    word = folded[at]
    return (
        word in _group("following")
        or word in lexicon()["clauses"]["verbs"]
        or word in lexicon()["clauses"]["pronouns"]
        or word in lexicon()["clauses"]["adverbs"]
        or word in lexicon()["clauses"]["binding"]
        or word in lexicon()["gone"]
        or act_at(folded, at) is not None
    )


def _is_number(word: str) -> bool:
    return word[:1].isdigit() or word in "½¼¾⅓⅔" or word in _group("counts")


_WEIGHTS: Final = re.compile(
    r"k?g|m?l|cl|kilos?|grams?|lit(?:re|er)s?|pounds?|lbs?|oz|pints?", re.I
)


def _is_weight(word: str) -> bool:
    return _WEIGHTS.fullmatch(word) is not None


@cache
def _group(name: str) -> frozenset[str]:
    return frozenset(lexicon()["mentions"][name])
