"""Ages: how old sentences tell somebody to be, as people write it: "a girl of fifteen".

An age somebody has left behind ("at nineteen she had cried over it") says only that they are no
younger than that.
"""

import re
from collections.abc import Iterator
from typing import Final

from callboard.library.story.facts.age_words import (
    DECADE_NAMES,
    NEAR,
    at_age,
    birthday,
    copula,
    decade_words,
    person_of,
    subject_next,
    years_lived,
)
from callboard.library.story.facts.claims import Attribute, FoundClaim, Value
from callboard.library.story.facts.grammar import ENTITY, Masked
from callboard.library.story.facts.holders import Holder, in_mind, is_told, named_before, subject_of
from callboard.library.story.facts.values import NUMBER, number_of

_OLDEST: Final = 120
_OF_AGE_YEARS: Final = 21
# Below this a bare number may be the hour, a rank in a row or a count.
_LEAST_BARE: Final = 12
_ABOUT_YEARS: Final = 4
_STARTS: Final = {name: 10 + 10 * place for place, name in enumerate(DECADE_NAMES.split("|"))}
_YEAR_OLD: Final = re.compile(rf"\b(?P<years>{NUMBER})-year-old\b", re.IGNORECASE)
_TRIGGER: Final = re.compile(
    r"\d|year|aged|age\b|birthday|teen|twel|eleven|ten\b|nine\b|twent|thirt|fort|fift|sixt|seven"
    r"|eight|ninet|hundred|\bsix\b|\bfive\b|\bfour\b"
)
_PAST: Final = re.compile(
    r"\b(?:when|since|till|until|before|once|after|as a (?:boy|girl|child|lad)|while)\b[^,;]*$",
    re.IGNORECASE,
)
_THEN: Final = re.compile(
    r"^[, ]*(?:when|then|the (?:year|day|night|summer|winter)|at the time|in \d{4})\b"
)
# What the age itself may be told with, though elsewhere it is a doubt.
_OWN_WORDS: Final = frozenset({"may", "looked", "look", "looks", "other", "passed", "felt"})
_COMING: Final = re.compile(r"(?:will|['’]ll|would|['’]d) be$|turns$")
_NO: Final = re.compile(r"\b(?:not|never|no)\b|n['’]t\b")
_NEXT_SUBJECT: Final = re.compile(
    rf",?[^.;:—]{{0,80}}?(?:(?P<name>{ENTITY})(?!['’])|\b(?P<pronoun>he|she|I)\b|\b(?P<one>one)\b)"
)


def find_ages(masked: Masked) -> Iterator[FoundClaim]:
    """Yield how old a sentence says somebody is."""
    if not _TRIGGER.search(masked.text):
        return
    for reader in (
        _copulas,
        _described,
        _compounds,
        _reached,
        _birthdays,
        _decades,
        _coming_of_age,
        _lived,
    ):
        yield from reader(masked)


def age_value(text: str) -> Value | None:
    """Return an age, or the span of years words such as "early thirties" leave."""
    lowered = text.lower()
    if match := re.search(rf"(?:(early|mid|late)[ -]*+)?+({DECADE_NAMES})\b", lowered):
        return _decade(match[1] or "", match[2])
    if match := re.search(rf"\b({NUMBER})\b", lowered):
        years = number_of(match[1])
        is_about = bool(
            re.search(r"\b(?:about|around|roughly|circa|ca|c|over|nearly)\b|~", lowered)
        )
        span = (-_ABOUT_YEARS, _ABOUT_YEARS) if is_about else (0, 0)
        return None if years is None else _years(years, "about" if is_about else "", span)
    return None


def _claim(
    masked: Masked, match: re.Match[str], holder: Holder | None, value: Value | None
) -> Iterator[FoundClaim]:
    text = masked.text
    if holder is None or value is None or _THEN.match(text[match.end() :]):
        return
    first = min(holder.at, match.start())
    if _PAST.search(text[max(0, first - 60) : first]):
        value = Value(value.text, low=value.low, high=_OLDEST)
    if is_told(text, match.start(), match.end(), allows=_OWN_WORDS, says_no=True):
        yield FoundClaim(
            Attribute.AGE,
            value,
            holder.who,
            first,
            match.end(),
            who_at=holder.at,
            is_vouched=True,
            confidence=0.6 if holder.at == match.start() and isinstance(holder.who, str) else 0.9,
        )


def _value(match: re.Match[str], *, is_bare: bool = False) -> Value | None:
    told = match.groupdict()
    years = number_of(told["age"] or told.get("for") or "")
    if years is None or years > _OLDEST or (is_bare and years < _LEAST_BARE):
        return None
    about = (told["about"] or told.get("near") or "").strip()
    return _years(years, about, NEAR[about])


def _copulas(masked: Masked) -> Iterator[FoundClaim]:
    """Read "she was (nearly) thirty", "I'm forty-one", "would be forty at Michaelmas"."""
    for match in copula().finditer(masked.text):
        before = masked.text[max(0, match.start() - 30) : match.start()]
        verb = match["verb"].strip().lower()
        is_bare = match["unit"] is None and not subject_next().search(before)
        value = _value(match, is_bare=is_bare)
        if value is None or (_NO.search(verb) and match["about"] is None):
            continue
        low = value.low or 0
        if _COMING.search(verb):
            value = Value(f"nearly {value.text}", low=low - 1, high=value.high)
        if re.search(r"\b(?:see|seen)$", verb):
            value = Value(f"past {value.text}", low=low, high=low + 15)
        if re.search(r"\bwho $", before):
            continue
        yield from _claim(masked, match, subject_of(masked, match.start("verb")), value)


def _described(masked: Masked) -> Iterator[FoundClaim]:
    """Read "a brisk old body of sixty-odd", told of somebody or as a saying about people."""
    for match in person_of().finditer(masked.text):
        text = masked.text
        value = _value(match, is_bare=match["who"] is not None)
        before = text[: match.start()].rstrip()
        holder = None
        if not before or before[-1] in '.;:—!?”"':
            holder = Holder(in_mind(match["noun"]), match.start())
        else:
            holder = named_before(masked, match.start())
        yield from _claim(masked, match, holder, value)


def _compounds(masked: Masked) -> Iterator[FoundClaim]:
    """Read "thirty-four-year-old Kael" and "Kael, a thirty-four-year-old miller"."""
    text = masked.text
    for match in _YEAR_OLD.finditer(text):
        years = number_of(match["years"].lower())
        value = None if years is None else Value(str(years), low=years, high=years)
        after = re.match(rf" ({ENTITY})", text[match.end() :])
        if after:
            holder = Holder(masked.number_at(after[1]), match.end() + 1)
        else:
            article = re.search(r"\b(?:an?|the) $", text[: match.start()])
            holder = named_before(masked, article.start()) if article else None
        yield from _claim(masked, match, holder, value)


def _reached(masked: Masked) -> Iterator[FoundClaim]:
    """Read "At two-and-thirty she had outlived it" and "Anne, at seven-and-twenty, …"."""
    text = masked.text
    for match in at_age().finditer(text):
        value = _value(match, is_bare=True)
        holder = None
        if name := re.search(rf"({ENTITY}),? $", text[: match.start()]):
            holder = Holder(masked.number_at(name[1]), name.start(1))
        elif after := _NEXT_SUBJECT.match(text, match.end()):
            if after["one"]:
                holder = Holder("(anybody)", match.start())
            elif after["name"]:
                holder = Holder(masked.number_at(after["name"]), after.start("name"))
            else:
                holder = Holder(after["pronoun"].lower(), after.start("pronoun"))
        if holder is None or (match.start() > 0 and name is None):
            holder = subject_of(masked, match.start()) or holder or _first(masked, match.start())
        is_now = match.start() > 0 and " had " not in text[match.start() - 40 : match.end() + 40]
        if value is not None and match["aged"] is None and not is_now:
            value = Value(value.text, low=value.low, high=_OLDEST)
        yield from _claim(masked, match, holder, value)


def _first(masked: Masked, place: int) -> Holder | None:
    """Return who a sentence opened with, where its later half leaves the subject out."""
    for end in (hit.end() for hit in re.finditer(r"[;:]", masked.text[:place])):
        if found := subject_of(masked, end - 1):
            return found
    return None


def _birthdays(masked: Masked) -> Iterator[FoundClaim]:
    """Read "her sixtieth birthday", "in his twentieth year"."""
    for match in birthday().finditer(masked.text):
        years = number_of(match["nth"])
        if years is None or years > _OLDEST:
            continue
        years -= match["what"] == "year"
        value = Value(str(years), low=years, high=years + 1)
        if match["yet"]:
            value = Value(f"not yet {years}", low=0, high=years - 1)
        holder = None if match["own"] else subject_of(masked, match.start())
        yield from _claim(masked, match, holder or _owner(masked, match), value)


def _owner(masked: Masked, match: re.Match[str]) -> Holder:
    if match["own"]:
        return Holder(masked.number_at(match["own"]), match.start("own"))
    return Holder(match["whose"].lower(), match.start("whose"))


def _decades(masked: Masked) -> Iterator[FoundClaim]:
    for match in decade_words().finditer(masked.text):
        value = _decade((match["part"] or "").strip(" -"), match["decade"])
        if match["out"] and value.high is not None:
            low = value.high + 1
            before = masked.text[: match.start()]
            is_just = re.search(r"\b(?:barely|just|hardly|scarcely) $", before)
            value = Value(f"past {match['decade']}", low=low, high=low + (2 if is_just else 12))
        holder = subject_of(masked, match.start()) or _owner(masked, match)
        yield from _claim(masked, match, holder, value)


def _coming_of_age(masked: Masked) -> Iterator[FoundClaim]:
    for match in re.finditer(r"\bjust (?:come|came) of age\b", masked.text):
        value = Value("just of age", low=_OF_AGE_YEARS, high=_OF_AGE_YEARS + 1)
        yield from _claim(masked, match, subject_of(masked, match.start()), value)


def _lived(masked: Masked) -> Iterator[FoundClaim]:
    """Read "had lived nearly twenty-one years in the world" and "very upright for seventy-one"."""
    for match in years_lived().finditer(masked.text):
        value = _value(match, is_bare=match["world"] is None)
        holder = subject_of(masked, match.start()) or _first(masked, match.start())
        yield from _claim(masked, match, holder, value)


def _years(years: int, about: str, span: tuple[int, int]) -> Value:
    low, high = years + span[0], years + span[1]
    return Value(f"{about} {years}".strip(), low=max(low, 0), high=max(high, 0))


def _decade(part: str, decade: str) -> Value:
    start = _STARTS[decade]
    low, high = {"early": (0, 4), "mid": (3, 7), "middle": (3, 7), "late": (5, 9)}.get(part, (0, 9))
    return Value(f"{part} {decade}".strip(), low=start + low, high=start + high)
