"""What the writer's message is to the open question, by rules, and which of its words answer it.

What is plainly an answer is one; what may be one is asked about; all else is no answer. It files
nothing and asks no model.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any, Final

from callboard.core.bundled import bundled_yaml
from callboard.packs.writers_factory.foreman.hearing.marks import (
    PROPER,
    WANTED,
    Wants,
    is_belief,
    is_plain,
    is_told,
)
from callboard.packs.writers_factory.foreman.hearing.utterance import (
    answer_in,
    has_lead,
    is_tentative,
    name_in,
)

_PACKAGE: Final = "callboard.packs.writers_factory.foreman.hearing"
_ASIDE: Final = "aside"
_ABOUT_WRITER: Final = "about the writer"


class MessageKind(StrEnum):
    """What a message is to the open question."""

    ANSWER = "answer"
    # It may be an answer: the writer is asked before it counts.
    MAYBE = "maybe"
    QUESTION = "question"
    GO_ON = "go on"
    ORIENT = "orient"
    YES = "yes"
    NO = "no"
    UNDO = "undo"
    SKIP = "skip"
    SHOW = "show"
    HELP = "help"
    REQUEST = "request"
    COMPLAINT = "complaint"
    UNDECIDED = "undecided"
    COURTESY = "courtesy"
    UNREADABLE = "unreadable"
    # What the writer wants remembered, whatever the question was.
    PREFERENCE = "preference"
    CORRECTION = "correction"


@dataclass(frozen=True, slots=True)
class ReadMessage:
    """What a message is, and the words of it that answer; none where it answers nothing."""

    kind: MessageKind
    value: str = ""


_WHOLE_WORDS: Final = 14
# A wish of so many words says something of the book as well.
_TOLD_WORDS: Final = 8
_MOST_RUNNING: Final = 60

_SENTENCE: Final = re.compile(r"[^.!?…\n]+(?:[.!?…]+(?=\s|$|[\"”')])[\"”')]*|\n|$|[.!?…]+)")
# The point of an abbreviation ends no sentence; it is held back while a text is cut.
_SHORTENED: Final = re.compile(r"\b(?:Dr|Mr|Mrs|Ms|St|Prof|Capt|Sgt|Lt|Col|Gen|Rev|Jr|Sr|[A-Z])\.")
_HELD: Final = "\u2024"
_PARENTHESIS: Final = re.compile(r"(?<!\s)\s*+\([^()]*\)")
_QUESTION: Final = re.compile(
    r"(?:\W*(?:ok|so|and|but|well|wait|hm+|or)\b)*+\W*+(?:who|what|when|where|why|how|which|whose"
    r"|who's|what's|where's|how's)\b(?! (?:she|he|they) (?:wants?|needs?|does|believes?)\b)"
    r"|(?:\W*(?:ok|so|and|but|well|wait|or|then)\b)*+\W*+"
    r"(?:can|could|should|do|does|did|is|are|am|was|were|will|would|may|shall|isn't|aren't|don't"
    r"|doesn't|didn't|won't|can't|couldn't|shouldn't|have|has|had)\s+"
    r"(?:i|you|we|it|he|she|they|this|that|there|the|a|an|my|your|her|his|\w+ing|theme|flaw)\b",
    re.IGNORECASE,
)
_ASKED_INSIDE: Final = re.compile(
    r"(?:,|-|–|—|\bso|\band|\bbut)\s*(?:where|what|how|why|which|when|who)\b"
    r"(?:\s+(?:would|should|do|does|can|could|am|did|is|are|again)\b|\W*$)",
    re.IGNORECASE,
)
_OPENS_WITH_SOMEBODY: Final = re.compile(r"\W*+(?:he|she|they)(?:'\w+)?\b", re.IGNORECASE)
_HAS_NONE: Final = re.compile(
    r"\b(?:does|do)(?:n't| not) (?:really )?have (?:one|any)\b|\b(?:has|have) no (?:flaw|weakness)",
    re.IGNORECASE,
)
# `That's my theme`: what stands before it was meant, also as a question.
_MEANT: Final = re.compile(r"\W*+(?:that|this)(?:'s| is) (?:my|the|her|his)\b", re.IGNORECASE)
_YOU: Final = re.compile(r"\b(?:you|your|you're|yours|ya|u)\b", re.IGNORECASE)
_SPEAKS_OF_WORK: Final = re.compile(
    r"\b(?:questions?|themes?|flaws?|beats?|midpoints?|catalysts?|arcs?|answers?|templates?"
    r"|chapters?|drafts?|novels?|novella|books?|bestseller|outline|protagonists?|characters?"
    r"|word count|fonts?|spoilers?|names|functions|plot|structure|act)\b",
    re.IGNORECASE,
)
_WORKS: Final = re.compile(
    r"\b(?:drafts?|novels?|novella|genres?|fonts?|word count|deadline|publishers?"
    r"|my editor|my agent|chapter \d+|\d+ words)\b",
    re.IGNORECASE,
)
_PREFERENCE: Final = re.compile(
    r"\b(?:i prefer|i'd rather (?:have|use|keep|see)|i would rather (?:have|use|keep|see)"
    r"|please (?:use|keep to|avoid|write in)|(?:use|keep to) (?:british|american|present|past|first"
    r"|third|short|long)|from now on|in this book,? (?:always|never)"
    r"|i want (?:short|long|more|less|fewer) \w+s\b)",
    re.IGNORECASE,
)
_CORRECTION: Final = re.compile(
    r"\W*+(?:no[,.]|actually\b,?|correction\b:?|remember(?: that)?\b:?)\s*(?P<told>.+)",
    re.IGNORECASE | re.DOTALL,
)
_CORRECTED: Final = re.compile(r"(?:the |that )?[A-Z]?\w+ (?:is|was|has|had|were|are)\b")
_OF_A_CHAPTER: Final = re.compile(
    r"\b(?:was|were|is) (?:lost|dead|already|not)\b.{0,40}\b(?:in|since) (?:chapter|scene)\b",
    re.IGNORECASE | re.DOTALL,
)


def read_message(message: str, field: str = "", hero: str = "") -> ReadMessage:
    """Sort a message by rules, and return the words of it that answer.

    `field` is what was asked for, `hero` who the book is about.
    """
    text = _straight(message)
    whole = _whole_kind(text)
    if whole is not None:
        return ReadMessage(whole)
    if _PREFERENCE.search(text) and not text.endswith("?"):
        return ReadMessage(MessageKind.PREFERENCE)
    if _is_correction(text):
        return ReadMessage(MessageKind.CORRECTION)
    return _of_sentences(text, WANTED.get(field, Wants.EVENT), hero)


def _is_correction(text: str) -> bool:
    """Say whether a message sets a fact of the book right."""
    if text.endswith("?"):
        return False
    if _OF_A_CHAPTER.search(text):
        return True
    found = _CORRECTION.fullmatch(text)
    told = found["told"] if found is not None else ""
    is_fact = _CORRECTED.match(told) is not None and PROPER.search(f"x {told}") is not None
    return is_fact and not _YOU.search(told)


def is_agreement(message: str) -> bool:
    """Say whether a message is nothing but a yes."""
    return _whole_kind(_straight(message)) is MessageKind.YES


def is_taking_back(message: str) -> bool:
    """Say whether a message is nothing but the wish to have the last thing undone."""
    return _whole_kind(_straight(message)) is MessageKind.UNDO


def statements_in(message: str) -> str:
    """Return what of a message tells something, without greetings, questions and small talk."""
    text = _straight(message)
    if _whole_kind(text) is not None:
        return ""
    if _PREFERENCE.search(text):
        return text
    asked_for = (None, MessageKind.REQUEST, MessageKind.COMPLAINT)
    return " ".join(
        each
        for each in _split(text)
        if (kind := _sorted(each, Wants.CLAIM, "").kind) is None
        or (kind in asked_for and (is_told(each, "") or len(each.split()) >= _TOLD_WORDS))
        or (kind is MessageKind.UNDECIDED and _spoken_kind(each, Wants.CLAIM) is None)
    )


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    kind: MessageKind | str | None
    # Whether it says of itself that it is not meant for certain.
    is_tentative: bool = False


def _of_sentences(text: str, wants: Wants, hero: str) -> ReadMessage:
    if any(each.search(text) for each in dict(_patterns("sentences"))["unreadable"]):
        return ReadMessage(MessageKind.UNREADABLE)
    sentences = [_sorted(each, wants, hero) for each in _split(text)]
    if len(sentences) > 1 and _MEANT.match(sentences[-1].text):
        first = sentences[0]
        sentences = [_Sentence(first.text, None, first.kind is not None)]
    told = [each for each in sentences if each.kind is None]
    kinds = [each.kind for each in sentences if isinstance(each.kind, MessageKind)]
    if not told:
        kind = next(iter(kinds), MessageKind.COURTESY)
        return ReadMessage(kind)
    value = answer_in([each.text for each in told])
    if wants is Wants.NAME:
        value = name_in(value)
    if not value:
        return ReadMessage(kinds[0] if kinds else MessageKind.UNDECIDED)
    is_announced = any(has_lead(each.text, strongly=True) for each in told)
    is_doubted = any(each.is_tentative for each in told) or bool(kinds)
    if not is_doubted and is_plain(value, wants, hero, is_announced=is_announced):
        return ReadMessage(MessageKind.ANSWER, value)
    return ReadMessage(MessageKind.MAYBE, value)


def _sorted(text: str, wants: Wants, hero: str) -> _Sentence:
    """Say what a sentence is; None is a statement that may answer."""
    kind = _sentence_kind(text, wants, hero)
    is_asked = text.rstrip("\"”') ").endswith("?") or _QUESTION.match(text) is not None
    if kind is None and (is_asked or _ASKED_INSIDE.search(text)):
        if is_tentative(text) or (is_asked and not _QUESTION.match(text) and not _YOU.search(text)):
            return _Sentence(text, None, True)
        return _Sentence(text, MessageKind.QUESTION)
    return _Sentence(text, kind, kind is None and is_tentative(text) and text.endswith("?"))


def _sentence_kind(text: str, wants: Wants, hero: str) -> MessageKind | str | None:
    bare = answer_in([text])
    if _whole_kind(text) is not None and not has_lead(text):
        return _whole_kind(text)
    # Who speaks of the people of the book speaks of the book.
    if _OPENS_WITH_SOMEBODY.match(bare) and not _ASKED_INSIDE.search(text):
        return MessageKind.UNDECIDED if _HAS_NONE.search(bare) else None
    spoken = _spoken_kind(text, wants)
    if spoken is not None:
        return spoken
    if _YOU.search(bare) and wants is not Wants.CLAIM:
        return MessageKind.REQUEST
    is_of_work = _SPEAKS_OF_WORK.search(bare) is not None and not is_told(bare, hero)
    return MessageKind.UNDECIDED if is_of_work or _WORKS.search(bare) else None


def _spoken_kind(text: str, wants: Wants) -> MessageKind | str | None:
    """Say what the words of a sentence make it, by the patterns of the pack."""
    bare = answer_in([text])
    for kind, patterns in _patterns("sentences"):
        looked_at = bare if has_lead(text) else text
        if any(pattern.search(looked_at) for pattern in patterns):
            if kind == _ABOUT_WRITER and is_belief(bare, wants):
                continue
            return _ASIDE if kind == _ASIDE else _kind(kind)
    return None


def _kind(name: str) -> MessageKind:
    return MessageKind.COURTESY if name == _ABOUT_WRITER else MessageKind(name)


def _split(text: str) -> Iterable[str]:
    bare = _PARENTHESIS.sub("", text) or text
    held = _SHORTENED.sub(lambda found: found[0][:-1] + _HELD, bare)
    found = (each[0].strip().replace(_HELD, ".") for each in _SENTENCE.finditer(held))
    return [each for each in found if each] or [bare]


def _straight(message: str) -> str:
    plain = message.strip().replace("’", "'").replace("‘", "'")
    return re.sub(r"[ \t]+", " ", plain)


def _whole_kind(text: str) -> MessageKind | None:
    if len(text.split()) > _WHOLE_WORDS and not _is_running(text):
        return None
    bare = text.strip(" \t\n.!?,;:…-–—()\"'*~^")
    for kind, patterns in _patterns("whole"):
        if any(pattern.fullmatch(bare) for pattern in patterns):
            return MessageKind(kind) if bare or kind == "unreadable" else MessageKind.UNREADABLE
    return MessageKind.UNREADABLE if _is_running(text) else None


def _is_running(text: str) -> bool:
    """Say whether the same words run on and on."""
    words = text.split()
    return len(words) > _MOST_RUNNING and len(set(words)) < len(words) / 10


@cache
def _patterns(part: str) -> tuple[tuple[str, tuple[re.Pattern[str], ...]], ...]:
    loaded: dict[str, Any] = bundled_yaml(_PACKAGE, "phrases.yaml")
    return tuple(
        (kind, tuple(re.compile(each, re.IGNORECASE) for each in listed))
        for kind, listed in loaded[part].items()
    )
