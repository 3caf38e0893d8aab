"""Spelling: one form for every way to write a food's name, and names that are only almost right.

Disguises do not matter: letters of other alphabets that look like ours, signs nobody sees, letters
set apart, accents, plurals of five languages. It knows letters, no foods.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Final

from callboard.core.bundled import bundled_yaml
from callboard.core.canonical import composed
from callboard.knowledge.entities.matching import singular_words

Words = tuple[str, ...]
LEAST_NEAR: Final = 5
"""Shorter words have too many neighbours to be taken for a slip."""
_FAR_FROM: Final = 8
PARTED: Final = "|"
"""Stands where a sign keeps two names apart: almonds, butter are no almond butter."""
_PARTING: Final = re.compile(r"[,;:()\[\]/!?&+•\n]+|\.(?=\s|$)")
_WORD: Final = re.compile(r"\w+|\|")
_UNSEEN: Final = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e0fff]"
)
_SPACED: Final = re.compile(r"(?<!\w)(?:\w[ ._*·-]){3,}\w(?!\w)")
_BROKEN: Final = re.compile(r"(?<=[^\W\d_])[*·•_'’`\u00b4.](?=[^\W\d_])")
OWNED: Final = re.compile(r"['’`\u00b4]s\b")
_LEET: Final = str.maketrans("013457@$€", "oleasta" + "se")
_MIXED: Final = re.compile(r"(?=\w{0,40}[^\W\d_]{2})\w{0,40}[013457@$€][^\W\d_][\w@$€]*")
_UMLAUTS: Final = (("ae", "a"), ("oe", "o"), ("ue", "u"))


@lru_cache(maxsize=20_000)
def plain_words(text: str) -> Words:
    """Return the words of a text without disguise: lower case, no accents, English singulars."""
    if text.isascii():
        seen = text.casefold()
    else:
        bare = composed(_UNSEEN.sub("", text).casefold(), "NFKD")
        seen = "".join(s for s in bare if not unicodedata.combining(s)).translate(_alike())
        seen = _UNSEEN.sub("", seen)
    # Letters set apart are one word, and so is what only a sign keeps apart.
    seen = _SPACED.sub(lambda found: re.sub(r"[ ._*·-]", "", found[0]), seen)
    seen = _BROKEN.sub(_joined, OWNED.sub("", seen))
    seen = _MIXED.sub(lambda found: found[0].translate(_LEET), seen)
    parts = _PARTING.sub(" | ", seen).strip(" |")
    # Word by word: words come again, whole texts hardly ever.
    return tuple(one for word in _WORD.findall(parts) for one in singular_words(word) or (PARTED,))


def _joined(found: re.Match[str]) -> str:
    """Close a gap that a sign makes within a word; an apostrophe parts words as ever."""
    return "" if found[0] in "*·•" else " "


@cache
def _alike() -> dict[int, str]:
    """Return the signs that look like letters of ours, by what they are read as."""
    listed: dict[str, str] = bundled_yaml(__package__ or "", "letters.yaml")
    return str.maketrans({sign: plain for plain, signs in listed.items() for sign in signs})


def plurals(word: str, language: str) -> Iterator[str]:
    """Yield how a word of a language may end when there are several."""
    match language:
        case "de":
            yield from (f"{word}{end}" for end in ("n", "en", "e", "er", "s"))
        case "fr":
            yield from (f"{word}s", f"{word}x")
        case "es":
            yield from (f"{word}s", f"{word}es")
        case "it" if word[-1] in "aoe":
            yield (
                word[:-1]
                if word.endswith("io")
                else f"{word[:-1]}{'e' if word[-1] == 'a' else 'i'}"
            )
            yield f"{word[:-1]}he" if word.endswith(("ca", "ga")) else f"{word[:-1]}hi"
        case _:
            return


def without_umlauts(word: str) -> str:
    """Return a word in which `ae` stands as if it had been written with an umlaut."""
    for pair, letter in _UMLAUTS:
        word = word.replace(pair, letter)
    return word


def near(word: str, names: Iterable[str]) -> str | None:
    """Return the name a word most likely was meant to be: one slip, two in a long word."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    if len(word) == LEAST_NEAR - 1:
        # So short a word is only taken for another that has the same letters: mlik.
        return next((each for each in names if sorted(each) == sorted(word)), None)
    if len(word) < LEAST_NEAR or not word.replace(" ", "").isalpha():
        return None
    most = 2 if len(word) >= _FAR_FROM else 1
    # The first letter is hardly ever wrong, and another one makes another word.
    alike = [each for each in names if each[0] == word[0] and len(each) >= LEAST_NEAR]
    found = process.extractOne(word, alike, scorer=OSA.distance, score_cutoff=most)
    return None if found is None else str(found[0])
