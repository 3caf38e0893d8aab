"""Hedges: whether a narrator vouches for what a clause says, or denies, doubts or compares."""

import re
from functools import cache, lru_cache
from itertools import islice
from typing import Final

from callboard.library.story.facts.masks import ENTITY
from callboard.library.story.lexicon.groups import families_in, words_in

_PAGE_CHARS: Final = 600
_WORD: Final = re.compile(r"[a-z]+(?:['’-][a-z]+)*", re.IGNORECASE)
# Where a doubt at the start of a sentence stops to reach: "he thought of home, and her eyes …".
_HARD_STOP: Final = re.compile(r"[;:—–]|, (?:and|but|so|yet|for) |\.\.\.|…")
_SOFT_STOP: Final = re.compile(r", |[;:—–.!?…]| and | but ")
_COMMA: Final = re.compile(r", |[;:—–.!?…]")
_AS_IF: Final = re.compile(r"\bas (?:if|though)\b|\bas \w+ as\b", re.IGNORECASE)
_AFTERTHOUGHT: Final = re.compile(
    r"^[,—– ]*+(?:or so|it seemed|they said|people said|he thought|she thought|i thought|perhaps"
    r"|maybe|supposedly|in (?:his|her|my) dreams?)\b",
    re.IGNORECASE,
)
_PLAIN_NAME: Final = re.compile(rf"(?:{ENTITY}|he\b|she\b)(?= [a-z])", re.IGNORECASE)
_GOVERNED: Final = re.compile(
    r"\b(?:of|in|to|by|for|with|from|near|behind|beside|about|inside|within|than|like|at|on|around"
    r"|against|before|after|toward|towards|over|under|without|into|onto|through|across) $"
    r"|\b(?:who|whom|which|whose|between)\b.*$"
    r"|\bthat (?:had |has )?[a-z]+(?:ed|ew|ook|eld|ept|uck|it) $",
    re.IGNORECASE,
)
# In the narration beside speech these only say who speaks.
_TAGS: Final = frozenset({"said", "says", "told", "insisted", "joked", "claimed", "lied", "swore"})


def is_vouched_for(text: str, start: int, end: int, *, beside_speech: bool = False) -> bool:
    """Say whether a stretch of a sentence is told as a plain fact."""
    if text.rstrip(" \"”’'»)").endswith("?") or _AFTERTHOUGHT.match(text[end : end + _PAGE_CHARS]):
        return False
    before = text[_last_stop(_HARD_STOP, text, start) : end]
    doubts = words_in("facts", "doubts")
    if _words(before) & (doubts - _TAGS if beside_speech else doubts) or _AS_IF.search(before):
        return False
    near = text[_last_stop(_SOFT_STOP, text, start) : end]
    return not _words(near) & words_in("facts", "negations") and not _is_likeness(
        text, start, end, near
    )


def is_subject_or_owner(text: str, start: int) -> bool:
    """Say whether a name can be what its sentence is about: "the man behind Kael was …" is not."""
    if not _PLAIN_NAME.match(text, start):
        return True
    before = text[_last_stop(_COMMA, text, start) : start]
    return not _GOVERNED.search(before)


@lru_cache(maxsize=64)
def tells_change(text: str, topic: str) -> bool:
    """Say whether a text states that something of this topic changed."""
    pattern = _phrases("changes", topic)
    return pattern.search(text) is not None


@lru_cache(maxsize=64)
def looks_back(text: str) -> bool:
    """Say whether a text remembers, dreams or shows a picture rather than tells what happens."""
    return bool(_words(text) & words_in("facts", "memories")) or bool(
        _memory_phrases().search(text)
    )


def _last_stop(stops: re.Pattern[str], text: str, before: int) -> int:
    # The nearest is enough: what is further away than a page does not reach here.
    first = max(0, before - _PAGE_CHARS)
    return max((hit.end() for hit in stops.finditer(text, first, before)), default=first)


def _is_likeness(text: str, start: int, end: int, near: str) -> bool:
    likenesses = words_in("facts", "likenesses")
    after = [word[0].lower() for word in islice(_WORD.finditer(text, end), 2)]
    return bool(likenesses & _words(near)) or bool(likenesses & set(after))


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower().replace("’", "'") for word in _WORD.findall(text))


@cache
def _phrases(group: str, topic: str) -> re.Pattern[str]:
    families = families_in("facts", group)
    phrases = families.get("any", frozenset[str]()) | families.get(topic, frozenset[str]())
    return _any_of(phrases)


@cache
def _memory_phrases() -> re.Pattern[str]:
    return _any_of(
        frozenset(phrase.replace("_", " ") for phrase in words_in("facts", "memory_phrases"))
    )


def _any_of(phrases: frozenset[str]) -> re.Pattern[str]:
    listed = "|".join(re.escape(phrase) for phrase in sorted(phrases, key=lambda p: (-len(p), p)))
    return re.compile(rf"\b(?:{listed})\b", re.IGNORECASE)
