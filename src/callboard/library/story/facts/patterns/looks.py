"""Looks: the colour of eyes and hair, as prose describes people."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from callboard.library.story.facts.claims import Attribute, Found, Value
from callboard.library.story.facts.masks import ENTITY, Masked
from callboard.library.story.facts.patterns.grammar import (
    OWNER,
    STOPS,
    SUBJECT,
    adjective,
    alternatives,
    kin_words,
    named_by,
    person_words,
)
from callboard.library.story.facts.values.colours import colour_name, colour_words, families_of

_PARTS: Final = {"eye": ("eyes", "eyed"), "hair": ("hair", "haired")}
_PAIRS: Final = {"eye": "eyes and hair|hair and eyes", "hair": "eyes and hair|hair and eyes"}
_ATTRIBUTES: Final = {"eye": Attribute.EYES, "hair": Attribute.HAIR}
# Between a person and "with green eyes" none of these may stand: it would be another's eyes.
_BREAKS: Final = re.compile(
    r"\b(?:of|to|for|by|than|from|at|near|like|whose|who|whom|on|in|into|beside|behind|before"
    r"|after|over|under|against|his|her|my|their|that|which)\b"
)
_MIXED: Final = re.compile(r"^,? (?:streaked|shot|flecked|touched|threaded|tinged|going|salted)\b")


def find_looks(masked: Masked) -> Iterator[Found]:
    """Yield what a sentence says of the colour of somebody's eyes or hair."""
    lowered = masked.text.lower()
    for part, words in _PARTS.items():
        if not any(word in lowered for word in words):
            continue
        for pattern in _patterns(part):
            for match in pattern.finditer(masked.text):
                found = _read(masked, match, part)
                if found is not None:
                    yield found


def _read(masked: Masked, match: re.Match[str], part: str) -> Found | None:
    who = named_by(masked, match)
    told = match["colour"]
    # "black hair streaked with grey" is both.
    if _MIXED.match(masked.text[match.end() :]):
        told += " " + masked.text[match.end() : match.end() + 40]
    families = families_of(part, told)
    if who is None or not families or not _is_own(match):
        return None
    value = Value(colour_name(match["colour"]), families)
    return Found(_ATTRIBUTES[part], value, who, match.start(), match.end())


def _is_own(match: re.Match[str]) -> bool:
    between = match.groupdict().get("between")
    if between is None:
        return True
    persons = re.findall(rf"\b(?:{person_words()}|{kin_words()})\b", between)
    return len(persons) <= 1 and not _BREAKS.search(between) and not re.search(ENTITY, between)


@cache
def _patterns(part: str) -> tuple[re.Pattern[str], ...]:
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
    )
    return tuple(re.compile(shape) for shape in shapes)
