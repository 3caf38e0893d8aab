"""Holders: whose a value is that stands in a clause, and whether the clause is told as true.

A value belongs to whoever owns its phrase ("her blue eyes"), else to the subject of its clause
("Kael, who was past forty"), else, in a saying about people in general ("a man of forty knows
better"), to whom the text has in mind. Nothing is guessed across a clause of somebody else.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from callboard.library.story.facts.claims import Gender, KinOf
from callboard.library.story.facts.grammar import ENTITY, Masked, alternatives, kin_words
from callboard.library.story.lexicon import words_in

# Whom the text has in mind, as the `who` of a claim.
FOCUS: Final[Mapping[str, Gender | None]] = {
    "(anybody)": None,
    "(a woman)": "female",
    "(a man)": "male",
}
# Whom "the poor girl" stands for: not who acts, but who was named last.
LAST_NAMED: Final[Mapping[str, Gender | None]] = {
    "(the person)": None,
    "(the woman)": "female",
    "(the man)": "male",
}
_PAGE_CHARS: Final = 400
_BREAK: Final = re.compile(
    r"[;:—–!?…]|--|\.(?= )|, (?:and|but|so|yet|for|or) (?=(?:he|she|I|it|they|we|you|the|an?|his"
    r"|her|my|their|there|this|that|then|when|as|if|nobody|one)\b|[\uE000-\uEFFF])"
)
_KIN_ADJECTIVES: Final = (
    r"(?:old |little |elder |younger |eldest |youngest |poor |dear |own |late |big )"
)
_OPENING: Final = re.compile(
    r"(?:^|[^\w\s]\s*|\b(?:and|but|when|while|as|that|because|though|although|where|for|so|yet|then"
    r"|till|until|if|now|still|only|before|after|was|is|it['’]s|old|poor|young|little|dear|the"
    r"|time|day|than|since|whom|which)\s)$",
    re.IGNORECASE,
)
_OWNER: Final = re.compile(
    rf"(?:(?P<name>{ENTITY})['’]s?|\b(?P<pronoun>[Hh]is|[Hh]er|[Mm]y)) "
    r"(?:(?!(?:and|or|of|in|to|at|was|is|with|had|has|have|were|are|who|which"
    r"|on)\b)[a-z’'-]+,? (?:and )?){0,4}$"
)
_WHOSE: Final = re.compile(
    rf"(?P<name>{ENTITY})(?P<pronoun>),? whose (?:[a-z’'-]+,? (?:and )?){{0,3}}$"
)
LINK: Final = re.compile(
    r"(?:,? who(?: was| is)|,| was| is| am|['’]s|['’]m| had been| has been| as| being| became)"
    r"(?: (?:[a-z]+ly|now|still|only|but|also|then|already|always|after all|just))? $"
)
_AFTER: Final = re.compile(
    rf" (?:of (?:(?P<name>{ENTITY})(?!['’])|(?P<pronoun>his|hers|mine)\b)|on (?P<on>him|her)\b)"
)


@dataclass(frozen=True, slots=True)
class Holder:
    """A mention's number, a pronoun or a key of `FOCUS`, and where it stands."""

    who: int | str | KinOf
    at: int


def subject_of(masked: Masked, place: int) -> Holder | None:
    """Return the subject of the clause that a place is in."""
    text = masked.text
    first = _clause_start(text, place)
    found = [
        hit
        for hit in _candidate().finditer(text, first, place)
        if _OPENING.search(text, max(first, hit.start() - 20), hit.start())
    ]
    return _holder(masked, found[-1]) if found else None


def named_before(masked: Masked, place: int, link: re.Pattern[str] = LINK) -> Holder | None:
    """Return who stands right before a place: "Kael, …", "she was …", "Ivy's son, …"."""
    first = max(0, place - 120)
    found = None
    for hit in _candidate().finditer(masked.text, first, place):
        if link.fullmatch(masked.text, hit.end(), place):
            found = hit
    return _holder(masked, found) if found else None


def owner_of(masked: Masked, start: int, end: int) -> Holder | None:
    """Return whose a phrase is: by what stands before it, or by "of his" behind it."""
    text = masked.text
    match = _OWNER.search(text, max(0, start - 80), start)
    if match and not _kin_word().search(match[0]):
        return _holder(masked, match)
    if match := _WHOSE.search(text, max(0, start - 80), start):
        return _holder(masked, match)
    if match := _epithet_before().search(text, max(0, start - 80), start):
        last = in_mind(match["epithet"])
        key = {"(a woman)": "(the woman)", "(a man)": "(the man)"}.get(last, "(the person)")
        return Holder(key, match.start())
    if match := _AFTER.match(text, end):
        if match["on"]:
            return Holder(match["on"], match.start("on"))
        told = match["pronoun"]
        if told is None:
            return _holder(masked, match)
        return Holder({"hers": "her", "mine": "my"}.get(told, told), match.start("pronoun"))
    return None


def in_mind(word: str) -> str:
    """Return the key of `FOCUS` for a word such as "woman"."""
    if word.lower() in words_in("facts", "female_words"):
        return "(a woman)"
    return "(a man)" if word.lower() in words_in("facts", "male_words") else "(anybody)"


def is_told(
    text: str,
    start: int,
    end: int,
    *,
    allows: frozenset[str] = frozenset(),
    says_no: bool = False,
) -> bool:
    """Say whether the narrator vouches for a stretch of a sentence.

    `allows` are words of its own, `says_no` that it denies something itself.
    """
    if text.rstrip(" \"”’'»)").endswith("?"):
        return False
    first = _clause_start(text, start)
    before = _plain(text[first:end]) - allows
    if before & words_in("people", "not_vouched"):
        return False
    if not says_no and _plain(text[start:end]) & words_in("facts", "negations"):
        return False
    around = text[max(0, start - _PAGE_CHARS) : end + 60].lower()
    return _unreal().search(around) is None


def _clause_start(text: str, place: int) -> int:
    first = max(0, place - _PAGE_CHARS)
    return max((hit.end() for hit in _BREAK.finditer(text, first, place)), default=first)


def _holder(masked: Masked, match: re.Match[str]) -> Holder:
    told = match.groupdict()
    if kin := told.get("kin"):
        owned = told["owned"]
        owner = masked.number_at(owned) if owned else told["whose"].lower()
        at = match.start("owned") if owned else match.start("whose")
        return Holder(KinOf(owner, at, kin), at)
    if match["name"]:
        return Holder(masked.number_at(match["name"]), match.start("name"))
    return Holder(match["pronoun"].lower(), match.start("pronoun"))


def _plain(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]+(?:['-][a-z]+)*", text.lower().replace("’", "'")))


@cache
def _candidate() -> re.Pattern[str]:
    return re.compile(
        rf"(?:(?P<owned>{ENTITY})['’]s?|\b(?P<whose>[Hh]is|[Hh]er|[Mm]y)) {_KIN_ADJECTIVES}*"
        rf"(?P<kin>{kin_words()})\b(?!-|['’])(?!,? {ENTITY})"
        rf"|(?P<name>{ENTITY})(?!['’])|\b(?P<pronoun>[Hh]e|[Ss]he|I)\b"
    )


@cache
def _kin_word() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{kin_words()})\b(?!['’])")


@cache
def _epithet_before() -> re.Pattern[str]:
    epithets = alternatives(words_in("people", "epithets"))
    return re.compile(
        rf"\b[Tt]he (?:(?:poor|old|young|dear|little|good|big|tall|unhappy|wretched) )*"
        rf"(?P<epithet>{epithets})['’]s (?:[a-z’'-]+,? (?:and )?){{0,3}}$"
    )


@cache
def _unreal() -> re.Pattern[str]:
    phrases = frozenset(phrase.replace("_", " ") for phrase in words_in("people", "unreal_phrases"))
    return re.compile(
        rf"\b(?:{alternatives(phrases)})\b|^[^\w\ue000-\uefff]*(?:had|were) (?:(?:he|she|i)\b"
        rf"|[\ue000-\uefff])"
    )
