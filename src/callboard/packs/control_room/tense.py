"""Tense: beats and small sentences of the present, told in the past where the book is.

Word by word, with a list of verbs: what may be a noun, follows `to` or stands in speech is left
alone, and so is a verb nobody listed. It never turns the past into the present.
"""

import re
from functools import cache
from typing import Any, Final, cast

from callboard.core.bundled import bundled_yaml

_TOKEN: Final = re.compile(r"“[^“”]*”|\"[^\"]*\"|[^\W\d_]+(?:['’][^\W\d_]+)*|\s+|.", re.DOTALL)
_WORD: Final = re.compile(r"[^\W\d_]")
_AUXILIARIES: Final = {
    "is": "was",
    "are": "were",
    "am": "was",
    "has": "had",
    "have": "had",
    "does": "did",
    "do": "did",
    "will": "would",
    "can": "could",
    "cannot": "could not",
    "may": "might",
    "isn't": "wasn't",
    "aren't": "weren't",
    "hasn't": "hadn't",
    "haven't": "hadn't",
    "doesn't": "didn't",
    "don't": "didn't",
    "won't": "wouldn't",
    "can't": "couldn't",
}
_PLURAL: Final = frozenset(("they", "we", "you", "i", "both", "who", "all"))
_VOWELS: Final = "aeiou"


def in_past(text: str) -> str:
    """Return a text with its verbs of the present in the past."""
    tokens = _TOKEN.findall(text)
    words = [number for number, token in enumerate(tokens) if _WORD.match(token[0])]
    for at, number in enumerate(words):
        before = [tokens[each] for each in words[max(0, at - 3) : at]]
        after = tokens[words[at + 1]] if at + 1 < len(words) else ""
        if any(mark in tokens[number + 1 : number + 2] for mark in ",.;:!?"):
            after = ""
        told = _told(tokens[number], before, after)
        tokens[number] = told if tokens[number][0].islower() else told[0].upper() + told[1:]
    return "".join(tokens)


def _told(token: str, before: list[str], after: str) -> str:
    word = token.lower().replace("’", "'")
    last = before[-1].lower() if before else ""
    if last == "not" and len(before) > 1:
        last = before[-2].lower()
    if last in _words("helpers"):
        return token
    if word in _AUXILIARIES:
        return _AUXILIARIES[word]
    if last in _words("before_nouns") or not _may_follow(after):
        return token
    if word.endswith("s"):
        return next((past for base in _bases(word) if (past := _past(base))), token)
    return (_past(word) or token) if _is_plural(before) else token


def _is_plural(before: list[str]) -> bool:
    """Say whether what stands before is more than one: `Ines and Jun`, `the boats`, `they`."""
    if not before:
        return False
    last = before[-1]
    if last.lower() in _PLURAL:
        return True
    pair = len(before) > 2 and before[-2].lower() == "and" and before[-3][0].isupper()
    return (pair and last[0].isupper()) or (last[0].islower() and last.endswith("s"))


def _may_follow(word: str) -> bool:
    """Say whether a word can stand after a verb: nothing, a small word, an adverb, a name."""
    return not word or word in _words("after_verbs") or word.endswith("ly") or word[0].isupper()


def _bases(word: str) -> list[str]:
    found = [word[:-1]]
    if word.endswith("es"):
        found.append(word[:-2])
    if word.endswith("ies"):
        found.insert(0, f"{word[:-3]}y")
    return found


def _past(base: str) -> str:
    irregular, regular = _verbs()
    if base in irregular:
        return irregular[base]
    if base not in regular:
        return ""
    if base.endswith("e"):
        return f"{base}d"
    if base.endswith("y") and base[-2] not in _VOWELS:
        return f"{base[:-1]}ied"
    short = len(base) < 5 and base[-1] not in "wxyhr" and base[-2] in _VOWELS
    doubled = short and base[-1] not in _VOWELS and base[-3:-2] not in _VOWELS
    return f"{base}{base[-1]}ed" if doubled else f"{base}ed"


@cache
def _verbs() -> tuple[dict[str, str], frozenset[str]]:
    data = _data()
    return data["irregular"], frozenset(str(data["regular"]).split())


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(str(_data()[name]).split())


@cache
def _data() -> dict[str, Any]:
    return cast("dict[str, Any]", bundled_yaml("callboard.packs.control_room", "tense.yaml"))
