"""Bearing: whether a source is about what is claimed, and a line about what was asked.

Words decide, by their beginnings: a claim and its source share whom or what they speak of, and
what they say of it. That something stands in a file proves nothing about anything else.
"""

import re
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_KEY_LETTERS: Final = 6
_LONG_CLAIM: Final = 60
_SHARED: Final = 2
_STOP_WORDS: Final = """
a about above after again all also am an and any anybody anything are as at be because been
before being below between both but by can cannot could did do does doing done down each either
else ever every few first for from further had has have having he her here hers herself him
himself his how i if in into is it its itself just last least less like made make makes many may
me might mine more most much must my myself near neither never next no nobody none nor not
nothing now of off on once one only onto or other our ours out over own per rather s same say
says said seem seems shall she should since so some somebody something still such t than that
the their theirs them themselves then there these they thing things this those though through to
too two under until up upon us very was we well were what when where whether which while who
whom whose why will with within without would yes yet you your yours
"""
_STOP: Final = frozenset(_STOP_WORDS.split())
# Words of the trade: they name the work, not what it is about.
_TRADE_WORDS: Final = """
answer ask beat book card chapter check checked claim compare evidence file find finding found
keep line look looked page passage quote read reader right scene show sentence story tell text
verdict word work write written wrong
"""
_TRADE: Final = frozenset(_TRADE_WORDS.split())
_TOPICS_WORDS: Final = """
believe canon clear consistency consistent continuity contradict contradiction correct error
draft fine fit good hold issue mistake need novel ok okay order pace pacing plausible problem prose
outline plot ready review strong structure style think true valid validate verify weak
"""
_TOPICS: Final = _TRADE | frozenset(_TOPICS_WORDS.split())


def keys_of(text: str, without: frozenset[str] = _TRADE) -> frozenset[str]:
    """Return what a text speaks of: its words that say something, by their beginnings."""
    left_out = {_key(word) for word in without}
    words = (word.casefold() for word in _WORD.findall(text))
    keys = {_key(word) for word in words if word not in _STOP and (len(word) > 2 or word.isdigit())}
    return frozenset(keys - left_out)


def bears_on(claim: str, source: str) -> bool:
    """Say whether a source is about what is claimed: both speak of the same, and say of it.

    A long text has to share one thing with what it quotes, a short claim two, or all there is.
    """
    said, shown = keys_of(claim), keys_of(source)
    needed = 1 if len(said) > _LONG_CLAIM else _SHARED
    return len(said & shown) >= max(1, min(needed, len(said), len(shown)))


def answers(question: str, line: str, place: str = "") -> bool:
    """Say whether a line can be an answer: about somebody the question names, and half the rest.

    A question that names neither, as whether all is well, is answered by whatever was found. What
    of it only names the one `place` that was looked into need not stand in the line again.
    """
    settled = keys_of(place, frozenset())
    names = {_key(name) for name in _names(question)} - settled
    rest = keys_of(question, _TOPICS) - names - settled
    words = {key for key in rest if not key.isdigit()}
    if names or words or place:
        # A number says where to look, not what was asked.
        rest = words
    told = keys_of(line, frozenset())
    if names and not names & told:
        return False
    return 2 * len(rest & told) >= len(rest)


def _names(text: str) -> set[str]:
    words = _WORD.findall(text)
    return {word.casefold() for word in words if word[0].isupper() and _is_own(word.casefold())}


def _is_own(word: str) -> bool:
    return word not in _STOP and len(word) > 1 and _key(word) not in {_key(w) for w in _TOPICS}


def _key(word: str) -> str:
    bare = re.sub(r"['’].*$", "", word)
    singular = (
        bare[:-1] if len(bare) > 3 and bare.endswith("s") and not bare.endswith("ss") else bare
    )
    return singular[:_KEY_LETTERS]
