"""Deaths: sentences in which a narrator tells that somebody is dead, and no figure of speech."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from callboard.library.story.facts.claims import Attribute, Found, Value
from callboard.library.story.facts.masks import ENTITY, Masked
from callboard.library.story.facts.patterns.grammar import SUBJECT, alternatives, named_by
from callboard.library.story.lexicon.groups import words_in

_APPOSITION: Final = r"(?:, (?:[a-z’'-]+ ?){1,7},)?"
_ADVERB: Final = r"(?: [a-z]+ly| then| too| also| still| already| finally| at last)?"
# "The night Kael died", "before she died": a clause that dates something else may look ahead.
_DATING: Final = re.compile(
    r"\b(?:when|before|after|until|till|since|once|if|because|how|why|where|whether|as"
    r"|(?:the|that) (?:day|night|morning|evening|hour|moment|time|week|month|year|summer|winter"
    r"|spring|autumn|fall))\b[^,;:—]*$",
    re.IGNORECASE,
)
_KILLED_BY: Final = r"(?:killed|slain|murdered|executed|hanged|beheaded|drowned|poisoned|shot dead)"


_DEAD: Final = Value("dead", frozenset({"dead"}))
_TRIGGER: Final = re.compile(
    r"\b(?:died|dies|dead|corpse|stopped beating|(?:breathed|drew) (?:his|her) last)\b|"
    + _KILLED_BY
)


def find_deaths(masked: Masked) -> Iterator[Found]:
    """Yield who a sentence tells to be dead."""
    if not _TRIGGER.search(masked.text):
        return
    for pattern in _patterns():
        for match in pattern.finditer(masked.text):
            who = named_by(masked, match)
            if who is None or _DATING.search(masked.text[: match.start()]):
                continue
            # What had happened before may be told before a scene that goes back there.
            confidence = 0.5 if re.search(r"\b(?:had|has)\b", match[0]) else 0.9
            yield Found(
                Attribute.DEATH, _DEAD, who, match.start(), match.end(), confidence=confidence
            )


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    not_dead = alternatives(_figures("dead_figures"))
    not_died = alternatives(_figures("died_figures"))
    subject = rf"{SUBJECT}{_APPOSITION}"
    shapes = (
        rf"{subject}{_ADVERB} (?:died|has died|had died|dies)\b(?! (?:{not_died})\b)",
        rf"{subject} (?:was|is|lay|lies|fell){_ADVERB} dead\b(?!-)(?! (?:{not_dead})\b)",
        rf"{subject} (?:was|were|had been|has been){_ADVERB} {_KILLED_BY}\b",
        rf"\b(?:had |has )?(?:killed|murdered|slain|executed|beheaded) (?P<who>{ENTITY})(?!['’])"
        r"(?! with (?:an?|his|her|one) (?:look|glance|stare|smile|word))",
        rf"{subject} (?:breathed|drew) (?:his|her) last(?: breath)?\b",
        rf"(?P<who>{ENTITY})['’]s? (?:heart (?:had )?stopped beating|corpse lay|dead body lay)\b",
    )
    return tuple(re.compile(shape) for shape in shapes)


def _figures(group: str) -> frozenset[str]:
    return frozenset(word.replace("_", " ") for word in words_in("facts", group))
