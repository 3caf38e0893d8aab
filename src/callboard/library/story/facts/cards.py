"""Cards: what canon claims, from front matter, `Key: value` lines and tables of two columns.

The entity is the card; in a file that gathers many, it is the heading above.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, cast

from callboard.core.canonical import Json
from callboard.library.story.facts.ages import age_value
from callboard.library.story.facts.bodies import hand_value, height_value, species_value
from callboard.library.story.facts.claims import Attribute, FactClaim, Value
from callboard.library.story.facts.grammar import FIRST_SIGN, Masked, MaskedName
from callboard.library.story.facts.lives import kin_value, place_value, rank_value
from callboard.library.story.facts.skills import calling_value
from callboard.library.story.facts.values import colour_name, date_in, families_of
from callboard.library.story.lexicon import families_in
from callboard.library.story.model import Quote
from callboard.library.story.text import Document
from callboard.library.story.text.front import read_field

_UNKNOWN: Final = re.compile(r"^(?:unknown|n/?a|none|tbd|todo|\?+|-+)$", re.IGNORECASE)
_GATHERS: Final = re.compile(r"(?:^|/)canon\.[a-z]+$", re.IGNORECASE)

_PERSONAL_FIRST: Final = re.compile(r"(?:he|she|they|i)\b(?!['’])")
_VERB_FIRST: Final = re.compile(
    r"(?:has|had|have|lives|lived|is|was|speaks|spoke|can|cannot|could|never|works|worked"
    r"|plays|does|did"
    r"|broke|lost|owns|wears|carries|limps|keeps|drives|died|killed|drowned|married|teaches"
    r"|taught)\b"
)
_ADJECTIVE_FIRST: Final = re.compile(
    r"(?:an?|the|divorced|married|single|widowed|bald|blind|deaf|left-handed|right-handed"
    r"|tall|short"
    r"|illiterate|six|five|born|dead|childless)\b"
)


@dataclass(frozen=True, slots=True)
class CardLine:
    """One thing a card says of its entity: key, value and the line it stands in."""

    entity: str
    key: str
    value: str
    line: int


def card_claims(
    document: Document, entity: str, resolve: Callable[[str], str | None]
) -> list[FactClaim]:
    """Return what a card claims; `resolve` gives the entity a text names, if it names one."""
    claims: list[FactClaim] = []
    for line in card_lines(document, entity):
        quote = document.quote(line.line)
        claims.extend(_claims_of(line, quote, resolve))
    return claims


def said_of_owner(text: str, owner: str) -> Masked:
    """Read what a card says without a name as said of its owner."""
    sign, rest = chr(FIRST_SIGN), text[0].lower() + text[1:]
    if _PERSONAL_FIRST.match(rest):
        shown = _PERSONAL_FIRST.sub(sign, rest, count=1)
    elif _VERB_FIRST.match(rest):
        shown = f"{sign} {rest}"
    else:
        article = "an " if rest[0] in "aeiou" else "a "
        shown = f"{sign} was {'' if _ADJECTIVE_FIRST.match(rest) else article}{rest}"
    return Masked(shown, (MaskedName(owner, owner, ()),))


def gathers_canon(path: str) -> bool:
    """Say whether a file holds the whole canon, an entity under each heading."""
    return _GATHERS.search(path) is not None


def card_lines(document: Document, entity: str) -> Iterator[CardLine]:
    """Yield every key with its value, in the order of the file."""
    yield from _front_lines(document, entity)
    rows = {row.line: row.cells for row in document.rows}
    headings = {heading.line: heading for heading in document.headings}
    gathers = gathers_canon(document.path)
    for number, text in enumerate(document.lines, start=1):
        if number <= document.front_line_count:
            continue
        if gathers and number in headings and headings[number].level > 1:
            entity = headings[number].text
        told = _row(rows[number]) if number in rows else read_field(text)
        if told is not None:
            yield CardLine(entity, _key(told[0]), told[1], number)


def value_of(attribute: Attribute, text: str) -> Value | None:
    """Return a card's value in the form it is compared in; None when it says nothing known."""
    if _UNKNOWN.match(text.strip()):
        return None
    read = _READERS.get(attribute)
    return read(text) if read else Value(text.strip())


def _claims_of(
    line: CardLine, quote: Quote, resolve: Callable[[str], str | None]
) -> Iterator[FactClaim]:
    attribute = _attributes().get(line.key)
    if attribute is not None:
        value = value_of(attribute, line.value)
        if value is not None:
            yield FactClaim(line.entity, attribute, value, quote, is_canon=True, confidence=1.0)
        return
    tie = _tie(line, resolve)
    if tie is not None:
        kin, other, value = tie
        yield FactClaim(kin, Attribute.KIN, value, quote, other, is_canon=True, confidence=1.0)


def _tie(line: CardLine, resolve: Callable[[str], str | None]) -> tuple[str, str, Value] | None:
    """Read "Sister: Mira" and, under relations, "Mira: sister" as who is whose."""
    value = kin_value(line.key)
    if value.families:
        other = resolve(line.value)
        return (other, line.entity, value) if other and other != line.entity else None
    first = re.match(
        r"(?:(?:his|her|their|older|elder|younger|little|big|twin) )*([a-z-]+)", line.value
    )
    value = kin_value(first[1]) if first else Value("")
    named = resolve(line.key) if value.families else None
    return (named, line.entity, value) if named and named != line.entity else None


def _front_lines(document: Document, entity: str) -> Iterator[CardLine]:
    for key, value in document.front.items():
        for told_key, told in _flat(key, value):
            line = _front_line(document, told_key)
            if line is not None:
                yield CardLine(entity, _key(told_key), told, line)


def _flat(key: str, value: Json) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for inner, each in cast("Mapping[str, Any]", value).items():
            yield from _flat(inner, each)
    elif isinstance(value, list):
        told = [str(each) for each in cast("list[Any]", value) if not isinstance(each, dict | list)]
        yield key, ", ".join(told)
    elif value is not None:
        yield key, str(value)


def _front_line(document: Document, key: str) -> int | None:
    wanted = re.compile(rf"^\s*[\"']?{re.escape(key)}[\"']?\s*:", re.IGNORECASE)
    lines = document.lines[: document.front_line_count]
    return next((n for n, line in enumerate(lines, start=1) if wanted.match(line)), None)


def _row(cells: tuple[str, ...]) -> tuple[str, str] | None:
    told = [cell.strip().strip("*_") for cell in cells]
    return (told[0].lower(), told[1]) if len(told) == 2 and all(told) else None


def _key(text: str) -> str:
    return " ".join(re.split(r"[\s_]+", text.strip().strip("*").lower()))


@cache
def _attributes() -> Mapping[str, Attribute]:
    listed = families_in("facts", "card_keys")
    return {key: Attribute(name) for name, keys in listed.items() for key in keys}


def _colour(part: str) -> Callable[[str], Value | None]:
    def read(text: str) -> Value | None:
        families = families_of(part, text)
        return Value(colour_name(text), families) if families else None

    return read


def _birth_year(text: str) -> Value | None:
    date = date_in(text)
    year = date.year if date and date.year is not None else None
    if year is None and (match := re.search(r"\b(\d{4})\b", text)):
        year = int(match[1])
    return None if year is None else Value(str(year), low=year, high=year)


_READERS: Final[Mapping[Attribute, Callable[[str], Value | None]]] = {
    Attribute.EYES: _colour("eye"),
    Attribute.HAIR: _colour("hair"),
    Attribute.AGE: age_value,
    Attribute.BIRTH_YEAR: _birth_year,
    Attribute.HEIGHT: height_value,
    Attribute.HAND: hand_value,
    Attribute.SPECIES: species_value,
    Attribute.RANK: rank_value,
    Attribute.ORIGIN: place_value,
    Attribute.CALLING: calling_value,
}
