"""Things: what sentences tell to be lost, broken or given away, and where it is in use again."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from callboard.library.story.facts.grammar import alternatives, kin_words
from callboard.library.story.lexicon import families_in, words_in

_DETERMINERS: Final = (
    r"(?:[Tt]he|[Hh]is|[Hh]er|[Mm]y|[Tt]heir|[Oo]ur|[Tt]hat|[Tt]his|[A-Z][\w.]+['’]s|[a-z]+['’]s)"
)
# Somebody loses it: the verb stands right before the thing.
_LOSES: Final = re.compile(
    r"\b(?:lost|sold|pawned|smashed|shattered|broke|broken|burned|burnt|destroyed|gave away"
    r"|given away|threw away|thrown away|left behind|traded(?: away)?|gambled away|mislaid|drowned"
    r"|disposed of|disposing of|got rid of|parted with|bartered|swapped|donated)(?: all)? $"
)
# Or it takes a second word behind the thing: gave … to, dropped … down the well.
_HANDS_OVER: Final = re.compile(
    r"\b(?:dropped|drop|threw|thrown|flung|tossed|gave|given|sent|presented|left|cast|pitched"
    r"|shot|hurled|posted|surrendered|returned|made a present of)(?: all)? $"
)
_AWAY: Final = re.compile(
    r"^[^.;:!?]{0,30}?\b(?:to|back|away|down|into|overboard|out of|off|over|in the (?:river|sea"
    r"|lake"
    r"|fire|stove|well|drain|pond|canal|harbou?r)|on the fire)\b"
)
# Or it is told of the thing itself: it was stolen, had gone under the ice, was no longer hers.
_GONE: Final = re.compile(
    r"^[^.;:!?]{0,70}?\b(?:was|were|had|is|has|got|['’]s)(?: been)?\b[^.;:!?]{0,60}?\b(?:lost"
    r"|sold|pawned|stolen|smashed|shattered|crushed|burnt|burned|destroyed|confiscated|broken"
    r"|snapped|melted|thrown (?:away|out|overboard)|given away|given to"
    r"|gone(?= (?:to the bottom|under|overboard|down|over|into)|[,;.]|$)|drowned|sunk|scrapped"
    r"|no longer (?:hers|his|mine)|buried with|repossessed|auctioned|wrecked|ruined|sent back"
    r"|in (?:a (?:hundred|thousand|dozen)|[a-z]+) pieces|in (?:bits|splinters|ashes))\b"
    r"|^[^.;:!?]{0,60}? (?:he|she|I|they|we) (?:had )?(?:sold|broken|broke|burnt|burned|lost"
    r"|gave to"
    r"|given to|sent back|thrown|threw|pawned|smashed|dropped|destroyed)\b"
)
_NOT_GONE: Final = re.compile(
    r"\b(?:nearly|almost|if|would|might|could|feared|dreamed|dreamt|not|never|n[’']t|as if"
    r"|as though"
    r"|until|hope|hoped|wish|threatened|promised|pretended|like)\b",
    re.IGNORECASE,
)
_BACK: Final = re.compile(
    r"\b(?:found|recovered|regained|retrieved|returned|bought|replaced|replacement|got back"
    r"|got it back"
    r"|gave back|given back|gave it back|brought back|new|another|second|spare|mended"
    r"|repaired|fixed"
    r"|borrowed|restored|redeemed|rescued|fished|dug up|copy|twin)\b",
    re.IGNORECASE,
)
_BACK_AGAIN: Final = re.compile(
    r"\b(?:was|were|had been|is|been|got|came|come|it|them) (?:found|recovered|returned"
    r"|replaced|back"
    r"|mended|repaired|restored|redeemed|rescued|given back|brought back)\b",
    re.IGNORECASE,
)
_ABSENT: Final = re.compile(
    r"\b(?:no|without|lost|missing|gone|remember(?:ed|s)?|had (?:had|been|once|lost|sold"
    r"|given|broken)"
    r"|wished|if|missed|where|sold|stolen|broken|used to|once|would have|not|never|n[’']t"
    r"|dreamed|dreamt"
    r"|thought of|instead of|like)\b",
    re.IGNORECASE,
)
_USED: Final = re.compile(
    r"\b(?:took|takes?|puts?|laid|lays?|lay|opened|opens?|opening|shut|closed|wore|wears?"
    r"|wearing|pinned"
    r"|pins?|turned|turns?|looked at|looks at|consulted|checked|checks|wound|rode|rides?"
    r"|chains?|chained"
    r"|unlocks?|unlocked|drew|draws?|blew|blows?|brought|brings?|got out|gets out|held|holds?"
    r"|holding"
    r"|carried|carries|carrying|poured|pours|pulled|pulls|lifted|lifts|raised|raises|picked|picks"
    r"|slipped|slips|tucked|set|sets|handed|hands|gave|gives|passed|fastened|buttoned|wrapped|swung"
    r"|played|plays|read|reads|wrote|writes|cut|cuts|pared|lit|lights|aimed|fired|drove"
    r"|drives|sailed"
    r"|leaned|leans|propped|hung|hangs|rested|tapped|polished|wiped|adjusted|fingered"
    r"|glanced at|started"
    r"|rang|strapped|kept|keeps|was going|ticked|ticking|twirled|folded|unfolded|dropped)\b"
)


@dataclass(frozen=True, slots=True)
class Thing:
    """A thing as a sentence names it: its kind, what marks it out, and whose it is said to be."""

    kind: str
    mark: str
    start: int
    end: int


def things_in(text: str) -> Iterator[Thing]:
    """Yield the things of a sentence that go by an article or an owner."""
    seen: set[int] = set()
    for match in _phrase().finditer(text):
        words = [word for word in match["mods"].split() if word.lower() not in _idle()]
        owner = match["owner"]
        # "My bicycle" is one all through a book; "his" may be anybody's.
        is_owned = owner.lower() == "my" or "'" in owner or "’" in owner
        mark = words[-1] if words else owner if is_owned else ""
        seen.add(match.end())
        yield Thing(_kind(match["noun"]), re.sub(r"['’]s$", "", mark.lower()), *match.span())
    for pattern in (_made_of(), _inherited(), _by_name()):
        for match in pattern.finditer(text):
            if match.end() not in seen and match["noun"].lower() not in _no_things():
                seen.add(match.end())
                noun = match["noun"]
                # "The little Cowper" is a book by that name, whoever owns it.
                mark = noun if noun[0].isupper() else match["mark"]
                yield Thing(_kinds().get(noun.lower(), noun.lower()), mark.lower(), *match.span())


def is_loss(text: str, thing: Thing) -> bool:
    """Say whether a sentence tells that a thing is gone for good."""
    is_lost = _LOSES.search(text[: thing.start]) or (
        _HANDS_OVER.search(text[: thing.start]) and _AWAY.match(text[thing.end :])
    )
    if is_lost:
        return _NOT_GONE.search(text[: thing.start]) is None
    gone = _GONE.match(text[thing.end :])
    return gone is not None and _NOT_GONE.search(text[: thing.end] + gone[0]) is None


def is_use(text: str, thing: Thing) -> bool:
    """Say whether a sentence shows a thing in use here and now."""
    if _ABSENT.search(text[: thing.end]) or is_return(text, thing):
        return False
    return not text[: thing.start].strip() or _USED.search(text) is not None


def is_return(text: str, thing: Thing) -> bool:
    """Say whether a sentence tells that a thing was found, mended or bought anew."""
    before, after = text[max(0, thing.start - 30) : thing.end], text[thing.end : thing.end + 40]
    return _BACK.search(before) is not None or _BACK_AGAIN.search(after) is not None


@cache
def _phrase() -> re.Pattern[str]:
    nouns = alternatives(
        frozenset[str]().union(*families_in("facts", "things").values())
        | frozenset(families_in("facts", "things"))
    )
    return re.compile(
        rf"\b(?P<owner>{_DETERMINERS}) (?P<mods>(?:(?!and\b|of\b|in\b|on\b"
        rf"|to\b)[A-Za-z][a-z’'-]+ ){{0,3}}?)"
        rf"(?P<noun>{nouns})\b(?!['’-])"
    )


@cache
def _made_of() -> re.Pattern[str]:
    """Return what finds a thing of no list by what it is made of: "the brass telescope"."""
    stuff = alternatives(words_in("people", "stuffs"))
    return re.compile(
        rf"\b{_DETERMINERS} (?:[a-z]+['’]s )?(?:[a-z]+ ){{0,2}}?(?P<mark>{stuff}) (?:[a-z]+-)?"
        r"(?P<noun>[a-z]{3,})\b(?!['’-])(?! (?:or|of)\b)"
    )


@cache
def _inherited() -> re.Pattern[str]:
    """Return what finds a thing by whose it was: "her father's little Cowper"."""
    return re.compile(
        rf"\b(?:[Hh]is|[Hh]er|[Mm]y|[Tt]heir) (?P<mark>{kin_words()})['’]s (?:[a-z]+ ){{0,2}}?"
        r"(?P<noun>[A-Z]?[a-z]{3,})\b(?=[,.;:!?]| (?:on|in|to|at|down|out|over|from|open|shut"
        r"|into|back"
        r"|round|around|with|under|behind|off|up|before|again|by)\b)"
    )


@cache
def _by_name() -> re.Pattern[str]:
    """Return what finds a thing by its maker's name: "the little Cowper", "her old Singer"."""
    return re.compile(
        r"\b(?:[Tt]he|[Hh]is|[Hh]er|[Mm]y) (?P<mark>little|old|own|battered|new) "
        r"(?P<noun>[A-Z][a-z]{3,})\b(?!['’-]| [A-Z])"
    )


@cache
def _no_things() -> frozenset[str]:
    return words_in("people", "no_things")


@cache
def _kinds() -> dict[str, str]:
    return {
        word: kind
        for kind, words in families_in("facts", "things").items()
        for word in (*words, kind)
    }


def _kind(noun: str) -> str:
    return _kinds()[noun.lower()]


@cache
def _idle() -> frozenset[str]:
    return words_in("facts", "idle_marks")
