"""Plainness: whether what was read accounts for every word of a message.

The one place every reading passes. What writes is done at once only if nothing of the message is
left over: no word nobody placed, no number that is not written, nothing asked, supposed, denied or
told by somebody else. Anything else is shown first and waits for a yes. Nothing is read here.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final, cast

from callboard.choreography.turn.domain import Routed
from callboard.choreography.turn.requests import Condition, WriteOp, WriteRequest
from callboard.knowledge.entities.matching import singular_words
from callboard.packs.alfred.kitchen.compute.amounts import canonical_unit, is_known_unit
from callboard.packs.alfred.kitchen.food.foods import is_listed
from callboard.packs.alfred.kitchen.hearing.clauses import Clause, split_clauses
from callboard.packs.alfred.kitchen.hearing.intents import Guess, guess_intent
from callboard.packs.alfred.kitchen.hearing.speech import (
    act_at,
    food_at,
    food_meant,
    full_words,
    lexicon,
)
from callboard.packs.alfred.kitchen.router.dates import DAY, PERIOD
from callboard.packs.alfred.kitchen.router.situation import Situation
from callboard.packs.alfred.kitchen.router.things import is_doubtful_name, named_foods
from callboard.packs.alfred.kitchen.router.words import (
    LIST,
    PLACE,
    TARGET,
    TASK_LIST,
    kinds,
    numbers,
)

# Forms that name a recipe or a task have read all of a message, or nothing.
_LOOKED_AT: Final = ("inventory_items", "shopping_items", "meal_plans", "cooking_log")
_NAMES: Final = ("ingredient", "name", "ingredient.name", "note")
_TOKEN: Final = re.compile(r"\d+(?:[.,/]\d+)?|[½¼¾⅓⅔]|[^\W\d_]+(?:['’&-][^\W\d_]+)*|[?&%]", re.I)
_DAYED: Final = re.compile(rf"\b(?:for |on )?(?:the )?(?:{DAY}|{PERIOD}|weekend)(?!\w)", re.I)
_PAST_DAY: Final = re.compile(
    r"\b(?:today|yesterday|just now|earlier|last (?:night|week|weekend|time)|the other day|"
    r"this (?:morning|afternoon|evening)|(?:for|at) (?:breakfast|lunch|dinner|tea|supper|a snack))"
    r"\b",
    re.I,
)
_LISTED: Final = re.compile(
    rf"\b(?:on|to|onto|off|from|in|of|for)? ?(?:(?:the|my|our|that|this) )?(?:{LIST}|{TASK_LIST})\b"
    r"|\b(?:on|off) (?:there|it)\b",
    re.I,
)
_PUT_IN: Final = re.compile(
    rf"(?:put|add|store|freeze)\b.*(?:freeze|\b(?:in|into|to) .*{PLACE})", re.I
)
# Where something is from says nothing about it; what it is for, if that is a meal or a dish.
_SOURCE: Final = re.compile(
    r"\b(?:from|at) (?:(?:the|my|our|a|an) )?(?!me\b|us\b)[^\W\d]+(?:['’]s)?(?: [^\W\d]+)??"
    r"(?=$|[.,;:!]| (?:and|plus|today|yesterday|earlier|for)\b)",
    re.I,
)
_PURPOSE: Final = re.compile(
    r"\bfor (?:(?:the|my|our|his|her|a|an|some) )?(?P<what>[^\W\d]+(?:[ -][^\W\d]+)?)"
    r"(?=$|[.,;:!]| (?:and|plus|today|yesterday|please)\b)",
    re.I,
)
_NO_MORE: Final = re.compile(r"\b(?:used to|no more)\b", re.I)
_POLITE: Final = re.compile(
    r"\b(?:can|could|would|will) (?:you|someone|somebody)\b(?: please| kindly| be so kind as to| "
    r"also)*|\bwould you mind\b|\bi would like (?:you )?to\b|\bi want (?:you )?to\b|\bplease\b",
    re.I,
)
# What nobody can reckon with is not taken out, and that is told.
_VAGUE: Final = re.compile(
    r"\ba (?:bit|little|splash|pinch|dash|drop|touch|handful) of [^\W\d]+", re.I
)
# What is only told beside a purchase, and how a meal to come is told.
_BESIDE: Final = {
    "inventory_items": re.compile(r"\b(?:went|been|have been) (?:food |grocery )?shopping\b", re.I),
    "meal_plans": re.compile(r"\b(?:are|am|is) (?:all )?having\b", re.I),
}
# Whoever begins so wants nothing else than to have it taken out or set.
_ORDERED: Final = re.compile(r"(?:please )?(?:remove|delete|set|change|update)\b", re.I)
_FREE_OF: Final = re.compile(
    r"\b(?:gluten|dairy|lactose|sugar|nut|egg|fat|alcohol|caffeine)[ -]free\s+(?=\w)", re.I
)
_POINTED: Final = re.compile(r"\b(?:that|this|the) one\b", re.I)
_REMARKING: Final = re.compile(r"^(?:it|they|that|those|which|he|she)\b", re.I)
_CONTRARY: Final = ("but", "if", "or", "unless", "though", "although", "except")
_PICKED: Final = re.compile(r"\s\(([^()]{1,80})\)$")
_TARGETED: Final = re.compile(rf"\b{TARGET}\b", re.I)
_QUOTED: Final = re.compile(r'"[^"]*"|“[^”]*”')
# What is done with things, by what is written about them.
_SERVED: Final = {
    ("inventory_items", True): ("acquired", "have", "put", "fetch"),
    ("inventory_items", False): (
        "consumed", "thrown", "out_of", "given", "taken", "had", "have", "remove", "gone", "put",
    ),
    ("shopping_items", True): ("fetch", "need", "put", "out_of"),
    ("shopping_items", False): ("unwanted", "remove", "acquired", "fetch", "have", "thrown"),
    ("meal_plans", True): ("have", "put", "fetch", "need"),
    ("meal_plans", False): ("remove", "unwanted", "put"),
    ("cooking_log", True): ("had", "consumed"),
}  # fmt: skip
_BY_ANYBODY: Final = frozenset({"acquired", "consumed", "thrown", "given", "had"})


@dataclass
class _ToWrite:
    """What is to be written, as the words and numbers a message may say it in."""

    words: set[str] = field(default_factory=set[str])
    numbers: set[float] = field(default_factory=set[float])
    units: set[str] = field(default_factory=set[str])
    acts: set[str] = field(default_factory=set[str])
    tables: set[str] = field(default_factory=set[str])
    names: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    is_dated: bool = False
    is_corrected: bool = False
    takes_away: bool = False


def plainest(situation: Situation, *readings: Routed | None) -> Routed | None:
    """Return the reading that leaves least of a message over; if any of it, it waits for a yes."""
    read = [each for each in readings if each is not None]
    if not read:
        return None
    left = [len(list(_left_over(situation, each))) for each in read]
    best = read[left.index(min(left))]
    return replace(best, unsure=True, weak=True) if min(left) else best


def _is_looked_at(write: WriteRequest, text: str) -> bool:
    if write.from_result is not None or write.from_content is not None:
        return False
    # A limit counts at once; what somebody once hated, or has run out of, is none.
    is_past = write.table == "user_profile" and _NO_MORE.search(text) is not None
    return write.table in _LOOKED_AT or is_past


def _left_over(situation: Situation, routed: Routed) -> Iterator[str]:
    """Yield what of a message a reading does not account for."""
    writes = [step.write for step in routed.steps if step.write is not None]
    writes = [each for each in writes if _is_looked_at(each, situation.text)]
    if routed.unsure:
        yield "unsure"
    if not writes:
        return
    written = _written(routed, writes)
    text = full_words(situation.text)
    written.is_corrected = written.takes_away and not named_foods(text)
    is_listed_so = _LISTED.search(text) is not None
    yield from _strange_names(text, written, is_listed_so=is_listed_so)
    guess = guess_intent(situation.text)
    # Who names the list or a place has said where it goes.
    is_said = _TARGETED.search(text) or (written.takes_away and _ORDERED.match(text))
    if not is_said and all(_is_against(guess, each) for each in writes):
        yield guess.intent
    if "?" in situation.asked.message and not _POLITE.match(full_words(situation.asked.message)):
        yield "?"
    picked = _PICKED.search(text)
    if picked is not None and set(singular_words(picked[1])) <= written.words:
        # The rest was asked about, and this is the answer.
        return
    # A number that is part of a name is no amount.
    numbered = [each for _, each in written.names if re.fullmatch(r"[^\W\d]+\d+", each)]
    for part in (*_QUOTED.findall(text), *numbered):
        text = text.replace(part, " ")
    for clause in split_clauses(text):
        if not _is_remark(clause, written):
            yield from _left_of(f"{clause.bound} {clause.text}", written)


def _strange_names(text: str, written: _ToWrite, *, is_listed_so: bool) -> Iterator[str]:
    """Yield the names that may be more or less than the name of a thing."""
    for table, name in written.names:
        if any(name in each for each in _QUOTED.findall(text)):
            continue
        is_target_said = is_listed_so if table == "shopping_items" else _PUT_IN.match(text)
        is_target_said = is_target_said or table == "meal_plans"
        if not is_plain_name(name, may_be_unknown=bool(is_target_said)):
            yield name


def _written(routed: Routed, writes: Sequence[WriteRequest]) -> _ToWrite:
    written = _ToWrite()
    told = [routed.goal, *(step.description for step in routed.steps)]
    for write in writes:
        comes = write.op in (WriteOp.CREATE, WriteOp.UPSERT)
        written.tables.add(write.table)
        written.acts |= set(_SERVED.get((write.table, comes), ()))
        written.takes_away |= not comes
        written.words |= {"change", "update"} if "quantity" in write.set else set[str]()
        values = [
            *((key, value) for each in (*write.records, write.set) for key, value in each.items()),
            *(
                (f.field, v)
                for f in write.filters
                if isinstance(f, Condition)
                for v in _listed(f.value)
            ),
        ]
        for key, value in values:
            written.is_dated |= key in ("plan_date", "expires_on", "due_at")
            if isinstance(value, str):
                told.append(value)
            if isinstance(value, int | float):
                written.numbers.add(float(value))
            if key == "unit" and value:
                written.units.add(str(value))
            if key in _NAMES and isinstance(value, str):
                written.names.append((write.table, value))
    if any(step.write is None for step in routed.steps):
        written.tables.add("answered")
    for each in told:
        written.words |= set(singular_words(each)) | set(each.casefold().split())
        written.numbers |= {float(n) for n in re.findall(r"\d+(?:\.\d+)?", each)}
    if "%" in routed.goal:
        # A share of what is there is reckoned with already.
        written.words |= {"third"}
        written.numbers |= set(_PARTS.values())
    return written


def _listed(value: Any) -> Sequence[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [value]


def is_plain_name(name: str, *, may_be_unknown: bool) -> bool:
    """Say whether a name is one of a thing and of nothing else."""
    if name.casefold() in lexicon()["mentions"]["portions"]:
        return False
    if name.startswith('"') or is_listed(name):
        return True
    words = re.findall(r"[^\W\d_]+(?:['&-][^\W\d_]+)*|\d+", _FREE_OF.sub("", name))
    folded = [word.casefold() for word in words]
    at = 0
    while at < len(words):
        size = food_at(words, at) or (folded[at] in lexicon()["describing"] and at < len(words) - 1)
        if not size:
            break
        at += size
    if words and at >= len(words):
        return True
    is_sentence = set(name.casefold().split()) & (_idle() | _saying()) or any(
        act_at(folded, i) for i in range(at)
    )
    return may_be_unknown and not is_sentence and not is_doubtful_name(name)


def _is_remark(clause: Clause, written: _ToWrite) -> bool:
    """Say whether a clause only tells how something was: "they were on offer"."""
    if clause.bound in _CONTRARY or clause.is_question or clause.is_unreal:
        return False
    text = clause.text.casefold()
    is_told = _REMARKING.match(text) is not None and (not clause.act or clause.act == "gone")
    is_gone = any(each in lexicon()["gone"] for each in text.split())
    names_more = named_foods(text) or re.search(r"\d", text) or _DAYED.search(text)
    return is_told and not names_more and not (is_gone and not written.takes_away)


def _left_of(text: str, written: _ToWrite) -> Iterator[str]:
    told = [_BESIDE[table] for table in written.tables & _BESIDE.keys()]
    for pattern in (*told, _POLITE, _LISTED, _PAST_DAY, _POINTED):
        text = pattern.sub(" ", text)
    text = _VAGUE.sub(" ", text) if written.takes_away else text
    if written.is_dated or "shopping_items" in written.tables:
        text = _DAYED.sub(" ", text)
    text = _PURPOSE.sub(_without_purpose, _SOURCE.sub(" ", text))
    words = [found.casefold() for found in _TOKEN.findall(text)]
    at = 0
    while at < len(words):
        act = act_at(words, at)
        if act is not None and words[at] not in written.words - _idle():
            is_helping = act[1] in ("have", "had") and _is_followed(words, at + act[0])
            if act[1] not in written.acts and not is_helping:
                yield " ".join(words[at : at + act[0]])
            at += act[0]
            continue
        size = _gone_at(words, at) if written.takes_away else 0
        if size:
            at += size
            continue
        if not _is_accounted(words, at, written):
            yield words[at]
        at += 1


def _without_purpose(found: re.Match[str]) -> str:
    what = found["what"]
    words = what.casefold().split()
    is_dish = any(word in lexicon()["kinds"]["dish"] for word in words)
    known = _idle() | frozenset(lexicon()["kinds"]["person"])
    is_plain = is_dish or is_listed(what) or all(word in known for word in words)
    return " " if is_plain else found[0]


def _is_followed(words: Sequence[str], at: int) -> bool:
    """Say whether a "have" only helps another word: "have just bought"."""
    while at < len(words) and words[at] in lexicon()["clauses"]["adverbs"]:
        at += 1
    return act_at(words, at) is not None or bool(_gone_at(words, at))


def _gone_at(words: Sequence[str], at: int) -> int:
    gone = lexicon()["gone"]
    return next((n for n in (3, 2, 1) if " ".join(words[at : at + n]) in gone), 0)


def _is_accounted(words: Sequence[str], at: int, written: _ToWrite) -> bool:
    word = words[at]
    number = _number(word)
    if number is not None:
        return _is_counted(words, at, number, written)
    if word in written.words or set(singular_words(food_meant(word) or word)) <= written.words:
        return True
    if word in _idle() or (written.takes_away and word in lexicon()["whole"]):
        return True
    if written.is_corrected and word in lexicon()["correcting"]:
        return True
    if is_known_unit(word):
        # The bag of "a 5 lb bag" adds nothing to its weight.
        is_measured = at > 0 and canonical_unit(words[at - 1]) in written.units
        return is_measured or canonical_unit(word) in written.units | written.words
    if word in lexicon()["kinds"]["person"]:
        return bool(written.acts & _BY_ANYBODY)
    if any(word in lexicon()["said_of"].get(table, ()) for table in written.tables):
        return True
    return kinds("places").get(word) in written.words | {""}


def _is_counted(words: Sequence[str], at: int, number: float, written: _ToWrite) -> bool:
    """Say whether a number is written, alone or reckoned with its neighbour: 2x1kg, 1 1/2."""
    if number in written.numbers:
        return True
    beside = [_number(each) for each in [*words[at + 1 : at + 4], *words[max(0, at - 3) : at]]]
    reckoned = {way for each in beside if each for way in (number * each, number + each)}
    is_old = written.is_corrected and any(each in written.numbers for each in beside)
    return is_old or bool(reckoned & written.numbers)


def _number(word: str) -> float | None:
    if word[0].isdigit():
        top, _, bottom = word.replace(",", ".").partition("/")
        return float(top) / float(bottom) if bottom and float(bottom) else float(top)
    return None if word in ("a", "an") else _PARTS.get(word) or numbers().get(word)


_PARTS: Final = {"half": 0.5, "quarter": 0.25, "½": 0.5, "¼": 0.25, "¾": 0.75}


def _is_against(guess: Guess, write: WriteRequest) -> bool:
    """Say whether a guess speaks against what is to be written."""
    fitting = [intent for intent, tables in _FITTING.items() if write.table in tables]
    is_named = write.table in ("meal_plans", "cooking_log")
    return not is_named and guess.of(*fitting) < _AGREES


# From here on the guess agrees with what a form or a clause was read as.
_AGREES: Final = 0.4
# What a message that wants something may write.
_FITTING: Final = {
    "add_stock": ("inventory_items", "shopping_items"),
    "use_stock": ("inventory_items", "shopping_items"),
    "add_list": ("shopping_items",),
    "remove_list": ("shopping_items",),
    "correction": ("shopping_items", "inventory_items", "meal_plans"),
    "plan_meal": ("meal_plans", "shopping_items"),
    "cook": ("cooking_log", "inventory_items"),
    "other": ("inventory_items", "shopping_items", "user_profile", "cooking_log"),
}


@cache
def _idle() -> frozenset[str]:
    """Return the words that say nothing about what is to be done."""
    return frozenset(lexicon()["plain"])


@cache
def _saying() -> frozenset[str]:
    return frozenset([*lexicon()["names"]["saying"], *lexicon()["names"]["first"]])
