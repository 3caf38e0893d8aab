"""Signals: messages whose whole wording says yes, no, another one, or that one.

Only clear forms are read here. What could mean two things ("no problem", "yes, but …") is no
signal: it is left to a model.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from callboard.knowledge.entities.matching import ordinal_in


class SignalKind(StrEnum):
    """What a message says about what was offered."""

    CONFIRM = "confirm"
    REJECT = "reject"
    DIFFERENT = "different"
    REJECT_CLASS = "reject_class"
    ALLOW_CLASS = "allow_class"
    INSTEAD = "instead"
    PICK = "pick"
    UNDO = "undo"


@dataclass(frozen=True, slots=True)
class Signal:
    """A clear form; `noun` is what it is about, `place` a position in a row."""

    kind: SignalKind
    noun: str = ""
    place: int | None = None
    # Whether it also asks for the thing to be stored.
    wants_save: bool = False


_SAVE: Final = frozenset({"save that", "save it", "save this", "keep it", "keep that"})
_CONFIRM: Final = _SAVE | {
    "yes", "yep", "yeah", "sure", "ok", "okay", "that one", "looks good", "sounds good", "perfect",
    "do it", "go ahead", "yes please", "confirm",
}  # fmt: skip
_REJECT: Final = frozenset(
    {"no", "nope", "not that", "not that one", "something else", "none of those", "cancel",
     "none of them", "no thanks", "drop it"}
)  # fmt: skip
_DIFFERENT: Final = frozenset({"the other one", "different", "a different one", "the other"})
_UNDO: Final = frozenset({"undo", "undo that", "undo it", "undo last", "take that back"})
# What follows "no" or "not" in phrases that reject nothing.
_IDIOMS: Final = re.compile(
    r"(?:no (?:problem|rush|worries|idea|way|need|one|longer|matter|thanks?|hurry)"
    r"|not (?:now|sure|yet|really|only|bad|at all|much|quite|today)|why not)\b"
)
_REJECT_CLASS: Final = re.compile(
    r"(?:no more|not the|not|no|(?:i )?(?:don't|do not|dont) (?:want|like)(?: any)?)"
    r" (?P<noun>[\w' -]{2,40})"
)
_ALLOW_CLASS: Final = re.compile(
    r"(?P<noun>[\w' -]{2,40}?) (?:is|are) (?:fine|ok|okay|allowed) (?:again|now|after all)"
)
_INSTEAD: Final = re.compile(
    r"actually,? (?P<actually>[\w'# -]{2,60}?)(?: instead)?|(?P<other>[\w'# -]{2,60}) instead"
)
_PICK: Final = re.compile(
    r"(?:the |that |this |take |number |option |no\. ?|#)*"
    r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last"
    r"|\d{1,2}(?:st|nd|rd|th)?)(?: one| option| recipe)?"
)
_POLITE: Final = re.compile(r"(?:,? (?:please|thanks|thank you|then|alfred))+$")
_EDGES: Final = ' \t\n.!?,;:…"“”()'
_MOST_NOUN_WORDS: Final = 4
# What is longer says more than one thing.
_LONGEST_SIGNAL: Final = 400
_PRONOUNS: Final = frozenset({"it", "that", "this", "them", "those", "these"})
_MORE_THAN_A_NOUN: Final = re.compile(
    r"\b(?:and|but|because|if|then|for|to|with|in|on|at|is|are|left)\b"
)


def detect_signal(message: str) -> Signal | None:
    """Return what a message plainly says, or None if it could mean more than one thing."""
    if len(message) > _LONGEST_SIGNAL:
        return None
    text = _plain(message)
    whole = _whole(text)
    if whole is not None:
        return whole
    if _IDIOMS.match(text) or re.match(r"(?:yes|no|yeah|nope|ok|okay),", text):
        return None
    instead = _INSTEAD.fullmatch(text)
    if instead is not None:
        noun = (instead["actually"] or instead["other"]).strip()
        if not _REJECT_CLASS.fullmatch(noun):
            return Signal(SignalKind.INSTEAD, noun, ordinal_in(noun))
    allowed = _ALLOW_CLASS.fullmatch(text)
    if allowed is not None:
        return Signal(SignalKind.ALLOW_CLASS, allowed["noun"])
    rejected = _REJECT_CLASS.fullmatch(text)
    if rejected is not None and rejected["noun"] in _PRONOUNS:
        return Signal(SignalKind.REJECT)
    if rejected is not None and _is_noun(rejected["noun"]):
        return Signal(SignalKind.REJECT_CLASS, _without_article(rejected["noun"]))
    return None


def _whole(text: str) -> Signal | None:
    bare = text.replace(",", "")
    if bare in _CONFIRM:
        return Signal(SignalKind.CONFIRM, wants_save=bare in _SAVE)
    if bare in _REJECT:
        return Signal(SignalKind.REJECT)
    if bare in _DIFFERENT:
        return Signal(SignalKind.DIFFERENT)
    if bare in _UNDO:
        return Signal(SignalKind.UNDO)
    if _PICK.fullmatch(bare):
        place = ordinal_in(bare if not bare.isdigit() else f"#{bare}")
        return None if place is None else Signal(SignalKind.PICK, place=place)
    return None


def _plain(message: str) -> str:
    text = re.sub(r"\s+", " ", message.casefold().replace("’", "'")).strip(_EDGES)
    return _POLITE.sub("", text).strip(_EDGES)


def _is_noun(text: str) -> bool:
    words = text.split()
    return len(words) <= _MOST_NOUN_WORDS and not _MORE_THAN_A_NOUN.search(text)


def _without_article(noun: str) -> str:
    return re.sub(r"^(?:the|a|an|any|more)\s+", "", noun).strip()
