"""Ages: how old sentences tell somebody to be, as people write it: "a girl of fifteen"."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from callboard.library.story.facts.claims import Attribute, FoundClaim, Value
from callboard.library.story.facts.grammar import (
    ENTITY,
    SUBJECT,
    Masked,
    adjective,
    named_by,
    person_words,
)
from callboard.library.story.facts.values import NUMBER, ORDINAL, number_of

_OLDEST: Final = 120
_SIGNS: Final = ENTITY[1:-1]
_ABOUT_YEARS: Final = 4
_VERB: Final = r"(?: was| is| am|[’']m| had been)"
_SLIGHT: Final = (
    r"(?: (?:now|only|just|still|already|barely|scarcely|hardly|all of|a mere|exactly|then))*"
)
_OF_AGE: Final = (
    r"(?:[- ]years?[- ]old|[- ]years?[- ]of[- ]age|[- ]summers[- ]old|[- ]winters[- ]old)"
)
_THEN: Final = r"(?! (?:when|then|the (?:year|day|night|summer|winter)|at the time|in \d))"
_END: Final = (
    r"(?=\s*[.;!?)—–]|,[”\"]|,? (?:and|but) (?:had|has|looked|felt|still|already|not|knew|was"
    r"|could)\b"
    r"|, (?:with|though|and)\b|,?\s*$| last (?:\w+)| this (?:\w+)| next (?:\w+)"
    r"| in (?:January|February"
    r"|March|April|May|June|July|August|September|October|November|December|the spring|a month)\b)"
)
_NEAR: Final = {
    "about": (-3, 4),
    "around": (-3, 4),
    "perhaps": (-4, 4),
    "some": (-4, 4),
    "maybe": (-4, 4),
    "roughly": (-4, 4),
    "not far short of": (-3, -1),
    "just short of": (-2, -1),
    "not much short of": (-3, -1),
    "nearly": (-2, 0),
    "almost": (-2, 0),
    "not quite": (-2, 0),
    "not yet": (-9, -1),
    "under": (-9, -1),
    "close on": (-3, 1),
    "getting on for": (-3, 1),
    "going on": (-1, 0),
    "rising": (-2, 0),
    "pushing": (-3, 0),
    "nearing": (-3, 0),
    "past": (0, 9),
    "over": (0, 9),
    "turned": (0, 1),
    "well past": (2, 15),
    "well over": (2, 15),
    "on the wrong side of": (0, 9),
    "on the right side of": (-9, 0),
    "the wrong side of": (0, 9),
    "the right side of": (-9, 0),
    "the far side of": (0, 9),
    "no more than": (-4, 0),
    "not more than": (-4, 0),
    "at least": (0, 12),
    "": (0, 0),
}
_NEARS: Final = "|".join(sorted(filter(None, _NEAR), key=len, reverse=True))
_ABOUT: Final = rf"(?P<about>(?:{_NEARS}) )?"
# Of "seven or eight-and-thirty" the last says the age.
_EITHER: Final = rf"(?:{NUMBER} (?:or|to) )?"
_AGE: Final = rf"{_EITHER}(?P<age>{NUMBER})"
_BARE: Final = rf"{_EITHER}(?P<bare>{NUMBER})"
_DECADE_NAMES: Final = (
    r"teens|twenties|thirties|forties|fifties|sixties|seventies|eighties|nineties"
)
_DECADES: Final = re.compile(
    rf"{SUBJECT},?(?:{_VERB}| who was| must have been| a [a-z]+)? "
    rf"(?:somewhere |already |still |now |well )?in (?:his|her|my) "
    rf"(?P<part>early |mid-?|late |middle )?(?P<decade>{_DECADE_NAMES})\b"
)
_STARTS: Final = {name: 10 + 10 * place for place, name in enumerate(_DECADE_NAMES.split("|"))}
_TRIGGER: Final = re.compile(
    r"\d|year|aged|age of|birthday|teen|twel|eleven|ten\b|nine\b|twent|thirt|fort|fift|sixt|seven"
    r"|eight|ninet|hundred|\bsix\b|\bfive\b|\bfour\b"
)


def find_ages(masked: Masked) -> Iterator[FoundClaim]:
    """Yield how old a sentence says somebody is."""
    if not _TRIGGER.search(masked.text):
        return
    for pattern in _patterns():
        for match in pattern.finditer(masked.text):
            if (found := _read(masked, match)) is not None:
                yield found
    for match in _DECADES.finditer(masked.text):
        who = named_by(masked, match)
        if who is not None:
            value = _decade((match["part"] or "").strip(" -"), match["decade"])
            yield FoundClaim(Attribute.AGE, value, who, match.start(), match.end())


def age_value(text: str) -> Value | None:
    """Return an age, or the span of years words such as "early thirties" leave."""
    lowered = text.lower()
    if match := re.search(rf"(?:(early|mid|late)[ -]*+)?+({_DECADE_NAMES})\b", lowered):
        return _decade(match[1] or "", match[2])
    if match := re.search(rf"\b({NUMBER})\b", lowered):
        years = number_of(match[1])
        is_about = bool(
            re.search(r"\b(?:about|around|roughly|circa|ca|c|over|nearly)\b|~", lowered)
        )
        span = (-_ABOUT_YEARS, _ABOUT_YEARS) if is_about else (0, 0)
        return None if years is None else _years(years, "about" if is_about else "", span)
    return None


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    persons = rf"(?:{person_words()}|young thing|maiden|old maid|beauty|invalid|spinster|bachelor"
    persons += r"|body|soul|dame|party)"
    described = rf"(?:{adjective()}|[a-z-]+,? ){{0,4}}?"
    who = rf"(?P<who>{ENTITY})(?!['’])"
    shapes = (
        # Kael was (nearly) thirty-four years old; Kael was only thirty-four.
        rf"{SUBJECT}{_VERB}{_SLIGHT} {_ABOUT}{_AGE}{_OF_AGE}\b{_THEN}",
        rf"{SUBJECT}(?:{_VERB}|(?: had| has)?(?: just)? turned){_SLIGHT} {_ABOUT}{_BARE}{_END}",
        # Kael had not seen forty yet; had not yet turned forty
        rf"{SUBJECT} (?:had not|hadn[’']t|has not|hasn[’']t|was not|wasn[’']t|is not|isn[’']t) "
        rf"(?P<unripe>(?:yet )?(?:seen|turned|reached|yet)?(?: \w+)?) ?{_AGE}\b(?! (?:of"
        rf"|years in|the))",
        # Kael, thirty-four, … and Kael, aged thirty-four; Kael (34); Kael, who was thirty-four
        rf"{who}, {_ABOUT}{_BARE}(?=,(?! \d))",
        rf"{who},? (?:aged|at the age of|at age) {_ABOUT}{_AGE}\b",
        rf"{who} \((?:aged )?{_AGE}\)",
        rf"{who}, (?:who|whom) (?:was|is){_SLIGHT} {_ABOUT}{_BARE}(?=[,.;])",
        rf"{who}, (?:who|whom) (?:was|is){_SLIGHT} {_ABOUT}{_AGE}{_OF_AGE}",
        # thirty-four-year-old Kael; Kael, a thirty-four-year-old; at thirty-four, Kael …
        rf"(?i:\b{_AGE}[- ]year[- ]old) (?:[a-z]+ )?{who}",
        rf"{who},? (?:was |is )?an? {described}{_AGE}[- ]year[- ]old\b",
        # Lydia was a stout, well-grown girl of fifteen; Lydia, a girl of fifteen
        rf"{SUBJECT},?(?:{_VERB}{_SLIGHT}| who was| then)? (?:an?|the|this) {described}{persons} "
        rf"(?:of |(?=not|just|nearly|about|some)){_ABOUT}{_AGE}(?:-odd)?\b"
        r"(?! (?:thousand|hundred|pounds|guineas|miles))",
        # At two-and-thirty she had outlived …; … for being five-and-twenty
        rf"(?:^|[.;:] |[“\"] ?)At {_ABOUT}{_BARE},? (?P<who>{ENTITY}|he|she|I)(?= (?:was|is"
        rf"|had (?!once)"
        r"|has|still|could|looked))",
        rf"{SUBJECT} (?:was|felt|had"
        rf"|is)\b[^.;:—{_SIGNS}]{{0,60}}? (?:for )?being {_ABOUT}{_BARE}(?=[,.;])",
        rf"{SUBJECT},?(?: who)? (?:had|has) (?:now |just |already )?entered (?:on "
        rf"|upon )?(?:his|her|my) "
        rf"(?P<year>{ORDINAL}) year\b",
        # in her sixtieth year; her sixtieth birthday; (had) celebrated her sixtieth birthday
        rf"{SUBJECT}{_VERB}{_SLIGHT} in (?:his|her|my) (?P<year>{ORDINAL}) year\b",
        rf"(?P<who>{ENTITY})['’]s? (?P<nth>{ORDINAL}) birthday\b",
        rf"{SUBJECT} (?:had |has )?(?:just )?(?:celebrated|kept|reached|passed) "
        rf"(?:his|her|my) (?P<nth>{ORDINAL}) (?:birthday|year)\b",
    )
    return tuple(re.compile(shape) for shape in shapes)


def _read(masked: Masked, match: re.Match[str]) -> FoundClaim | None:
    told = match.groupdict()
    text = next((told[key] for key in ("age", "bare", "nth", "year") if told.get(key)), "")
    who, years = named_by(masked, match), number_of(text)
    # A bare number below a dozen may be the hour, a rank in a row or a count.
    if who is None or years is None or years > _OLDEST or (told.get("bare") and years < 12):
        return None
    about = (told.get("about") or "").strip()
    if told.get("unripe") is not None:
        about = "not yet"
    years -= bool(told.get("year"))
    value = _years(years, about, _NEAR[about])
    says_no = about.startswith("not ")
    return FoundClaim(Attribute.AGE, value, who, match.start(), match.end(), says_no=says_no)


def _years(years: int, about: str, span: tuple[int, int]) -> Value:
    low, high = years + span[0], years + span[1]
    return Value(f"{about} {years}".strip(), low=max(low, 0), high=max(high, 0))


def _decade(part: str, decade: str) -> Value:
    start = _STARTS[decade]
    low, high = {"early": (0, 4), "mid": (3, 7), "middle": (3, 7), "late": (5, 9)}.get(part, (0, 9))
    return Value(f"{part} {decade}".strip(), low=start + low, high=start + high)
