"""Grammar: the pieces of regular expressions all patterns are built from, over masked sentences."""

import re
from functools import cache
from typing import Final

from callboard.library.story.facts.masks import ENTITY, Masked
from callboard.library.story.lexicon.groups import families_in, words_in

# Who a sentence is about, and whose something is; a pronoun is resolved later or not at all.
SUBJECT: Final = rf"(?P<who>{ENTITY}(?!['’])|\b(?:[Hh]e|[Ss]he|I)\b)"
OWNER: Final = rf"(?:(?P<who>{ENTITY})['’]s?|\b(?P<whose>[Hh]is|[Hh]er|[Mm]y)\b)"
# What may follow a predicate that is complete: "… was green and tired", not "… was green fire".
STOPS: Final = (
    r"(?=\s*(?:[.,;:!?—–)”\"]|$)|\s+(?:and|but|or|in|under|behind|beneath|beside|by|at|now|again"
    r"|who|when|though|today|tonight|that|this)\b)"
)


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
