"""Bodies: sentences that tell somebody's height, hand, marks and species."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from callboard.library.story.facts.claims import Attribute, FoundClaim, Value
from callboard.library.story.facts.grammar import (
    ENTITY,
    OWNER,
    SUBJECT,
    Masked,
    adjective,
    alternatives,
    named_by,
)
from callboard.library.story.facts.values import (
    HEIGHT,
    centimetres,
)
from callboard.library.story.lexicon import families_in, words_in

# How far off a height may be that somebody gives with "about".
_ABOUT_LEEWAY_CM: Final = 8
_ABOUT: Final = (
    r"(?P<about>(?: (?:just|about|over|under|well|only|a good|some|at least|around|maybe))*)"
)
_HEIGHTS: Final = (
    re.compile(
        rf"{SUBJECT} (?:was|is|stood|stands|measured){_ABOUT} (?P<height>{HEIGHT})"
        r"(?:[ -]tall| in height| in (?:his|her) (?:boots|socks|stockings|bare feet))\b"
    ),
    re.compile(rf"(?P<who>{ENTITY}),{_ABOUT} (?P<height>{HEIGHT})[ -]tall\b"),
)
_HEIGHT_TRIGGER: Final = re.compile(r"\b(?:tall|height|boots|socks|stockings|bare feet)\b")
_HANDS: Final = (
    re.compile(
        rf"{SUBJECT} (?:was|is|had always been)(?: [a-z]+ly| always| born| an?)?"
        r" (?P<hand>left|right)[- ]hand(?:ed|er)\b"
    ),
    re.compile(rf"\b(?P<hand>[Ll]eft|[Rr]ight)-handed (?P<who>{ENTITY})"),
    re.compile(rf"(?P<who>{ENTITY}), (?:an? |who was |who is )?(?P<hand>left|right)-handed\b"),
    re.compile(rf"{SUBJECT} (?:was|is) an? (?P<hand>southpaw|lefty)\b"),
)
_HAND_NAMES: Final = {"southpaw": "left", "lefty": "left"}
_SIDED: Final = (
    r"(?:cheek|eye|arm|leg|hand|knee|foot|shoulder|ear|eyebrow|brow|temple|wrist|forearm|hip|ankle"
    r"|thigh|thumb|palm|breast|jaw|nostril)"
)
_SIGNS: Final = r"(?P<mark>scar|birthmark|tattoo|mole|limp)"
_MARKS: Final = (
    # the scar on her left wrist; a scar across Kael's left cheek
    re.compile(
        rf"\b{_SIGNS} (?:on|across|over|along|down|above|under|through|in) {OWNER} "
        rf"(?P<side>left|right) (?P<part>{_SIDED})\b"
    ),
    re.compile(
        rf"{OWNER} (?P<side>left|right) (?P<part>{_SIDED}) (?:was|is) (?P<mark>scarred|lame)\b"
    ),
    re.compile(
        rf"{SUBJECT} (?:was|is) (?P<mark>blind|deaf) in (?:his|her) (?P<side>left"
        rf"|right) (?P<part>eye|ear)\b"
    ),
    re.compile(
        rf"{SUBJECT} (?:had |has )?(?P<mark>lost|limped on|favoured|favored) (?:his|her) "
        rf"(?P<side>left|right) (?P<part>{_SIDED})\b"
    ),
)
_NOT_A_PERSON: Final = re.compile(
    r"^ (?:blow|swing|stroke|grip|throw|punch|compliment|draw|cut|shot|hook|parry|batsman's)"
)


def find_bodies(masked: Masked) -> Iterator[FoundClaim]:
    """Yield what a sentence says of somebody's height, hand or species."""
    yield from _heights(masked)
    yield from _hands(masked)
    yield from _species(masked)
    yield from _marks(masked)


def height_value(text: str, *, is_about: bool = False) -> Value | None:
    """Return a height in centimetres, as a span if it is told with "about"."""
    height = centimetres(text)
    if height is None:
        return None
    leeway = _ABOUT_LEEWAY_CM if is_about else 0
    return Value(f"{height} cm", low=height - leeway, high=height + leeway)


def hand_value(text: str) -> Value | None:
    """Return the preferred hand."""
    lowered = text.lower()
    if "ambidextrous" in lowered:
        return Value("ambidextrous", frozenset({"left", "right"}))
    for word, hand in (*_HAND_NAMES.items(), ("left", "left"), ("right", "right")):
        if word in lowered:
            return Value(f"{hand}-handed", frozenset({hand}))
    return None


def species_value(text: str) -> Value:
    """Return a kind of being and the kinds it may also be called."""
    name = text.lower().strip()
    same = families_in("facts", "species_same")
    return Value(name, frozenset(head for head, kinds in same.items() if name in kinds) | {name})


def _heights(masked: Masked) -> Iterator[FoundClaim]:
    if not _HEIGHT_TRIGGER.search(masked.text):
        return
    for pattern in _HEIGHTS:
        for match in pattern.finditer(masked.text):
            who = named_by(masked, match)
            value = height_value(match["height"], is_about=bool(match["about"].strip()))
            if who is not None and value is not None:
                yield FoundClaim(Attribute.HEIGHT, value, who, match.start(), match.end())


def _hands(masked: Masked) -> Iterator[FoundClaim]:
    if "hand" not in masked.text and "southpaw" not in masked.text and "lefty" not in masked.text:
        return
    for pattern in _HANDS:
        for match in pattern.finditer(masked.text):
            who, value = named_by(masked, match), hand_value(match["hand"])
            if who is None or value is None or _NOT_A_PERSON.match(masked.text[match.end() :]):
                continue
            yield FoundClaim(Attribute.HAND, value, who, match.start(), match.end())


def _marks(masked: Masked) -> Iterator[FoundClaim]:
    text = masked.text
    if "left " in text or "right " in text:
        for pattern in _MARKS:
            for match in pattern.finditer(text):
                who, side = named_by(masked, match), match["side"]
                if who is not None:
                    topic = f"{match['mark']} {match['part']}"
                    value = Value(f"{side} {match['part']}", frozenset({side}))
                    yield FoundClaim(
                        Attribute.MARK, value, who, match.start(), match.end(), topic=topic
                    )


def _species(masked: Masked) -> Iterator[FoundClaim]:
    if not _species_trigger().search(masked.text):
        return
    for pattern in _species_patterns():
        for match in pattern.finditer(masked.text):
            who = named_by(masked, match)
            if who is not None:
                value = species_value(match["kind"])
                yield FoundClaim(
                    Attribute.SPECIES, value, who, match.start(), match.end(), None, 0.8
                )


@cache
def _species_trigger() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{alternatives(words_in('facts', 'species'))})\b")


@cache
def _species_patterns() -> tuple[re.Pattern[str], ...]:
    kind = rf"(?P<kind>{alternatives(words_in('facts', 'species'))})"
    ends = r"(?=[.,;:!?]|$| (?:and|but|who|from|with|born)\b)"
    return (
        re.compile(rf"{SUBJECT} (?:was|is) an? {adjective()}{{0,2}}{kind}{ends}"),
        re.compile(rf"(?P<who>{ENTITY}), an? {adjective()}{{0,2}}{kind}{ends}"),
        re.compile(rf"\b[Tt]he {adjective()}{{0,2}}{kind} (?P<who>{ENTITY})"),
    )
