"""Beats: which of an outline entry happen in a scene, and what was left where text should be."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rapidfuzz import fuzz

from callboard.core.canonical import Json
from callboard.library.story.index import Outline, OutlineEntry
from callboard.library.story.index.metadata import numbered_title
from callboard.library.story.index.outline import slug_of
from callboard.library.story.model import Quote, StoryFile
from callboard.library.story.text import Document, content_stems, words_of
from callboard.library.story.text.markdown import mask_comments

# Words of an outline that say what kind of thing happens, not what.
_EMPTY: Final = frozenset(
    re.findall(r"\w+", "scene beat then finally begins begin starts start chapter")
)
_SIGNS: Final = re.compile(
    r"\b(?:TODO|TBD|TBC|FIXME|XXX|TKTK?)\b"
    r"|\[(?:\.{2,}|…|(?:insert|todo|tbd|placeholder|describe|description|add|fill in|to come"
    r"|to be (?:written|added|decided)|name(?: here)?|scene (?:missing|continues)|continue[sd]?"
    r"|more here|rest of)\b[^\]\n]*)\](?!\()"
    r"|\blorem ipsum\b"
    r"|\bas an ai(?: language)?(?: model| assistant)|\bas an ai, i (?:am|can|cannot|do|don|will)"
    r"|\bi(?:['’]m| am) (?:sorry|unable),? (?:but )?(?:i )?(?:can(?:no|['’])t|to) "
    r"(?:write|assist|help|fulfil|continue|generate)\b",
    re.IGNORECASE,
)
# In small letters these are words or names.
_CAPITALS: Final = frozenset({"todo", "tbd", "tbc", "fixme", "xxx", "tk", "tkt"})


@dataclass(frozen=True, slots=True)
class EntryMatch:
    """The entry a scene belongs to, and by which sign."""

    entry: OutlineEntry
    method: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Coverage:
    """One beat and the sentence that comes closest to it."""

    text: str
    outline_quote: Quote
    status: str
    overlap: float
    quote: Quote | None

    def to_json(self) -> dict[str, Json]:
        """Return the shape payloads hold."""
        return {
            "beat": self.text,
            "status": self.status,
            "overlap": round(self.overlap, 2),
            "outline_quote": self.outline_quote.to_json(),
            "scene_quote": self.quote.to_json() if self.quote else None,
        }


def match_entry(
    outline: Outline, scene: StoryFile, matched: int | None, fuzzy_title: float
) -> EntryMatch | None:
    """Return the entry of a scene: the index's match, its number, its title; never a guess."""
    if matched is not None:
        return EntryMatch(outline.entries[matched], "file", 1.0)
    _, title, _ = numbered_title(scene.title)
    slug = slug_of(title)
    by_title = [entry for entry in outline.entries if slug and entry.slug == slug]
    by_number = [
        entry
        for entry in outline.entries
        # What counts by chapter was matched by chapter already, or cannot be.
        if scene.chapter is None
        and scene.scene_number is not None
        and entry.number == scene.scene_number
    ]
    for entries, method, confidence in ((by_title, "title", 0.95), (by_number, "number", 0.9)):
        if len(entries) == 1:
            return EntryMatch(entries[0], method, confidence)
    close = [
        (score, entry)
        for entry in outline.entries
        if title and (score := fuzz.ratio(title.lower(), entry.title.lower())) >= fuzzy_title
    ]
    if len(close) == 1:
        return EntryMatch(close[0][1], "fuzzy_title", round(close[0][0] / 100, 2))
    return None


def cover(
    document: Document, entry: OutlineEntry, outline: Document, *, covered: float, partial: float
) -> list[Coverage]:
    """Return how far each beat of an entry happens in a text, by its best sentence."""
    stems = [_stems(sentence.words) for sentence in document.sentences]
    found: list[Coverage] = []
    for beat in entry.beats:
        wanted = _stems(words_of(beat.text))
        best, at = _best(wanted, stems)
        status = "covered" if best >= covered else "partial" if best >= partial else "missing"
        quote = None if at is None else document.quote(document.sentences[at])
        found.append(Coverage(beat.text, outline.quote(beat.line), status, best, quote))
    return found


def _best(wanted: frozenset[str], stems: Sequence[frozenset[str]]) -> tuple[float, int | None]:
    if not wanted:
        return 1.0, None
    best, at = 0.0, None
    for number, have in enumerate(stems):
        share = len(wanted & have) / len(wanted)
        if share > best:
            best, at = share, number
    return best, at


def _stems(words: Sequence[str]) -> frozenset[str]:
    return content_stems((word.removesuffix("'s") for word in words), idle=_EMPTY)


def find_placeholders(document: Document) -> list[tuple[str, Quote]]:
    """Return each placeholder of the body with the line it stands in; comments are the author's."""
    lines = mask_comments(document.text).split("\n")
    found: list[tuple[str, Quote]] = []
    for number, line in enumerate(lines, start=1):
        if number <= document.front_line_count:
            continue
        for hit in _SIGNS.finditer(line):
            if hit[0].lower() in _CAPITALS and not hit[0].isupper():
                continue
            found.append((hit[0], document.quote(number)))
    return found
