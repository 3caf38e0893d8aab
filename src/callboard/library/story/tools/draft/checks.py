"""Checks: what a draft is measured by, each a line that says PASS, WARN or FAIL."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Final

from callboard.core.canonical import Json
from callboard.library.story.index import Entities, StoryEntity
from callboard.library.story.model import Quote, Severity, StoryFile
from callboard.library.story.text import Document, content_stems, stem, words_of
from callboard.library.story.thresholds import DraftThresholds
from callboard.library.story.tools.canon.checking import conflict_finding
from callboard.library.story.tools.canon.tool import CanonCheck, variant_finding
from callboard.library.story.tools.draft.beats import Coverage, EntryMatch, find_placeholders

_FIRST: Final = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Mm]yself)\b")
_PERSONAL: Final = re.compile(r"\b(?:I|me|my|he|him|his|she|her|they|them|their)\b", re.IGNORECASE)
_ENDS: Final = re.compile(r"(?:[.!?…][\"”’'»)\]*_]*|—[\"”’'»]|\bthe end)$", re.IGNORECASE)
_FEW: Final = 3


class Mark(StrEnum):
    """How a check ended."""

    PASS = "PASS"  # noqa: S105 - a mark, no password
    WARN = "WARN"
    FAIL = "FAIL"


@dataclass(frozen=True, slots=True)
class DraftCheck:
    """One line of the report."""

    name: str
    mark: Mark
    message: str
    quotes: tuple[Quote, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the shape payloads hold."""
        return {
            "check": self.name,
            "status": self.mark.value,
            "message": self.message,
            "quotes": [quote.to_json() for quote in self.quotes],
        }


@dataclass(frozen=True)
class CheckedDraft:
    """A text to be judged, with what is known of it."""

    document: Document
    file: StoryFile
    entities: Entities
    match: EntryMatch | None
    coverage: Sequence[Coverage]
    pov: str | None
    pov_entity: StoryEntity | None
    canon: CanonCheck | None
    has_outline: bool
    limits: DraftThresholds = field(repr=False)


def run_checks(draft: CheckedDraft) -> list[DraftCheck]:
    """Return every check of a draft, in a fixed order."""
    if not draft.document.sentences:
        return [DraftCheck("body", Mark.FAIL, "The scene has no text.")]
    return [
        DraftCheck("body", Mark.PASS, f"The scene has {draft.file.word_count} words."),
        _title(draft),
        _length(draft),
        _matched(draft),
        *_beats(draft),
        *_present(draft),
        *_pov(draft),
        _person(draft),
        _placeholders(draft),
        *_canon(draft),
        _ending(draft),
    ]


def recommend(checks: Sequence[DraftCheck]) -> str:
    """Return the one word the checks add up to."""
    if any(check.mark is Mark.FAIL for check in checks):
        return "REVISE"
    unsure = {"beat_matched", "pov_known"}
    if any(check.name in unsure and check.mark is Mark.WARN for check in checks):
        return "FLAG_FOR_REVIEW"
    return "APPROVE"


def _title(draft: CheckedDraft) -> DraftCheck:
    told = bool(draft.document.front.get("title")) or bool(draft.document.headings)
    if told:
        return DraftCheck("title", Mark.PASS, f"The title is “{draft.file.title}”.")
    return DraftCheck("title", Mark.WARN, "The scene has no title.")


def _length(draft: CheckedDraft) -> DraftCheck:
    limits, words, target = draft.limits, draft.document.word_count, draft.file.target_words
    if target:
        low = round(target * (1 - limits.target_tolerance))
        high = round(target * (1 + limits.target_tolerance))
    else:
        low, high = limits.min_words, limits.max_words
    mark = Mark.PASS if low <= words <= high else Mark.WARN
    return DraftCheck("length", mark, f"{words} words; {low} to {high} are expected.")


def _matched(draft: CheckedDraft) -> DraftCheck:
    if draft.match is not None:
        entry = draft.match.entry
        number = "" if entry.number is None else f" {entry.number}"
        return DraftCheck(
            "beat_matched",
            Mark.PASS,
            f"Outline scene{number} “{entry.title}”, by {draft.match.method.replace('_', ' ')}.",
        )
    why = "No entry of the outline matches." if draft.has_outline else "The project has no outline."
    return DraftCheck("beat_matched", Mark.WARN, why)


def _beats(draft: CheckedDraft) -> list[DraftCheck]:
    if draft.match is None:
        return []
    if not draft.coverage:
        return [DraftCheck("beats", Mark.WARN, "The outline gives this scene no beats.")]
    if not draft.document.is_english:
        return [DraftCheck("beats", Mark.PASS, "Beats are judged in English text only.")]
    marks = {"covered": Mark.PASS, "partial": Mark.WARN, "missing": Mark.WARN}
    lines = [
        DraftCheck(
            "beat",
            marks[each.status],
            f"{each.status.capitalize()}: {each.text}",
            (each.outline_quote, *((each.quote,) if each.quote else ())),
        )
        for each in draft.coverage
    ]
    missing = sum(each.status == "missing" for each in draft.coverage)
    total = len(draft.coverage)
    mark = Mark.PASS if not missing else Mark.WARN
    if missing > total * draft.limits.missing_beats_share:
        mark = Mark.FAIL
    return [
        *lines,
        DraftCheck("beats", mark, f"{total - missing} of {total} beats are in the scene."),
    ]


def _present(draft: CheckedDraft) -> list[DraftCheck]:
    if draft.match is None:
        return []
    fields, checks = draft.match.entry.fields, list[DraftCheck]()
    if told := fields.get("characters"):
        absent = [name for name in _names(told) if not _is_named(draft, name)]
        checks.append(
            DraftCheck("characters", Mark.WARN, f"Not in the scene: {', '.join(absent)}.")
            if absent
            else DraftCheck("characters", Mark.PASS, f"All are there: {told}.")
        )
    if told := fields.get("location"):
        wanted = content_stems(told)
        own = words_of(draft.file.location or "")
        here = {stem(word) for word in (*draft.document.word_counts, *own)}
        is_there = not wanted or bool(wanted & here)
        message = f"The scene is at {told}." if is_there else f"{told} is never named."
        checks.append(DraftCheck("location", Mark.PASS if is_there else Mark.WARN, message))
    return checks


def _pov(draft: CheckedDraft) -> list[DraftCheck]:
    if draft.pov is None:
        return [
            DraftCheck("pov_known", Mark.WARN, "Neither scene nor outline says whose view it is.")
        ]
    if draft.pov_entity is None or draft.pov_entity.card is None:
        return [DraftCheck("pov_known", Mark.WARN, f"{draft.pov} has no canon card.")]
    known = DraftCheck("pov_known", Mark.PASS, f"{draft.pov} has a card: {draft.pov_entity.card}.")
    limit = draft.limits.pov_within_words
    if _is_first_person(draft.document):
        return [known, DraftCheck("pov_named", Mark.PASS, "The point of view says “I”.")]
    early = _named_within(draft, limit)
    message = f"{draft.pov} is {'' if early else 'not '}named within the first {limit} words."
    return [known, DraftCheck("pov_named", Mark.PASS if early else Mark.WARN, message)]


def _person(draft: CheckedDraft) -> DraftCheck:
    if not draft.document.is_english:
        return DraftCheck(
            "person", Mark.PASS, "The person of the narrator is judged in English only."
        )
    told = [s for s in draft.document.sentences if _PERSONAL.search(s.narration)]
    first = [sentence for sentence in told if _FIRST.search(sentence.narration)]
    share = len(first) / len(told) if told else 0.0
    is_minority = len(first) >= _FEW and share < draft.limits.person_minority_share
    # Somebody who says "I" but is mostly spoken to narrates too; only a name tells them apart.
    if is_minority and _is_told_of(draft):
        quotes = tuple(draft.document.quote(sentence) for sentence in first[:_FEW])
        return DraftCheck(
            "person", Mark.WARN, f"“I” narrates in {len(first)} sentences only.", quotes
        )
    person = "first" if len(first) >= _FEW else "third"
    return DraftCheck("person", Mark.PASS, f"Told in the {person} person.")


def _placeholders(draft: CheckedDraft) -> DraftCheck:
    found = find_placeholders(draft.document)
    if not found:
        return DraftCheck("placeholders", Mark.PASS, "No placeholders.")
    signs = ", ".join(dict.fromkeys(sign for sign, _ in found))
    quotes = tuple(dict.fromkeys(quote for _, quote in found))
    return DraftCheck("placeholders", Mark.FAIL, f"Text is still missing: {signs}.", quotes)


def _canon(draft: CheckedDraft) -> list[DraftCheck]:
    if draft.canon is None:
        return []
    checks = [
        DraftCheck(
            "canon",
            Mark.FAIL if each.severity is Severity.MAJOR else Mark.WARN,
            (finding := conflict_finding(each)).message,
            finding.quotes,
        )
        for each in draft.canon.verdict.clashes
    ]
    for each in draft.canon.variants:
        told = variant_finding(each)
        checks.append(DraftCheck("names", Mark.WARN, told.message, told.quotes))
    if not checks:
        told_cards = f"{len(draft.canon.facts)} facts of the cards"
        checks.append(DraftCheck("canon", Mark.PASS, f"No conflict with {told_cards}."))
    return checks


def _ending(draft: CheckedDraft) -> DraftCheck:
    last = draft.document.paragraphs[-1]
    if _ENDS.search(draft.document.paragraph_text(len(draft.document.paragraphs) - 1).strip()):
        return DraftCheck("ending", Mark.PASS, "The last paragraph is complete.")
    return DraftCheck(
        "ending", Mark.WARN, "The last paragraph breaks off.", (draft.document.quote(last),)
    )


def _names(text: str) -> list[str]:
    return [name for part in re.split(r"[,;/]|\band\b", text) if (name := part.strip(" []*_"))]


def _is_named(draft: CheckedDraft, name: str) -> bool:
    entity = draft.entities.get(name)
    if entity is None:
        return re.search(rf"\b{re.escape(name)}\b", draft.document.prose, re.IGNORECASE) is not None
    if entity.name == (draft.pov_entity.name if draft.pov_entity else None) and _is_first_person(
        draft.document
    ):
        return True
    return any(hit.entity.name == entity.name for hit in draft.entities.find(draft.document.prose))


def _is_told_of(draft: CheckedDraft) -> bool:
    """Say whether the narrator speaks of the point of view by name."""
    entity = draft.pov_entity
    named = (
        hit
        for sentence in draft.document.sentences
        for hit in draft.entities.find(sentence.narration)
        if entity is not None and hit.entity.name == entity.name
    )
    return len(list(islice(named, 2))) == 2


def _named_within(draft: CheckedDraft, limit: int) -> bool:
    opening = " ".join(draft.document.prose.split()[:limit])
    entity = draft.pov_entity
    return entity is not None and any(
        hit.entity.name == entity.name for hit in draft.entities.find(opening)
    )


def _is_first_person(document: Document) -> bool:
    told = [s.narration for s in document.sentences if _PERSONAL.search(s.narration)]
    return sum(_FIRST.search(text) is not None for text in told) * 4 >= max(len(told), 1)
