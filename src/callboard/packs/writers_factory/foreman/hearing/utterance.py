"""The words of an answer: what is left of what a writer says without hedges, labels and asides.

Everything that is left stands in what was said, in its order.
"""

import re
from collections.abc import Sequence
from typing import Final

_LABEL: Final = (
    r"(?:the|her|his|their|my|our|its|this|that|mara's|\w+'s)?\s*"
    r"(?:(?:fatal|main|big|biggest|central|core|real|greatest|underlying|opening|final|dark|own)\s+)?"
    r"(?:flaw|weakness|lie|belief|goal|want|theme|statement|claim|rule|setting|midpoint|catalyst"
    r"|opening image|final image|image|beat \d+|beat|arc|start|ending|end|resolution|name|hero"
    r"|heroine|protagonist|main character|lead|book|story|novel|b story|finale|debate|all is lost"
    r"|set-?up|break into (?:two|three)|answer)"
)
_FILLER: Final = (
    r"(?:ok(?:ay)?|so|well|hm+|um+|uh+|er+|yeah|yes|yep|oh|ah|right|alright|look|like|honestly"
    r"|actually|basically|probably|maybe|perhaps|possibly|definitely|certainly|obviously|sorry"
    r"|simply|just|for now|mostly|i mean|you know|then|and|but|or"
    r"|that(?=\s+(?:she|he|they|it|you|nobody|everyone|people|love|the|if)\b))\b[,:;.…\s-]*+"
)
_HEDGE: Final = (
    r"(?:i(?:'d| would)? (?:really |kind of |sort of )?(?:think|guess|suppose|say|believe|imagine"
    r"|feel|reckon|figure|assume|hope)(?: (?:that|it's|it is|it would be|of (?:her|him|it) as))?"
    r"|i(?:'m| am| was|'ve been) (?:thinking|leaning|going|inclined)(?: (?:of|about|that|with"
    r"|towards?|for|maybe))*"
    r"|i (?:see|picture|imagine) (?:her|him|it|them) as|i want (?:her|him|it|them) to be"
    r"|let'?s (?:say|go with|call (?:her|him|it|them)|make it|put|use|have|try)"
    r"|how about|what about|what if|could it be(?: that)?|might it be|is it(?: that)?"
    r"|it (?:could|might|would|must|may|will) be(?: that)?|it has to be|it's got to be"
    r"|i(?:'d| would) like to (?:call|name) (?:her|him|it|them)|i want to (?:call|name) (?:her|him)"
    r"|that would be|would be|call (?:her|him|it|them)|"
    r"i don'?t know (?:how to put it|if|whether)[^,]{0,40}?(?:,| but)|same as mine|put down"
    r"|we (?:open|begin|start) (?:with|on)|it (?:opens|begins|starts|ends) (?:with|on))"
    r"(?:,| haha+| lol)*[:\s-]*"
)
_LABELLED: Final = (
    rf"{_LABEL}\s*(?:is|was|'s|would be|will be|could be|might be|has to be|=|:|-|–|—)\s*"
    r"(?:(?:that|probably|maybe|definitely|about|when|called|named|just|simply)\b[,:\s]*)*"
    r"|what (?:she|he|they) (?:wants?|needs?|believes?|does)\s*(?:is|:)\s*(?:that\b)?\s*"
    r"|(?:she|he|they) (?:is|are|was) (?:called|named)\s+"
)
_LEAD: Final = re.compile(rf"^\W*+(?:{_HEDGE}|{_LABELLED})", re.IGNORECASE)
# It announces something, and small talk as well.
_WEAK_LEAD: Final = re.compile(
    r"^\W*+(?:it|that|this)(?:'s| is|s)\b(?: (?:that|about|going to be|probably|maybe|when)\b)?"
    r"(?! (?:a|an|my|not)\b)[:,\s]*",
    re.IGNORECASE,
)
_FILLING: Final = re.compile(rf"^\W*+{_FILLER}", re.IGNORECASE)
_TENTATIVE: Final = re.compile(
    rf"\W*+(?:(?!maybe|perhaps|possibly){_FILLER})*+\W*+"
    r"(?:maybe|perhaps|possibly|could it be|might it be|what about|how about"
    r"|what if|is it (?:that|her|his|their)|is (?:being|not|having|\")|would (?:it|that) be"
    r"|(?:could|can|may) (?:it|the \w+|her \w+|his \w+) be)\b",
    re.IGNORECASE,
)
_TAIL: Final = re.compile(
    r"(?:[,;]\s*+|\s[-–—]\s*+|(?<!\s)\s*+)\b"
    r"(?:i (?:think|guess|suppose|believe|reckon)|or something(?: like that)?"
    r"|or so|if that makes sense|you know|i know|haha+|lol|for now|ok(?:ay)?|right|thanks"
    r"|thank you|full stop|plain and simple|in a word|something like that|i may still [^.]*"
    r"|like i said(?: before)?|if that(?:'s| is) (?:ok|okay|fine|a thing))[\s.!?)]*$",
    re.IGNORECASE,
)
_MENDED: Final = re.compile(
    r".*(?:\bno,? wait|\bscratch that|\bsorry,? i mean|\bi mean|\bor rather|\bno,? actually"
    r"|\bwait,? no|\bmake that)\b[,:;.\s-]*(?P<told>.{3,})",
    re.IGNORECASE | re.DOTALL,
)
_MOST_ROUNDS: Final = 6
_NAME: Final = re.compile(
    r"\b(?:(?:Dr|Mr|Mrs|Ms|Prof|Capt|St)\.\s+)?[A-ZÀ-ÖØ-Þ][\w'’-]*(?:\s+[A-ZÀ-ÖØ-Þ][\w'’-]*){0,3}"
)
_ARTICLES: Final = frozenset(("a", "an", "the"))
# Words a sentence about somebody opens with; none of them is the name.
_OPENER: Final = re.compile(
    r"call|name|let|about|i|i['’]d|it|its|it['’]s|in|on|is|he|she|they|her|him|his|their|my|our"
    r"|this|that|who",
    re.IGNORECASE,
)
_MOST_BARE_WORDS: Final = 4
_FEWEST_BARE_WORDS: Final = 2


def answer_in(sentences: Sequence[str]) -> str:
    """Return what of some sentences is the answer: the writer's words without what leads to it."""
    text = " ".join(each.strip() for each in sentences)
    mended = _MENDED.fullmatch(text)
    if mended is not None:
        text = mended["told"]
    for _ in range(_MOST_ROUNDS):
        shorter = _without_lead(text)
        shorter = _TAIL.sub("", shorter) if len(shorter.split()) > 1 else shorter
        if shorter == text or not re.search(r"\w", shorter):
            break
        text = shorter
    return text.strip().strip('"“”*_ ').rstrip("?").strip()


def has_lead(text: str, *, strongly: bool = False) -> bool:
    """Say whether a sentence announces its answer: `her flaw is`, `I'd say`, `let's go with`.

    Strongly means by more than `it is`, which opens any remark.
    """
    bare = text
    while (found := _FILLING.match(bare)) is not None and found.end():
        bare = bare[found.end() :]
    found = _LEAD.match(bare) or (None if strongly else _WEAK_LEAD.match(bare))
    return found is not None and bool(re.search(r"\w", bare[found.end() :]))


def is_tentative(text: str) -> bool:
    """Say whether a sentence tries an answer out instead of giving it."""
    return _TENTATIVE.match(text) is not None


def _without_lead(text: str) -> str:
    for pattern in (_FILLING, _LEAD, _WEAK_LEAD):
        found = pattern.match(text)
        if found is not None and re.search(r"\w", text[found.end() :]):
            return text[found.end() :].lstrip()
    return text


def name_in(message: str) -> str:
    """Return the name a message gives: a short one whole, of a sentence the first in it.

    A sentence that names nobody gives none.
    """
    words = message.strip().strip(".!\"“”'").split()
    names = (_name_of(hit[0]) for hit in _NAME.finditer(message))
    named = next((each for each in names if each), "")
    if len(words) <= 3 and (not named or named.startswith(words[0])):
        return " ".join(words)
    return named


def _name_of(capitals: str) -> str:
    """Return what of words in capitals is a name; an article is part of one, never one itself."""
    words = capitals.split()
    while words and _OPENER.fullmatch(words[0]):
        words = words[1:]
    return "" if len(words) == 1 and words[0].lower() in _ARTICLES else " ".join(words)


def is_bare_name(message: str) -> bool:
    """Say whether a message is nothing but a name, so that it answers a question nobody put."""
    words = message.strip().strip(".!").split()
    is_short = _FEWEST_BARE_WORDS <= len(words) <= _MOST_BARE_WORDS
    bare = _NAME.fullmatch(" ".join(words)) if is_short else None
    return bare is not None and _name_of(bare[0]) == bare[0]
