"""Things: what a clause is about, as a list that can be noted, or why it cannot.

A thing is named by a food the lexicon knows, by a proper name, or by a plain name that has an
amount. Whatever else stands in a list makes all of it unclear: nothing is noted by half.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from callboard.packs.alfred.kitchen.compute.amounts import is_known_unit
from callboard.packs.alfred.kitchen.food.foods import is_listed
from callboard.packs.alfred.kitchen.hearing.speech import (
    food_meant,
    is_known_thing,
    is_thing,
    lexicon,
)
from callboard.packs.alfred.kitchen.router.words import (
    LIST,
    PLACE,
    Item,
    numbers,
    read_item,
    split_items,
)

_LEAD: Final = re.compile(
    r"^(?:[\s,:;.]|\b(?:and|plus|also|then|some|any|the|my|our|that|those|these|more|"
    r"another|yesterday|"
    r"today|this morning|for me|for us|me|us|a new|new|of|please|both|again|home|back|"
    r"nice|big|huge|lovely|fresh|"
    r"yummy|good|great|massive|giant|tiny|whole bunch of)\b)+",
    re.I,
)
# When, where, why and for whom says nothing about the thing.
_TAIL: Final = re.compile(
    r"\s+(?:for|from|at|in|on|onto|into|because|which|that|who|while|when|if|to|this|last|"
    r"today|yesterday|"
    r"tonight|tomorrow|again|too|as well|earlier|now|here|there|already|please|behind|by|off|away|"
    r"out|left|anymore|any more|any longer|after all|with|back|over|round|all|over there|either|"
    r"instead|first|yet|though|right|somewhere|together|up)\b.*$",
    re.I | re.S,
)
_OWNED_DAY: Final = re.compile(
    r"^(?:(?:mon|tues|wednes|thurs|fri|satur|sun|yester)day|last night|today)'s\s+", re.I
)
_WHOLE: Final = re.compile(
    r"^(?:the\s+)?(?:(?:very\s+)?last(?: bits?)?|rest|remainder|remains|whole lot|end)\s+of\s+"
    r"(?:the\s+|my\s+|our\s+)?|^(?:all|the whole|the entire|the remaining|the last|the old)\s+"
    r"(?:of\s+)?(?:the\s+|my\s+|our\s+)?",
    re.I,
)
_LAST_COUNT: Final = re.compile(
    r"^(?:the\s+|our\s+|my\s+)?last\s+(?=(?:\d|two|three|four|five))", re.I
)
_LAST_ONE: Final = re.compile(
    r"^(?:the\s+|our\s+|my\s+)?last\s+(?=(?:tin|can|jar|bag|pack|packet|bottle|loaf|tub|"
    r"box|carton|slice)\s+of)",
    re.I,
)
_TIMES: Final = re.compile(
    r"^(\d{1,3}) ?[x\u00d7] ?(\d{1,4}(?:\.\d+)?) ?([a-z]{1,12})\b(?: of)?", re.I
)
_PACKS: Final = re.compile(r"^(\w{1,8}) (\d{1,2})[- ]packs?(?: of)?\b", re.I)
_BEHIND: Final = re.compile(
    r"^(?P<name>\D{2,60}?)[\s,]+(?P<amount>(?:\d[\d./,½]{0,6} ?[x\u00d7] ?)?"
    r"\d[\d.,/½]{0,6} ?(?P<unit>[a-z]{0,12}))$",
    re.I,
)
_FEW: Final = re.compile(r"^(?P<name>\D{2,60}?)\s+a (?:few|couple of) \w{2,12}$", re.I)
_VAGUE: Final = re.compile(
    r"^(?:a (?:bit|little|splash|pinch|dash|drop|touch|handful|few \w{2,12}) of|some of|"
    r"most of|a little|a bit)\s+",
    re.I,
)
_OF_THEM: Final = re.compile(r"^(\d{1,3}|\w{3,6}) of (?:them|those|these)$", re.I)
_ONE: Final = re.compile(r"^(?:the |a |not the |but not the )?[\w' -]{2,30} ones?$", re.I)
_WORDS: Final = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_MOST_WORDS: Final = 4
_SIZE_WORDS: Final = ("head", "heads", "handful", "handfuls", "bag", "bags", "sachet", "sachets")


@dataclass(frozen=True, slots=True)
class Things:
    """What a list names, in words that can be read again, and what was left aside of it."""

    said: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    # Whether the lexicon knows every one of them.
    is_known: bool = False
    is_whole: bool = False
    vague: tuple[str, ...] = ()
    place: str = ""
    is_listed: bool = False

    @property
    def text(self) -> str:
        """The list as one writes it."""
        return ", ".join(self.said)


_PLACED: Final = re.compile(
    rf"[,\s]*\b(?:in|into|to|on|at the back of|inside|onto|off|from)\s+(?:the|my|"
    rf"our)\s+(?:back of the\s+)?(?P<place>{PLACE})\b",
    re.I,
)
_LISTED: Final = re.compile(
    rf"[,\s]*\b(?:on|to|onto|off|from|in)\s+(?:(?:the|my|our)\s+{LIST}|there|"
    rf"it)\b(?:\s+(?:too|again|please|for \w{{2,12}}|will you))*",
    re.I,
)
LONGEST: Final = 400


def read_list(text: str) -> Things | None:
    """Return what a list names, or None if a part of it can be no thing."""
    if len(text) > LONGEST:
        return None
    listed = _LISTED.search(text)
    text = text if listed is None else text[: listed.start()] + text[listed.end() :]
    placed = _PLACED.search(text)
    text = text if placed is None else text[: placed.start()] + text[placed.end() :]
    said: list[str] = []
    remarks: list[str] = []
    vague: list[str] = []
    known: list[bool] = []
    is_whole = False
    for part in split_items(text.strip(" ,:;.!?")):
        piece = _LEAD.sub("", part)
        of_them = _OF_THEM.match(piece)
        if said and (of_them or _is_amount(piece)) and not said[-1][0].isdigit():
            said[-1] = f"{of_them[1] if of_them else piece} {said[-1]}"
            continue
        if said and _is_remark(piece):
            remarks.append(part)
            continue
        if _VAGUE.match(piece):
            vague.append(_TAIL.sub("", _VAGUE.sub("", piece)))
            continue
        name = _one(_LAST_ONE.sub("1 ", _LAST_COUNT.sub("", piece)))
        whole = _WHOLE.sub("", name)
        is_whole = is_whole or whole != name
        found = _thing(_OWNED_DAY.sub("", _LEAD.sub("", whole)))
        if found is None:
            return None
        said.append(found[0])
        known.append(found[1])
    if not said and not vague:
        return None
    if not any(known) and any(_is_bare(each) for each in said):
        # A word nobody knows is taken for a thing only in the company of things.
        return None
    return Things(tuple(said), tuple(remarks), all(known), is_whole, tuple(vague),
                  "" if placed is None else placed["place"].casefold(),
                  listed is not None)  # fmt: skip


def _is_amount(text: str) -> bool:
    amount, _, unit = re.sub(r"(?<=\d)(?=[a-z])", " ", text.casefold()).partition(" ")
    is_measure = not unit or (is_known_unit(unit) and not is_listed(unit))
    return amount[:1].isdigit() and is_measure


def _is_remark(piece: str) -> bool:
    """Say whether a part of a list only describes the thing before it."""
    folded = piece.casefold()
    if folded in _described() or _ONE.match(piece):
        return True
    return folded.startswith(("not ", "but not ", "too ", "so ", "very ")) or folded == ""


def _one(piece: str) -> str:
    """Return a part of a list with its amount in front."""
    times = _TIMES.match(piece)
    if times is not None and is_known_unit(times[3]):
        amount = float(times[1]) * float(times[2])
        return f"{amount:g} {times[3]} {piece[times.end() :].strip()}"
    packs = _PACKS.match(piece)
    if packs is not None:
        count = numbers().get(packs[1].casefold(), 0) or (
            float(packs[1]) if packs[1].isdigit() else 0
        )
        if count:
            return f"{count * float(packs[2]):g} {piece[packs.end() :].strip()}"
    few = _FEW.match(piece)
    if few is not None:
        return few["name"]
    behind = _BEHIND.match(piece)
    if behind is not None and (not behind["unit"] or is_known_unit(behind["unit"])):
        return _one(f"{behind['amount']} {behind['name']}")
    return piece


def _thing(piece: str) -> tuple[str, bool] | None:
    """Return one thing as it is noted, and whether the lexicon knows it."""
    plain = piece.strip(' ,.!?:;"“”')
    short = _TAIL.sub("", plain).strip(" ,.!?:;")
    whole = read_item(plain)
    if whole is not None and is_listed(whole.name):
        return plain, True
    for said in dict.fromkeys((short, _corrected(short))):
        item = read_item(said)
        if item is not None and is_known_thing(item.name) and _is_name(item.name):
            return said, True
    item = read_item(short)
    if item is None or not _is_name(item.name):
        return None
    words = _WORDS.findall(item.name)
    is_proper = any(word[0].isupper() for word in words)
    is_counted = item.quantity is not None and item.unit is not None
    is_plain = len(words) <= 2 and not set(item.name.casefold().split()) & _no_things()
    return (
        (short, False) if (is_proper or is_counted or is_plain) and is_plain | is_proper else None
    )


def _is_bare(said: str) -> bool:
    item = read_item(said)
    return item is not None and item.quantity is None and item.name == item.name.casefold()


def _corrected(text: str) -> str:
    """Return a text with a slip in the name of a food mended: carots."""
    return " ".join(food_meant(word) or word for word in text.split(" "))


def _is_name(name: str) -> bool:
    words = name.casefold().split()
    if is_listed_food(name):
        return True
    return len(words) <= _MOST_WORDS and not set(words) & _no_things() and "'s" not in name[-2:]


def read_each(things: Things) -> list[Item]:
    """Return the things of a list with their amounts."""
    return [item for item in map(read_item, things.said) if item is not None]


@cache
def _no_things() -> frozenset[str]:
    return frozenset([*lexicon()["no_things"], *lexicon()["kinds"]["person"]])


@cache
def _described() -> frozenset[str]:
    return frozenset(lexicon()["describing"])


def named_foods(text: str) -> Sequence[str]:
    """Return the foods a text names, wherever they stand."""
    words = _WORDS.findall(text)
    found: list[str] = []
    at = 0
    while at < len(words):
        for size in (3, 2, 1):
            part = " ".join(words[at : at + size])
            if len(words[at : at + size]) == size and is_listed_food(part):
                found.append(part)
                at += size
                break
        else:
            at += 1
    return list(dict.fromkeys(found))


def is_listed_food(name: str) -> bool:
    """Say whether just this is the name of a food."""
    return is_listed(name) and is_thing(name)


_IN_SENTENCES: Final = re.compile(
    r"\b(?:to|for|from|in|on|at|by|then|so|size|again|please|pls)\b|(?<!\S)\d+(?!\S)", re.I
)
_MOST_NAME_WORDS: Final = 3


def is_doubtful_name(name: str) -> bool:
    """Say whether a name may be more than one: words of a sentence, or what only measures."""
    if not name or is_listed(name) or name.startswith('"'):
        return False
    words = name.casefold().split()
    if any(is_known_unit(word) and not is_listed(word) for word in words[-1:] + words[:-1][:2]):
        return True
    if set(words) & _no_things() and not is_known_thing(name):
        return True
    return len(words) > _MOST_NAME_WORDS or _IN_SENTENCES.search(name) is not None
