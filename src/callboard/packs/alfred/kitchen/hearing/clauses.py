"""Clauses: a message in parts that each say one thing, with what is done in it and to what.

Words are scanned from left to right; nothing is looked up, and nothing is done here.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from callboard.packs.alfred.kitchen.hearing.speech import (
    act_at,
    asking,
    full_words,
    lexicon,
    phrases,
)


def _words() -> dict[str, list[str]]:
    return lexicon()["clauses"]


_TOKEN: Final = re.compile(
    r"\d+[.,/]\d+|[\w'&%½¼¾⅓⅔\u00d7]+(?:[-/][\w'&]+)*|[,;:!?()]|\.(?=\s|$)|[-–—](?=\s)"
)
_ENDS: Final = frozenset({".", "!", "?", ";", "-", "–", "—"})
_SIGNS: Final = _ENDS | {",", ":", "(", ")"}
_OPENERS: Final = frozenset(_words()["openers"])
_PRONOUNS: Final = frozenset(_words()["pronouns"])
_ADVERBS: Final = frozenset(_words()["adverbs"])
_BINDING: Final = frozenset(_words()["binding"])
_JOINING: Final = frozenset({"and", "then", "plus"})
_VERBS: Final = frozenset(_words()["verbs"])
_WONDERING: Final = frozenset({"what", "why", "how", "who", "which", "where"})
# As far as somebody is named before what they do.
_LONGEST_SUBJECT: Final = 6
_PAST: Final = frozenset({"acquired", "consumed", "thrown", "out_of", "given", "taken", "put"})
# Who reminds, shows or leaves does that, whatever is done later in the sentence.
_OTHER_DOINGS: Final = frozenset(
    [
        "remind",
        "leave",
        "show",
        "read",
        "clear",
        "make",
        "plan",
        "tell",
        "save",
        "use",
        "move",
        "start",
        "cook",
        "bake",
        "check",
        "repeat",
    ]
)
_POLITE: Final = (("can", "you"), ("could", "you"), ("would", "you"), ("will", "you"),
                  ("can", "u"), ("let", "us"), ("i", "want", "you", "to"))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing somebody says: what is done, to what, and whether it is asked or only thought."""

    text: str
    act: str = ""
    rest: str = ""
    before: tuple[str, ...] = ()
    is_question: bool = False
    is_unreal: bool = False
    is_request: bool = False
    # The word that ties it to what stands before: "but", "if", "so".
    bound: str = ""

    @property
    def has_subject(self) -> bool:
        """Whether somebody is said to do it."""
        return any(word in _PRONOUNS for word in self.before)


def split_clauses(message: str) -> list[Clause]:
    """Return the clauses of a message."""
    text = full_words(message)
    tokens = [(found[0], found.start(), found.end()) for found in _TOKEN.finditer(text)]
    words = [token[0].casefold() for token in tokens]
    parts: list[Clause] = []
    start = at = 0
    depth = 0
    bound = ""
    while at <= len(words):
        is_end = at == len(words)
        word = "" if is_end else words[at]
        depth += {"(": 1, ")": -1}.get(word, 0)
        if is_end or (depth <= 0 and at > start and _is_border(words, at)):
            own = tokens[start:at]
            if own:
                said = text[own[0][1] : own[-1][2]]
                part = _read(said, words[start:at], own, is_question=word == "?")
                parts.append(replace(part, bound=bound or _bound(words[start : start + 2])))
            start = at + 1 if word in _SIGNS or word in _JOINING or word in _BINDING else at
            bound = word if word in _BINDING else ""
        at += 1
    return [part for part in parts if part.text]


def _bound(words: Sequence[str]) -> str:
    return next((word for word in words[:1] if word in _BINDING), "")


def _is_border(words: Sequence[str], at: int) -> bool:
    word = words[at]
    if word in _ENDS:
        return True
    after = at + 1
    if word == ",":
        while after < len(words) and words[after] in _OPENERS | _JOINING | _BINDING:
            after += 1
        bound = words[at + 1] if at + 1 < len(words) else ""
        return bound in _BINDING or bound in _WONDERING or _is_head(words, after)
    if word in _BINDING:
        return after < len(words) and words[at - 1] not in _SIGNS and not _is_either(words, at)
    if word in _JOINING:
        return _is_head(words, after)
    return False


def _is_either(words: Sequence[str], at: int) -> bool:
    """Say whether an "or" only joins two numbers or names."""
    return words[at] == "or" and not _is_head(words, at + 1)


def _is_head(words: Sequence[str], at: int) -> bool:
    """Say whether a clause begins here, and not another thing of a list."""
    while at < len(words) and words[at] in ("please", "also", "then", "just", "maybe", "for"):
        at += 1
    if at >= len(words) or words[at] in _SIGNS:
        return False
    if words[at] in _PRONOUNS:
        return at + 1 < len(words) and words[at + 1] not in _SIGNS
    if act_at(words, at) is not None:
        return True
    following = words[at + 1 : at + 2]
    if words[at] in asking() and following and (following[0] in asking() | _PRONOUNS):
        return True
    for ahead in words[at + 1 : at + 4]:
        if ahead in _SIGNS or ahead in _JOINING or ahead == "of":
            return False
        if ahead in _VERBS:
            return True
    return False


def _read(
    said: str, words: list[str], tokens: Sequence[tuple[str, int, int]], *, is_question: bool
) -> Clause:
    at = 0
    while at < len(words) - 1 and (words[at] in _OPENERS or words[at] in _SIGNS):
        if act_at(words, at) is not None:
            break
        at += 1
    polite = next((each for each in _POLITE if tuple(words[at : at + len(each)]) == each), ())
    is_request = bool(polite)
    at += len(polite)
    words, own = words[at:], tokens[at:]
    text = said[own[0][1] - tokens[0][1] :] if own else ""
    asks = is_question or _is_asked(words)
    gone = _gone(words)
    if gone and not asks:
        rest = said[own[0][1] - tokens[0][1] : own[gone - 1][2] - tokens[0][1]]
        is_unreal = any(each in ("nearly", "almost", "not", "if") for each in words)
        return Clause(text, "gone", rest, (), asks, is_unreal)
    found = _act(words)
    if found is None:
        return Clause(text, is_question=asks and not is_request, is_request=is_request)
    start, size, act = found
    before = tuple(words[:start])
    if "to" in before or any(each in _OTHER_DOINGS for each in before):
        return Clause(text, is_question=asks and not is_request, is_request=is_request)
    rest = said[own[start + size][1] - tokens[0][1] :] if start + size < len(own) else ""
    is_unreal = any(phrases("unreal", before))
    return Clause(text, act, rest, before, asks and not is_request, is_unreal, is_request)


def _is_asked(words: Sequence[str]) -> bool:
    if not words or words[0] not in asking():
        return False
    if words[0] in ("have", "is", "are", "was", "were", "has", "do", "does", "did"):
        # "Have bought milk" tells; "do not buy" forbids.
        following = words[1:2]
        return bool(following) and (following[0] in _PRONOUNS or words[0] in ("is", "are", "does"))
    return words[0] not in ("will", "can", "could") or words[1:2] != ["you"]


def _act(words: Sequence[str]) -> tuple[int, int, str] | None:
    """Return where what is done stands, over how many words, and what it is."""
    for at in range(min(len(words), _LONGEST_SUBJECT + 1)):
        found = act_at(words, at)
        if found is None:
            continue
        size, act = found
        if act in ("have", "had"):
            later = at + size
            while later < len(words) and words[later] in _ADVERBS:
                later += 1
            again = act_at(words, later) if later < len(words) else None
            if again is not None and again[1] in _PAST:
                return later, again[0], again[1]
        return at, size, act
    return None


def _gone(words: Sequence[str]) -> int:
    """Return how many words name what is said to be gone; none if nothing is."""
    most = min(len(words), 9)
    for at in range(1, most):
        for size in range(min(4, len(words) - at), 0, -1):
            tail = words[at + size :]
            if " ".join(words[at : at + size]) in _gone_phrases() and all(
                each in _ADVERBS or each in ("completely", "too", "_") for each in tail
            ):
                is_named = words[0] not in ("it", "that", "this", "they", "i", "we", "he", "she")
                return at if is_named else 0
    return 0


@cache
def _gone_phrases() -> frozenset[str]:
    return frozenset(lexicon()["gone"])
