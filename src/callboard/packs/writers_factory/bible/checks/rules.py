"""The checks themselves: fields in, results out. The same fields always give the same results.

A check speaks only about fields that are filled; what is missing is no business of a check.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final

from callboard.core.canonical import Json
from callboard.library.story.text import content_words
from callboard.library.story.text.words import looks_english, stem, words_of
from callboard.packs.writers_factory.bible.checks.lexicon import lexicon, phrase_in, stems_of
from callboard.packs.writers_factory.bible.shapes import (
    MIDPOINT,
    MIDPOINT_FIELD,
    MIDPOINT_TYPES,
    RULES_FIELD,
    beat_points,
)
from callboard.packs.writers_factory.bible.values import Value
from callboard.packs.writers_factory.model import TemplateName

CHALLENGE: Final = "CHALLENGE:"


class CheckOrigin(StrEnum):
    """Who says so."""

    CODE = "code"
    JUDGE = "judge"
    WRITER = "writer"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check of one field, with the reason where it fails."""

    check: str
    field: str
    passed: bool
    reason: str = ""
    origin: CheckOrigin = CheckOrigin.CODE
    # What could stand there instead; never a decision, always an offer.
    alternatives: tuple[str, ...] = ()
    # Words of the field itself that the judgement rests on.
    quote: str = ""

    @property
    def challenge(self) -> str:
        """The failure as the writer is told of it; nothing if it passed."""
        if self.passed:
            return ""
        offered = f" Instead: {'; '.join(self.alternatives)}." if self.alternatives else ""
        return f"{CHALLENGE} {self.field}: {self.reason.rstrip('.')}.{offered}"

    def to_json(self) -> dict[str, Json]:
        """Return the shape shown at the doors."""
        return {
            "check": self.check,
            "field": self.field,
            "passed": self.passed,
            "reason": self.reason,
            "origin": self.origin.value,
            "alternatives": list(self.alternatives),
            "quote": self.quote,
            "challenge": self.challenge,
        }


BEAT_WORDS: Final = 5
CLAIM_WORDS: Final = 6
_LIE_WORDS: Final = 3
_ALIKE: Final = 95.0
_SAID_OUTRIGHT: Final = frozenset({"flaw", "lie"})
Fields = Mapping[str, Value]


def check_fields(name: TemplateName, fields: Fields) -> tuple[CheckResult, ...]:
    """Check everything that is filled in a template."""
    return tuple(_CHECKS[name](fields))


def _protagonist(fields: Fields) -> list[CheckResult]:
    found: list[CheckResult] = []
    if fields.get("fatal_flaw"):
        found.append(_flaw(_text(fields, "fatal_flaw")))
    if fields.get("the_lie"):
        found.append(_lie(_text(fields, "the_lie"), _text(fields, "fatal_flaw")))
    if all(fields.get(each) for each in _ARC):
        found.append(_arc(fields))
    return found


_ARC: Final = ("arc_start", "arc_midpoint", "arc_resolution")


def _flaw(text: str) -> CheckResult:
    if stands_open(text):
        return _failed("flaw", "fatal_flaw", "it is still a placeholder")
    words, stems = words_of(text), stems_of(text)
    known = lexicon()
    for family in known.circumstances:
        said = phrase_in(family.phrases, words)
        hit = said or next((word for word in words if word in family.words), None)
        if hit is None:
            continue
        if stems & known.inner:
            break
        return CheckResult(
            "flaw",
            "fatal_flaw",
            False,
            f"{hit!r} is what happens to a character from outside; a fatal flaw is a weakness of"
            " their own, which they act on and could give up",
            alternatives=family.alternatives,
            quote=hit,
        )
    return CheckResult("flaw", "fatal_flaw", True)


def _lie(text: str, flaw: str) -> CheckResult:
    words = words_of(text)
    if stands_open(text):
        return _failed("lie", "the_lie", "it is still a placeholder")
    if flaw and _plain(text) == _plain(flaw):
        return _failed("lie", "the_lie", "it repeats the flaw; a lie is what makes the flaw right")
    if len(words) < _LIE_WORDS or not _claims(words):
        return _failed(
            "lie",
            "the_lie",
            "it is no belief yet; say as a sentence what the character holds true and the story"
            " proves wrong",
        )
    return CheckResult("lie", "the_lie", True)


def _arc(fields: Fields) -> CheckResult:
    from rapidfuzz import fuzz

    stages = [_plain(_text(fields, each)) for each in _ARC]
    if any(stands_open(_text(fields, each)) for each in _ARC):
        return _failed("arc", "arc_resolution", "one of its stages is still a placeholder")
    for first, second in ((0, 1), (1, 2), (0, 2)):
        if fuzz.ratio(stages[first], stages[second]) >= _ALIKE:
            told = f"{_ARC[first]} and {_ARC[second]} say the same, so nothing changes"
            return _failed("arc", _ARC[second], told)
    at_stake = _content_stems(_text(fields, "fatal_flaw") + " " + _text(fields, "the_lie"), fields)
    resolved = stems_of(_text(fields, "arc_resolution"))
    if at_stake and not resolved & (at_stake | _SAID_OUTRIGHT):
        return _failed(
            "arc",
            "arc_resolution",
            "it mentions neither the flaw nor the lie; say what becomes of them",
        )
    return CheckResult("arc", "arc_resolution", True)


def _content_stems(text: str, fields: Fields) -> frozenset[str]:
    name = stems_of(_text(fields, "name"))
    words = content_words(text, min_letters=3)
    return frozenset(stem(word.removesuffix("'s")) for word in words) - name


def _beat_sheet(fields: Fields) -> list[CheckResult]:
    found: list[CheckResult] = []
    seen: dict[str, str] = {}
    for point in beat_points():
        text = _text(fields, point.field)
        if text:
            found.append(_beat(point.field, text, seen))
    if fields.get(f"beat_{MIDPOINT}"):
        is_typed = fields.get(MIDPOINT_FIELD) in MIDPOINT_TYPES
        reason = "" if is_typed else "say whether it is a false victory or a false defeat"
        found.append(CheckResult("midpoint", MIDPOINT_FIELD, is_typed, reason))
    return found


def _beat(field: str, text: str, seen: dict[str, str]) -> CheckResult:
    if stands_open(text):
        return _failed("beat", field, "it is still a placeholder")
    count = len(words_of(text))
    if count < BEAT_WORDS and not _is_unspaced(text):
        return _failed("beat", field, f"{count} words do not tell what happens; {BEAT_WORDS} may")
    twin = seen.setdefault(_plain(text), field)
    if twin != field:
        return _failed("beat", field, f"it says the same as {twin}")
    return CheckResult("beat", field, True)


def _theme(fields: Fields) -> list[CheckResult]:
    found: list[CheckResult] = []
    if stands_open(_text(fields, "central_theme")):
        found.append(_failed("theme", "central_theme", "it is still a placeholder"))
    text = _text(fields, "theme_statement")
    if text:
        found.append(_theme_statement(text))
    return found


def _theme_statement(text: str) -> CheckResult:
    words = words_of(text)
    line = " ".join(words)
    if stands_open(text):
        return _failed("theme_statement", "theme_statement", "it is still a placeholder")
    if any(line == vague or line.startswith(f"{vague} ") for vague in lexicon().vague_openings):
        return _failed(
            "theme_statement",
            "theme_statement",
            "it names a subject; say in one sentence what the story claims about it",
        )
    if not _is_unspaced(text) and (len(words) < CLAIM_WORDS or not _claims(words)):
        return _failed(
            "theme_statement",
            "theme_statement",
            f"it claims nothing one could disagree with; it wants a verb and {CLAIM_WORDS} words",
        )
    return CheckResult("theme_statement", "theme_statement", True)


def _world_rules(fields: Fields) -> list[CheckResult]:
    rules = fields.get(RULES_FIELD) or []
    listed = rules if isinstance(rules, list) else [rules]
    return [_rule(number, rule) for number, rule in enumerate(listed, start=1)]


def _rule(number: int, text: str) -> CheckResult:
    words = words_of(text)
    known = lexicon()
    if stands_open(text):
        return _failed("rule", RULES_FIELD, f"rule {number} is still a placeholder")
    binds = known.constraint_words.intersection(words) or phrase_in(known.constraint_phrases, words)
    if binds or _is_foreign(words) or _is_unspaced(text):
        return CheckResult("rule", RULES_FIELD, True)
    return _failed(
        "rule",
        RULES_FIELD,
        f"rule {number} binds nobody; say what must be, what cannot be, or what it costs",
        quote=text[:120],
    )


def stands_open(text: str) -> bool:
    """Say whether a text only holds a place for one that is to come."""
    return lexicon().placeholders.search(text) is not None


def _claims(words: tuple[str, ...]) -> bool:
    """Say whether some words hold a verb; what is unclear counts as one, the judge sees it."""
    known = lexicon()
    if known.claim_words.intersection(words) or _is_foreign(words):
        return True
    # The last word of a sentence is rarely its verb, and often a noun in the plural.
    inner = pairwise(words[:-1])
    return any(
        word.endswith(("s", "ed"))
        and not word.endswith(("ss", "us", "'s"))
        and before not in known.nouns_before
        for before, word in inner
    )


def _is_foreign(words: tuple[str, ...]) -> bool:
    # English lists know nothing of other languages; a few words prove nothing either way.
    return len(words) >= CLAIM_WORDS and not looks_english(words)


def _is_unspaced(text: str) -> bool:
    # Chinese and Japanese put no spaces between words, so words cannot be counted.
    return sum(0x3040 <= ord(char) <= 0x9FFF or 0xAC00 <= ord(char) <= 0xD7AF for char in text) > 5


def _text(fields: Fields, name: str) -> str:
    value = fields.get(name) or ""
    return value if isinstance(value, str) else "; ".join(value)


def _plain(text: str) -> str:
    return " ".join(words_of(text))


def _failed(check: str, field: str, reason: str, quote: str = "") -> CheckResult:
    return CheckResult(check, field, False, reason, quote=quote)


_CHECKS: Final[Mapping[TemplateName, Callable[[Fields], list[CheckResult]]]] = {
    TemplateName.PROTAGONIST: _protagonist,
    TemplateName.BEAT_SHEET: _beat_sheet,
    TemplateName.THEME: _theme,
    TemplateName.WORLD_RULES: _world_rules,
}
