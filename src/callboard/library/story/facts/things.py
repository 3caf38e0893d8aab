"""Things: what sentences tell to be lost, broken or given away, and where it is in use again."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from callboard.library.story.facts.grammar import alternatives
from callboard.library.story.lexicon import families_in, words_in

_DETERMINERS: Final = (
    r"(?:[Tt]he|[Hh]is|[Hh]er|[Mm]y|[Tt]heir|[Oo]ur|[Tt]hat|[Tt]his|[A-Z][\w.]+['’]s|[a-z]+['’]s)"
)
# Somebody loses it: the verb stands right before the thing.
_LOSES: Final = re.compile(
    r"\b(?:lost|sold|pawned|smashed|shattered|broke|broken|burned|burnt|destroyed|gave away"
    r"|given away"
    r"|threw away|thrown away|left behind|traded(?: away)?|gambled away|dropped)(?: all)? $"
)
# Or it is told of the thing itself: it was stolen, had gone under the ice, was no longer hers.
_GONE: Final = re.compile(
    r"^[^.;:!?]{0,70}?\b(?:was|were|had|is|has|got|['’]s)(?: been)?\b[^.;:!?]{0,50}?\b(?:lost"
    r"|sold|pawned"
    r"|stolen|smashed|shattered|crushed|burnt|burned|destroyed|confiscated|broken|snapped|melted"
    r"|thrown (?:away|out|overboard)|given away|gone(?= (?:to the bottom|under|overboard|down"
    r"|over|into)"
    r"|[,;.]|$)|drowned|sunk|no longer (?:hers|his|mine)|buried with)\b"
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

    def is_same_as(self, other: "Thing") -> bool:
        """Say whether two names must mean one thing: of a kind, and marked out alike."""
        return self.kind == other.kind and bool(self.mark) and self.mark == other.mark


def things_in(text: str) -> Iterator[Thing]:
    """Yield the things of a sentence that go by an article or an owner."""
    for match in _phrase().finditer(text):
        words = [word for word in match["mods"].split() if word.lower() not in _idle()]
        owner = match["owner"]
        # "My bicycle" is one all through a book; "his" may be anybody's.
        is_owned = owner.lower() == "my" or "'" in owner or "’" in owner
        mark = words[-1] if words else owner if is_owned else ""
        yield Thing(_kind(match["noun"]), re.sub(r"['’]s$", "", mark.lower()), *match.span())


def is_loss(text: str, thing: Thing) -> bool:
    """Say whether a sentence tells that a thing is gone for good."""
    if _LOSES.search(text[: thing.start]):
        return _NOT_GONE.search(text[: thing.start]) is None
    gone = _GONE.match(text[thing.end :])
    return gone is not None and _NOT_GONE.search(text[: thing.end] + gone[0]) is None


def is_use(text: str, thing: Thing) -> bool:
    """Say whether a sentence shows a thing in use here and now."""
    if _ABSENT.search(text[: thing.end]) or _BACK.search(text):
        return False
    return _USED.search(text) is not None


def is_return(text: str) -> bool:
    """Say whether a sentence tells of something that was found, mended or bought anew."""
    return _BACK.search(text) is not None


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
