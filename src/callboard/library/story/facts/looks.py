"""Looks: eyes, hair, build and complexion, wherever a clause speaks of them.

A part of the body is found first, then the word that describes it, in its phrase or said of it,
then whose it is.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from callboard.library.story.facts.claims import Attribute, FoundClaim, Value
from callboard.library.story.facts.grammar import (
    ENTITY,
    Masked,
    alternatives,
    kin_words,
    person_words,
)
from callboard.library.story.facts.holders import (
    Holder,
    is_told,
    named_before,
    owner_of,
    subject_of,
)
from callboard.library.story.facts.values import colour_name, colour_words, families_of
from callboard.library.story.lexicon import families_in

_HAIR: Final = "hair|curls|braids|plaits|plait|ringlets|locks|tresses|mane|pigtails|ponytail|fringe"
_NOUNS: Final = {"eye": "eyes", "hair": _HAIR}
_ADJECTIVES: Final = {"eye": "eyed", "hair": "haired"}
_ATTRIBUTES: Final = {"eye": Attribute.EYES, "hair": Attribute.HAIR}
_LOOKED: Final = {"eye": re.compile(r"eye[sd]\b"), "hair": re.compile(rf"haired|{_HAIR}")}
# "Black hair streaked with grey" is both.
_MIXED: Final = re.compile(r"^,? (?:streaked|shot|flecked|touched|threaded|tinged|going|salted)\b")
# A thing named after hair or eyes is not them.
_ALONE: Final = (
    r"\b(?!-)(?! (?:ribbon|brush|pin|band|clip|tie|net|dye|oil|bow|shadow|liner|drops|colou?r"
    r"|style|piece|products?|salon|shirt)s?\b)"
)
_SAID: Final = (
    r"(?:,? (?:which|that))?(?: (?:were|are|was|is|had been|have been|had always been"
    r"|have always been))(?: of)?(?: an?| the(?: same)?)?"
    r"(?: (?:[a-z]+ly|very|quite|so|still|both|all|same|(?!as |like |not |never )[a-z]+))?"
    r"(?: and [a-z]+)? "
)
_PASSING: Final = re.compile(
    r"\b(?:flash(?:ed)?|glow(?:ed|ing)?|gleam(?:ed|ing)?|glint(?:ed|ing)?|burn(?:ed|t|ing)?"
    r"|lamplight|firelight)\b"
)
_OTHERS: Final = re.compile(
    rf"\b(?:of|to|for|by|than|from|at|near|like|whose|whom|beside|behind|after|against|that|which)\b"
    rf"|{ENTITY}|\b(?:her|his|my|their)(?! [a-z]+['’]s\b)"
)
_WITH: Final = re.compile(
    r"(?:\b(?:had|has|have|having|with|wore|tossed|shook|under|through)|['’]s got)"
    r"(?: [a-z’'-]+,?| and){0,6} $"
)
_LINKED: Final = re.compile(r"(?:e|he)?(?:,|,? (?:who )?(?:was|is|had been)\b)")
_THE: Final = re.compile(r"\b(?:the|those|that|these) (?:[a-z-]+,? (?:and )?){0,4}$")
_INHERITED: Final = re.compile(r"\b(?:his|her|my) [a-z]+['’]s (?:[a-z-]+,? ){0,3}$")
_BALD: Final = re.compile(
    r"\b(?:bald|hairless)\b(?!-)(?! (?:statement|fact|truth|lie|facts|words|spot|patch))"
    r"|\bno hair (?:on|upon) (?:his|her) head\b"
)
_OWN_WORDS: Final = frozenset({"felt", "feel", "other", "look", "looks", "looked", "looking"})
# Dark eyes are brown or black, unless it is the light or the mood.
_DARK: Final = "dark"
_HEADED: Final = Attribute.MARK
_HEAD: Final = "head of hair"
_SHAPED: Final = r"figure|frame|form|build|body|person|shape|stature"


def find_looks(masked: Masked) -> Iterator[FoundClaim]:
    """Yield what a sentence says of somebody's eyes, hair, build and complexion."""
    lowered = masked.text.lower()
    for part in _NOUNS:
        if _LOOKED[part].search(lowered):
            yield from _coloured(masked, part)
            yield from _adjectival(masked, part)
    if "bald" in lowered or "hair" in lowered:
        yield from _bald(masked)
    yield from _builds(masked)


def _claim(
    masked: Masked,
    span: tuple[int, int],
    holder: Holder | None,
    claim: tuple[Attribute, Value, str | None],
    confidence: float = 0.9,
) -> Iterator[FoundClaim]:
    start, end = span
    if holder is None:
        return
    first = min(holder.at, start)
    if not is_told(masked.text, start, max(end, holder.at), allows=_OWN_WORDS):
        return
    attribute, value, topic = claim
    is_loose = topic is not None or value.text == _DARK
    yield FoundClaim(
        attribute,
        value,
        holder.who,
        first,
        end,
        confidence=confidence,
        topic=topic,
        who_at=holder.at,
        is_guess=is_loose,
        is_vouched=True,
    )


def _coloured(masked: Masked, part: str) -> Iterator[FoundClaim]:
    text = masked.text
    for match in _noun(part).finditer(text):
        told = match["in"] or match["said"]
        if told is None or _PASSING.search(text[max(0, match.start() - 40) : match.end() + 12]):
            continue
        if _MIXED.match(text[match.end() :]):
            told += " " + text[match.end() : match.end() + 40]
        families = families_of(part, told)
        if part == "eye" and told.lower() == _DARK:
            families = frozenset({_DARK, "brown"})
        if not families:
            continue
        holder = _whose(masked, match)
        value = Value(colour_name(told), families)
        span = (match.start(), match.end())
        yield from _claim(masked, span, holder, (_ATTRIBUTES[part], value, None))
        if part == "hair":
            hair = Value("hair", frozenset({"hair"}))
            yield from _claim(masked, span, holder, (_HEADED, hair, _HEAD), 0.7)


def _whose(masked: Masked, match: re.Match[str]) -> Holder | None:
    text = masked.text
    noun = match.end("noun") if match["noun"] else match.end("noun_said")
    owner = owner_of(masked, match.start(), noun)
    before = text[max(0, match.start() - 90) : match.start()]
    if owner is not None and not _INHERITED.search(before):
        return owner
    if _WITH.search(before) or _THE.search(before) or _INHERITED.search(before):
        holder = subject_of(masked, match.start())
        if holder is None:
            return None
        between = text[holder.at + 1 : match.start()]
        persons = re.findall(rf"\b(?:{person_words()}|{kin_words()})\b(?!['’])", between)
        is_own = _OTHERS.search(_plainly(between)) is None and len(persons) <= 1
        is_linked = not persons or _LINKED.match(between)
        return holder if is_own and is_linked else None
    return None


def _plainly(between: str) -> str:
    """Return what stands between two words without a kin word's own "his"."""
    return re.sub(rf"^['’]?s? ?(?:{kin_words()})", "", between)


def _adjectival(masked: Masked, part: str) -> Iterator[FoundClaim]:
    """Read "green-eyed Kael", "Kael, a tall, green-eyed man", "she was red-haired"."""
    text = masked.text
    for match in _compound(part).finditer(text):
        families = families_of(part, match["colour"])
        if not families:
            continue
        holder = None
        if name := re.match(rf",? (?:[a-z-]+ )?({ENTITY})", text[match.end() :]):
            at = match.end() + name.start(1)
            holder = Holder(masked.number_at(name[1]), at)
        else:
            found = subject_of(masked, match.start())
            between = text[found.at + 1 : match.start()] if found else "of"
            is_own = re.search(
                r"^(?:e|he)?(?:,|['’]s|,? (?:who )?(?:was|is|had been))(?: (?:an?|the))?"
                r"(?: [a-z-]+,?(?: and)?){0,5} ?$",
                between,
            )
            holder = found if is_own and not _OTHERS.search(between) else None
        value = Value(colour_name(match["colour"]), families)
        span = (match.start(), match.end())
        yield from _claim(masked, span, holder, (_ATTRIBUTES[part], value, None))


def _bald(masked: Masked) -> Iterator[FoundClaim]:
    for match in _BALD.finditer(masked.text):
        holder = owner_of(masked, match.start(), match.end())
        if holder is None and match[0].startswith("no hair"):
            word = re.search(r"\b(?:his|her)\b", match[0])
            holder = Holder(word[0], match.start() + word.start()) if word else None
        elif holder is None:
            found = subject_of(masked, match.start())
            between = masked.text[found.at + 1 : match.start()] if found else ""
            if found and re.search(r"\b(?:was|is|being|gone|going|went|quite)\b|,", between):
                holder = found if len(between) < 60 and not re.search(ENTITY, between) else None
        value = Value("bald", frozenset({"bald"}))
        span = (match.start(), match.end())
        if holder is None or not is_told(
            masked.text, min(holder.at, match.start()), match.end(), says_no=True
        ):
            continue
        yield FoundClaim(
            _HEADED,
            value,
            holder.who,
            *span,
            topic=_HEAD,
            who_at=holder.at,
            is_guess=True,
            is_vouched=True,
        )


def _builds(masked: Masked) -> Iterator[FoundClaim]:
    """Read "that fair little man", "his slight, boyish figure", "she was tall"."""
    text = masked.text
    for match in _built().finditer(text):
        described = re.findall(r"[a-z-]+", match["words"].lower())
        if match["noun"] in _SHAPED.split("|"):
            holder = owner_of(masked, match.start("words"), match.end())
        else:
            holder = named_before(masked, match.start())
        for axis, families in _axes().items():
            found = {family for family, words in families.items() if words.intersection(described)}
            if len(found) == 1:
                (family,) = found
                shown = next(word for word in described if word in families[family])
                attribute = Attribute.COMPLEXION if axis == "complexion" else Attribute.BUILD
                claim = (attribute, Value(shown, frozenset({family})), axis)
                yield from _claim(masked, (match.start(), match.end()), holder, claim, 0.7)


@cache
def _axes() -> dict[str, dict[str, frozenset[str]]]:
    return {axis: dict(families_in("people", axis)) for axis in ("height", "girth", "complexion")}


@cache
def _built() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:(?:[Aa]n?|[Tt]he|[Tt]hat|[Tt]his|[Hh]is|[Hh]er|[Mm]y)|(?<=['’]s)) ?"
        r"(?P<words>(?:(?:very |rather |remarkably |quite )?[a-z-]+,? (?:and |but |or )?){1,4}?)"
        rf"(?P<noun>man|woman|fellow|girl|boy|lad|gentleman|lady|chap|youth|creature"
        rf"|{_SHAPED}|of(?= (?:the|them|all|us)\b))\b"
    )


@cache
def _noun(part: str) -> re.Pattern[str]:
    words = alternatives(colour_words(part) | {_DARK})
    colour = (
        rf"(?:(?:dark|light|pale|deep|bright) )?(?:[a-z]+-)?(?i:{words})"
        rf"(?:(?:-| and | or |, almost |/)(?:{words}))*(?:-(?:brown|grey|gray|blue|green|black"
        rf"|red|blond|blonde|gold))?"
    )
    after = (
        r"(?:,? (?:and )?(?!(?:my|his|her|their|the|an?)\b)"
        r"[a-z-]+(?:ed|ing|y|ous|ful|less|ld|rd|rp|m|d|p|k|g|n|l|e|ll|t))?"
    )
    return re.compile(
        rf"(?:\b(?P<in>{colour}){after} (?P<noun>{_NOUNS[part]}){_ALONE}"
        rf"|\b(?P<noun_said>{_NOUNS[part]}){_ALONE}(?: of {ENTITY})?(?:(?:,? so|,"
        rf"|{_SAID.rstrip()}) (?P<said>{colour})"
        rf"(?=\s*(?:[.,;:!?—–)”\"]|$)|\s+(?:and|but|as|in|under|behind|now|again|who|though|that)\b)"
        r"))"
    )


@cache
def _compound(part: str) -> re.Pattern[str]:
    words = alternatives(colour_words(part))
    return re.compile(rf"\b(?P<colour>(?:[a-z]+-)?(?i:{words}))-{_ADJECTIVES[part]}\b")
