"""Masks: a sentence in which every known name is one sign, so that patterns need not know names."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final, Protocol

from callboard.library.story.lexicon.groups import families_in, words_in

_FIRST_SIGN: Final = 0xE000
_LAST_SIGN: Final = 0xEFFF
# Text of a regular expression for the sign of any mention.
ENTITY: Final = f"[{chr(_FIRST_SIGN)}-{chr(_LAST_SIGN)}]"
_TITLE_BEFORE: Final = re.compile(r"((?:[A-Z][a-z]+[. -]+){1,2})$")


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
class Mention:
    """A known name in a sentence, with the titles that stand before it."""

    entity: str
    text: str
    # Lower-cased, without full stop: "captain", "mrs".
    titles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Masked:
    """A text with signs in place of names; the sign's number is the mention's."""

    text: str
    mentions: tuple[Mention, ...]

    def number_at(self, sign: str) -> int:
        """Return the number of the mention a sign stands for."""
        return ord(sign) - _FIRST_SIGN


def mask(text: str, hits: Iterable[NameHit]) -> Masked:
    """Put a sign in place of every hit and of the titles before it; hits do not overlap."""
    parts: list[str] = []
    mentions: list[Mention] = []
    at = 0
    for hit in sorted(hits, key=lambda each: each.start):
        if hit.start < at or len(mentions) > _LAST_SIGN - _FIRST_SIGN:
            continue
        before, before_name = _without_titles(text[at : hit.start])
        parts += [before, chr(_FIRST_SIGN + len(mentions))]
        mentions.append(Mention(hit.name, text[hit.start : hit.end], before_name))
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
