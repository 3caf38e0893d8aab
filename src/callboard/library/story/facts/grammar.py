"""Grammar: sentences with every name masked, the pieces of patterns, and who vouches for a clause.

In a masked sentence every known name is one sign, so that patterns need not know names.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from typing import Final, Protocol

from callboard.library.story.lexicon import families_in, words_in
from callboard.library.story.text import Sentence

FIRST_SIGN: Final = 0xE000
_LAST_SIGN: Final = 0xEFFF
# Text of a regular expression for the sign of any mention.
ENTITY: Final = f"[{chr(FIRST_SIGN)}-{chr(_LAST_SIGN)}]"
_TITLE_BEFORE: Final = re.compile(r"((?:[A-Z][a-z]+[. -]+){1,2})$")
# Who a sentence is about, and whose something is; a pronoun is resolved later or not at all.
SUBJECT: Final = rf"(?P<who>{ENTITY}(?!['’])|\b(?:[Hh]e|[Ss]he|I)\b)"
OWNER: Final = rf"(?:(?P<who>{ENTITY})['’]s?|\b(?P<whose>[Hh]is|[Hh]er|[Mm]y)\b)"
# What may follow a predicate that is complete: "… was green and tired", not "… was green fire".
STOPS: Final = (
    r"(?=\s*(?:[.,;:!?—–)”\"]|$)|\s+(?:and|but|or|in|under|behind|beneath|beside|by|at|now|again"
    r"|who|when|though|today|tonight|that|this)\b)"
)
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


class NameHit(Protocol):
    """Where a known name stands in a text, and whose it is."""

    @property
    def name(self) -> str:
        """The entity's canonical name."""
        ...

    @property
    def start(self) -> int:
        """Where the name begins."""
        ...

    @property
    def end(self) -> int:
        """Where the name ends."""
        ...


@dataclass(frozen=True, slots=True)
class MaskedName:
    """A known name in a sentence, with the titles that stand before it."""

    entity: str
    text: str
    # Lower-cased, without full stop: "captain", "mrs".
    titles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Masked:
    """A text with signs in place of names; the sign's number is the mention's."""

    text: str
    mentions: tuple[MaskedName, ...]

    def number_at(self, sign: str) -> int:
        """Return the number of the mention a sign stands for."""
        return ord(sign) - FIRST_SIGN


@dataclass(frozen=True, slots=True)
class MaskedSentence:
    """A sentence as the extractor reads it: what is narrated and what is spoken, names masked."""

    sentence: Sentence
    narration: Masked
    speech: Masked

    @property
    def text(self) -> str:
        """What the narrator says."""
        return self.narration.text


def mask(text: str, hits: Iterable[NameHit]) -> Masked:
    """Put a sign in place of every hit and of the titles before it; hits do not overlap."""
    parts: list[str] = []
    mentions: list[MaskedName] = []
    at = 0
    for hit in sorted(hits, key=lambda each: each.start):
        if hit.start < at or len(mentions) > _LAST_SIGN - FIRST_SIGN:
            continue
        before, before_name = _without_titles(text[at : hit.start])
        parts += [before, chr(FIRST_SIGN + len(mentions))]
        mentions.append(MaskedName(hit.name, text[hit.start : hit.end], before_name))
        at = hit.end
    parts.append(text[at:])
    return Masked("".join(parts), tuple(mentions))


def _without_titles(before: str) -> tuple[str, tuple[str, ...]]:
    match = _TITLE_BEFORE.search(before)
    if not match:
        return before, ()
    words = re.findall(r"[A-Za-z]+", match[1])
    taken: list[str] = []
    while words and words[-1].lower() in titles():
        taken.insert(0, words.pop().lower())
    if not taken:
        return before, ()
    cut = before.rindex(taken[0].capitalize())
    return before[:cut], tuple(taken)


@cache
def titles() -> frozenset[str]:
    """Return every word that may stand before a name without being part of it."""
    ranks = {word for rank in families_in("facts", "ranks").values() for word in rank}
    single = {word for rank in ranks for word in rank.split()}
    return frozenset(single) | words_in("facts", "courtesies")


@cache
def adjective() -> str:
    """Return the text of an expression for one adjective, with what joins it to the next word."""
    listed = alternatives(words_in("facts", "looks_adjectives"))
    ending = r"[a-z]+(?:ing|ed|ous|ful|less|ish|ent|ant|ive|ly|set|-lidded|-lashed)"
    return rf"(?:(?:{listed}|{ending}),? (?:and |but |yet )?)"


@cache
def kin_words() -> str:
    """Return the text of an expression for any word of kinship."""
    return alternatives(frozenset[str]().union(*families_in("facts", "kin").values()))


@cache
def person_words() -> str:
    """Return the text of an expression for any word for a person."""
    return alternatives(words_in("facts", "persons"))


def alternatives(words: frozenset[str]) -> str:
    """Return the text of an expression for any of the words, the longest first."""
    ordered = sorted(words, key=lambda word: (-len(word), word))
    return "|".join(re.escape(word) for word in ordered)


def named_by(masked: Masked, match: re.Match[str], *groups: str) -> int | str | None:
    """Return the mention's number or the pronoun a match says, from the first group it filled."""
    told = match.groupdict()
    for group in groups or ("who", "whose"):
        if word := told.get(group):
            return masked.number_at(word) if re.fullmatch(ENTITY, word) else word.lower()
    return None


def is_vouched_for(
    text: str, start: int, end: int, *, beside_speech: bool = False, says_no: bool = False
) -> bool:
    """Say whether a stretch of a sentence is told as a plain fact."""
    if text.rstrip(" \"”’'»)").endswith("?") or _AFTERTHOUGHT.match(text[end : end + _PAGE_CHARS]):
        return False
    # What the claim's own words deny, they do not doubt.
    last = start if says_no else end
    before = text[_last_stop(_HARD_STOP, text, start) : last]
    doubts = words_in("facts", "doubts")
    if _words(before) & (doubts - _TAGS if beside_speech else doubts) or _AS_IF.search(before):
        return False
    near = text[_last_stop(_SOFT_STOP, text, start) : last]
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
def tells_change(text: str, topic: str, *, outright: bool = False) -> bool:
    """Say whether a text states that something of this topic changed.

    `outright`: in words of this very topic ("dyed"), not only of any change ("no longer").
    """
    families = families_in("facts", "changes")
    if outright and topic not in families:
        return False
    pattern = _any_of(families[topic]) if outright else _phrases("changes", topic)
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


@lru_cache(maxsize=64)
def _any_of(phrases: frozenset[str]) -> re.Pattern[str]:
    listed = "|".join(re.escape(phrase) for phrase in sorted(phrases, key=lambda p: (-len(p), p)))
    return re.compile(rf"\b(?:{listed})\b", re.IGNORECASE)
