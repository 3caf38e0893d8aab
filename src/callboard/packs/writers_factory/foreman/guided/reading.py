"""What the writer's message is, by rules: the clear cases, so that no model has to guess them."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from callboard.packs.writers_factory.foreman.guided.gaps import BookGap

_NAME: Final = re.compile(r"\b[A-ZÀ-ÖØ-Þ][\w'’-]*(?:\s+[A-ZÀ-ÖØ-Þ][\w'’-]*){0,3}")
_ARTICLES: Final = frozenset(("a", "an", "the"))
# Words a sentence about somebody opens with; none of them is the name.
_OPENER: Final = re.compile(
    r"call|name|let|about|i|i['’]d|it|its|it['’]s|in|on|is|he|she|they|her|him|his|their|my|our"
    r"|this|that|who",
    re.IGNORECASE,
)
_MOST_BARE_WORDS: Final = 4
_FEWEST_BARE_WORDS: Final = 2


def name_in(message: str) -> str:
    """Return the name a message gives: a short one whole, of a sentence the first in it.

    A sentence that names nobody gives none.
    """
    words = message.strip().strip(".!\"“”'").split()
    names = (_name_of(hit[0]) for hit in _NAME.finditer(message))
    named = next((each for each in names if each), "")
    if len(words) <= 3 and (not named or named.startswith(words[0])):
        return " ".join(words)
    return named


def _name_of(capitals: str) -> str:
    """Return what of words in capitals is a name; an article is part of one, never one itself."""
    words = capitals.split()
    while words and _OPENER.fullmatch(words[0]):
        words = words[1:]
    return "" if len(words) == 1 and words[0].lower() in _ARTICLES else " ".join(words)


def is_bare_name(message: str) -> bool:
    """Say whether a message is nothing but a name, so that it answers a question nobody put."""
    words = message.strip().strip(".!").split()
    is_short = _FEWEST_BARE_WORDS <= len(words) <= _MOST_BARE_WORDS
    bare = _NAME.fullmatch(" ".join(words)) if is_short else None
    return bare is not None and _name_of(bare[0]) == bare[0]


class MessageKind(StrEnum):
    """What a message is to the open question."""

    ANSWER = "answer"
    QUESTION = "question"
    GO_ON = "go on"
    ORIENT = "orient"
    OPINION = "opinion"
    # What the writer wants remembered, whatever the question was.
    PREFERENCE = "preference"
    CORRECTION = "correction"


CHOICES: Final = [
    MessageKind.ANSWER.value,
    MessageKind.QUESTION.value,
    MessageKind.GO_ON.value,
    MessageKind.OPINION.value,
]

_GO_ON: Final = re.compile(
    r"\W*(?:ok(?:ay)?|yes|yep|sure|go on|go ahead|continue|next|proceed|do it|start|begin|ready|"
    r"carry on|move on|let['’]?s go|let['’]?s (?:start|begin|move on|continue)|please do|"
    r"what['’]?s next|and now)\b[\s\w,]{0,24}\W*",
    re.IGNORECASE,
)
# A greeting, or the wish to know where things stand: the next step is the whole answer.
_ORIENT: Final = re.compile(
    r"\W*(?:(?:hello|hi|hey|good (?:morning|evening|day))\b[\s\w,]{0,24}\W*)?"
    r"(?:where (?:do|should|shall|can) (?:we|i) (?:begin|start)|what (?:comes |is |do we do )?next"
    r"|what now|where (?:are we|were we|did we stop)|how do we (?:begin|start))?\W*",
    re.IGNORECASE,
)
_QUESTION: Final = re.compile(
    r"\W*(?:who|what|when|where|why|how|which|whose|can|could|should|do|does|did|is|are|was|were|"
    r"will|would|may|have|has)\b",
    re.IGNORECASE,
)
_PREFERENCE: Final = re.compile(
    r"\b(?:i prefer|i['’]?d rather|i would rather|please (?:use|keep|avoid|write|don['’]?t)|"
    r"(?:use|keep to) (?:british|american|present|past|first|third|short|long)|"
    r"from now on|in this book,? (?:always|never)|i want (?:short|long|no|more|less|fewer))",
    re.IGNORECASE,
)
_CORRECTION: Final = re.compile(
    r"^\W*(?:no[,.]|actually\b|correction\b|that['’]?s (?:wrong|not right)|wrong\b|"
    r"remember(?: that)?\b)"
    r"|\b(?:was|were|is) (?:lost|dead|already|not) .{0,40}\b(?:in|since) (?:chapter|scene)\b",
    re.IGNORECASE,
)
_OPINION: Final = re.compile(
    r"\b(?:i (?:really |just )?(?:like|love|hate|dislike|think|feel|don['’]?t|doubt|am not sure)|"
    r"not sure|sounds|that (?:works|helps|is))\b",
    re.IGNORECASE,
)
_UNDECIDED: Final = re.compile(
    r"\b(?:not sure|no idea|don['’]?t know|dunno|undecided|maybe later|let me think|"
    r"skip (?:it|this))\b",
    re.IGNORECASE,
)
_FEWEST_ANSWER_WORDS: Final = 3


@dataclass(frozen=True, slots=True)
class ReadMessage:
    """What a message is; without certainty a model may choose among the four."""

    kind: MessageKind
    is_sure: bool = True


def read_message(message: str, gap: BookGap) -> ReadMessage:
    """Sort a message by rules."""
    text = message.strip()
    if _GO_ON.fullmatch(text):
        return ReadMessage(MessageKind.GO_ON)
    if re.search(r"\w", text) and _ORIENT.fullmatch(text):
        return ReadMessage(MessageKind.ORIENT)
    if _CORRECTION.search(text):
        return ReadMessage(MessageKind.CORRECTION)
    if _PREFERENCE.search(text):
        return ReadMessage(MessageKind.PREFERENCE)
    if text.endswith("?"):
        return ReadMessage(MessageKind.QUESTION)
    return _unclear(text, gap)


def _unclear(text: str, gap: BookGap) -> ReadMessage:
    words = len(re.findall(r"\w+", text))
    if not words or _UNDECIDED.search(text):
        return ReadMessage(MessageKind.OPINION)
    if gap.field in ("name", "midpoint_type", "central_theme") and words <= 6:
        return ReadMessage(MessageKind.ANSWER)
    if _QUESTION.match(text) and words < 12:
        return ReadMessage(MessageKind.QUESTION, is_sure=False)
    if _OPINION.search(text):
        return ReadMessage(MessageKind.OPINION, is_sure=False)
    if not gap.takes_answers:
        return ReadMessage(MessageKind.OPINION)
    if words >= _FEWEST_ANSWER_WORDS:
        return ReadMessage(MessageKind.ANSWER)
    return ReadMessage(MessageKind.ANSWER, is_sure=False)
