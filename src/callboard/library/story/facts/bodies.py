"""Bodies: sentences that tell what somebody looks like and is."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from callboard.library.story.facts.claims import Attribute, FoundClaim, Value
from callboard.library.story.facts.grammar import (
    ENTITY,
    OWNER,
    STOPS,
    SUBJECT,
    Masked,
    adjective,
    alternatives,
    kin_words,
    named_by,
    person_words,
)
from callboard.library.story.facts.values import (
    HEIGHT,
    centimetres,
    colour_name,
    colour_words,
    families_of,
)
from callboard.library.story.lexicon import families_in, words_in

_PARTS: Final = {
    "eye": ("eyes", "eyed"),
    "hair": ("(?:hair|curls|braids|plaits|ringlets|locks|tresses|mane|pigtails)", "haired"),
}
_PAIRS: Final = {"eye": "eyes and hair|hair and eyes", "hair": "eyes and hair|hair and eyes"}
_LOOKED: Final = {
    "eye": re.compile(r"eye[sd]\b"),
    "hair": re.compile(r"hair|curls|braids|plaits|ringlets|locks|tresses|mane|pigtails"),
}
_ATTRIBUTES: Final = {"eye": Attribute.EYES, "hair": Attribute.HAIR}
# Between a person and "with green eyes" none of these may stand: it would be another's eyes.
_BREAKS: Final = re.compile(
    r"\b(?:of|to|for|by|than|from|at|near|like|whose|who|whom|on|in|into|beside|behind|before"
    r"|after|over|under|against|his|her|my|their|that|which)\b"
)
_MIXED: Final = re.compile(r"^,? (?:streaked|shot|flecked|touched|threaded|tinged|going|salted)\b")
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
_BALD: Final = (
    re.compile(rf"{SUBJECT} (?:was|is) (?:quite |completely |already |entirely )?bald\b"),
    re.compile(rf"{OWNER} bald (?:head|pate|crown)\b"),
)
_NOT_A_PERSON: Final = re.compile(
    r"^ (?:blow|swing|stroke|grip|throw|punch|compliment|draw|cut|shot|hook|parry|batsman's)"
)


def find_looks(masked: Masked) -> Iterator[FoundClaim]:
    """Yield what a sentence says of the colour of somebody's eyes or hair."""
    lowered = masked.text.lower()
    for part in _PARTS:
        if not _LOOKED[part].search(lowered):
            continue
        for pattern in _look_patterns(part):
            for match in pattern.finditer(masked.text):
                found = _read(masked, match, part)
                if found is not None:
                    yield found


def _read(masked: Masked, match: re.Match[str], part: str) -> FoundClaim | None:
    who = named_by(masked, match)
    told = match["colour"]
    # "black hair streaked with grey" is both.
    if _MIXED.match(masked.text[match.end() :]):
        told += " " + masked.text[match.end() : match.end() + 40]
    families = families_of(part, told)
    if who is None or not families or not _is_own(match):
        return None
    value = Value(colour_name(match["colour"]), families)
    return FoundClaim(_ATTRIBUTES[part], value, who, match.start(), match.end())


def _is_own(match: re.Match[str]) -> bool:
    between = match.groupdict().get("between")
    if between is None:
        return True
    persons = re.findall(rf"\b(?:{person_words()}|{kin_words()})\b", between)
    return len(persons) <= 1 and not _BREAKS.search(between) and not re.search(ENTITY, between)


@cache
def _look_patterns(part: str) -> tuple[re.Pattern[str], ...]:
    noun, adjectival = _PARTS[part]
    words = alternatives(colour_words(part))
    colour = (
        rf"(?P<colour>(?:[a-z]+-)?(?i:{words})(?:(?:-| and | or |, almost |/)(?:{words}))*"
        r"(?:-(?:brown|grey|gray|blue|green|black|red|blond|blonde|gold))?)"
    )
    before = adjective() + "{0,3}"
    after = r"(?:,? (?:and )?[a-z-]+(?:ed|ing|y|ous|ful|less|ld|rd|rp|m|d|p|k|g|n))?"
    verb = r"(?:were|are|was|is|had been|have been|had always been|have always been)"
    shade = r"(?: (?:of )?(?:an?|the same))?(?: [a-z]+ly| very| quite| so| still| both| all)?"
    # A thing named after hair or eyes is not them.
    alone = (
        r"\b(?!-)(?! (?:ribbon|brush|pin|band|clip|tie|net|dye|oil|bow|shadow|liner|drops|colou?r"
        r"|style|piece|products?|salon)s?\b)"
    )
    called = r"(?: in colou?r| colou?r)?"
    shapes = (
        # his cold grey eyes; Mira's long, black, shining hair
        rf"{OWNER} {before}\b{colour}{after} {noun}{alone}",
        # Kael's eyes were green; her hair was a deep brown
        rf"{OWNER} {before}{noun} {verb}{shade} {before}\b{colour}{called}{STOPS}",
        # Her eyes and hair were of the same rich hazel colour
        rf"{OWNER} (?:{_PAIRS[part]}) {verb}{shade} {before}\b{colour}{called}{STOPS}",
        # Kael's eyes, green and cold, …
        rf"{OWNER} {before}{noun}, {before}\b{colour}(?= and |,| —|—)",
        # Kael, whose eyes were green
        rf"(?P<who>{ENTITY}), whose {before}{noun} {verb}{shade} {before}\b{colour}{called}{STOPS}",
        # the green eyes of Kael; the eyes of Kael were green
        rf"\b[Tt]he {before}{colour} {noun} of (?P<who>{ENTITY})(?!['’])",
        rf"\b{noun} of (?P<who>{ENTITY}) {verb}{shade} {before}\b{colour}{STOPS}",
        # green-eyed Kael; Kael, green-eyed and lean; Kael was a tall, green-eyed man
        rf"\b{colour}-{adjectival},? (?:{adjective()})?(?P<who>{ENTITY})",
        rf"(?P<who>{ENTITY}), (?:an? )?{before}\b{colour}-{adjectival}\b",
        rf"{SUBJECT} (?:was|is)(?: an?| the)? {before}\b{colour}-{adjectival}\b",
        rf"{SUBJECT} (?:was|is)(?P<between> an? (?:[a-z-]+,? ){{1,7}}?)\b{colour}-{adjectival}\b",
        # Kael had his mother's green eyes
        rf"{SUBJECT}(?:, who)? (?:had|has|have)(?: (?:his|her|my) [a-z]+['’]s)? {before}"
        rf"\b{colour}{after} {noun}{alone}",
        # Kael, a tall man with green eyes; Kael was slight, with light hair and grey eyes
        rf"{SUBJECT}(?:,| was| is)(?P<between>(?: [a-z-]+,?){{0,10}}? with (?:[a-z,-]+ ){{0,6}}?)"
        rf"\b{colour}{after} {noun}{alone}",
        # Tobias, a solemn child with his grandmother's green eyes
        rf"{SUBJECT}(?:, | was | is )an? (?P<between>(?:[a-z-]+,? ){{0,4}}?(?:child|girl|boy"
        rf"|man|woman"
        rf"|creature|lad|thing|fellow|person|youth) with (?:(?:his|her) [a-z]+['’]s )?)"
        rf"{before}\b{colour}{after} {noun}{alone}",
    )
    return tuple(re.compile(shape) for shape in shapes)


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
    if "bald" in text:
        for match in (hit for pattern in _BALD for hit in pattern.finditer(text)):
            if (who := named_by(masked, match)) is not None:
                value = Value("bald", frozenset({"bald"}))
                yield FoundClaim(Attribute.HAIR, value, who, match.start(), match.end())


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
