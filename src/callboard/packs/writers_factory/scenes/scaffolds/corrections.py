"""Corrections: what the writer put right must stay right. Finds texts that go against one.

Three ways of putting something right are understood: somebody is dead, a thing is lost or gone,
and `this, not that`. What is said otherwise is left to readers.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_SINCE: Final = re.compile(r"\b(?:chapter|ch)[\s._-]*(\d{1,4})", re.IGNORECASE)
_DEAD: Final = re.compile(
    r"\b(?P<who>[A-Z][\w'’-]++(?:\s[A-Z][\w'’-]++)?)\s++(?:is|was|has been)?+\s*+"
    r"(?:already\s++)?+(?:dead|died|killed|dies)\b"
)
_GONE: Final = re.compile(
    r"\b(?:the|his|her|their|a)\s+(?P<what>[a-z][\w'’-]*(?:\s[a-z][\w'’-]*)?)\s+"
    r"(?:is|was|were|has been|got)\s+(?:lost|gone|destroyed|stolen|burned|broken|sold|thrown away)",
    re.IGNORECASE,
)
_NOT: Final = re.compile(r"(?:,|;|\band)\s+(?:not|never)\s+(?:a\s+|an\s+|the\s+)?(?P<what>[^,.;]+)")
_ADMITS: Final = re.compile(
    r"\b(?:lost|gone|missing|without|no longer|absence|destroyed|stolen|not|never|dead|died)\b",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"[^.!?;\n]+")


@dataclass(frozen=True, slots=True)
class Ban:
    """Something that may not be said from a chapter on, and the correction it comes from."""

    what: str
    kind: str
    since_chapter: int
    correction: str


def bans_of(corrections: Iterable[str]) -> tuple[Ban, ...]:
    """Return what the corrections rule out."""
    found: list[Ban] = []
    for correction in corrections:
        since = _SINCE.search(correction)
        chapter = int(since[1]) if since else 0
        for kind, pattern, group in (("dead", _DEAD, "who"), ("gone", _GONE, "what")):
            found += [
                Ban(hit[group].strip(), kind, chapter, correction)
                for hit in pattern.finditer(correction)
            ]
        found += [
            Ban(hit["what"].strip(), "not", 0, correction) for hit in _NOT.finditer(correction)
        ]
    return tuple(found)


def breaches(text: str, corrections: Iterable[str], chapter: int) -> tuple[str, ...]:
    """Return what a text says against corrections, in words; a mention that admits it is none."""
    faults: list[str] = []
    for ban in bans_of(corrections):
        if ban.kind == "dead" or chapter < ban.since_chapter:
            continue
        wanted = re.compile(rf"\b{re.escape(ban.what)}\b", re.IGNORECASE)
        for sentence in _SENTENCE.findall(text):
            if wanted.search(sentence) and not _ADMITS.search(sentence):
                faults.append(f"{sentence.strip()!r} goes against: {ban.correction}")
                break
    return tuple(faults)


def is_declared_dead(name: str, corrections: Iterable[str], chapter: int) -> bool:
    """Say whether a correction has somebody dead by a chapter."""
    return any(
        ban.kind == "dead"
        and ban.what.casefold() in name.casefold()
        and chapter >= ban.since_chapter
        for ban in bans_of(corrections)
    )
