"""Continuity: whether a whole book contradicts itself, in whatever files it is kept.

What was not looked at is not checked, and says why; it is never consistent. A file that did not
change is not read again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from callboard.library.story.facts.claims import FactClaim
from callboard.library.story.facts.comparison import Gathering, Leeway
from callboard.library.story.index import StoryIndex, story_index
from callboard.library.story.model import FileKind, Severity, StoryFinding
from callboard.library.story.pairs.pairing import Pairs, pair_up
from callboard.library.story.pairs.passages import Statement, card_passages, passages_of
from callboard.library.story.text import Document
from callboard.library.story.thresholds import Thresholds, thresholds
from callboard.library.story.tools.consistency.character import find_dead_who_act, find_two_places
from callboard.library.story.tools.consistency.days import find_days
from callboard.library.story.tools.consistency.factual import find_factual
from callboard.library.story.tools.consistency.slips import find_lost_things, find_name_slips
from callboard.library.story.tools.consistency.terminology import TermRules, find_terminology
from callboard.library.story.tools.consistency.timeline import (
    CheckedScene,
    find_ages,
    find_timeline,
    in_story_order,
    others,
)
from callboard.library.story.tools.report import bundled, in_order
from callboard.tools import Kept, ToolContext

Status = Literal["CONSISTENT", "CONTRADICTIONS", "NOT_CHECKED"]
# How many files are done, of how many, and the last of them.
Progress = Callable[[int, int, str], None]
CHECKS: Final = {
    "characters": ("Factual", "Character"),
    "terminology": ("Terminology",),
    "events": ("Character", "Timeline"),
    "general": ("Factual", "Character", "Terminology", "Timeline"),
}


@dataclass(frozen=True, slots=True)
class Continuity:
    """What is known of a book's continuity after one look at it."""

    status: Status
    # Why nothing was checked; empty otherwise.
    reason: str
    # The gravest first; what repeats itself without weight is one finding.
    findings: tuple[StoryFinding, ...]
    all_findings: tuple[StoryFinding, ...]
    files_checked: tuple[str, ...]
    warnings: tuple[str, ...]


class ConsistencyCheck:
    """The files of one call, read once."""

    def __init__(
        self,
        index: StoryIndex,
        limits: Thresholds,
        paths: Sequence[str],
        *,
        kept: Kept | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Take the files in any order; a book in one file stands for its chapters."""
        self._index = index
        self._progress = progress
        paths = [file.path for path in paths for file in index.chapters_of(path)]
        self._limits = limits.consistency
        facts = limits.facts
        self._leeway = Leeway(facts.age_leeway_years, facts.height_leeway_cm)
        self.scenes: list[CheckedScene] = in_story_order(index, paths)
        self.others = others(index, paths)
        self.documents: list[Document] = [
            *(scene.document for scene in self.scenes),
            *(index.document(file.path) for file in self.others),
        ]
        self.gathering = Gathering(index, facts.max_checked_chars, self.documents, kept)

    def findings(self, focus: str) -> tuple[StoryFinding, ...]:
        """Return what the checks of a focus find, the gravest first."""
        wanted = CHECKS[focus]
        self._read_all()
        found: list[StoryFinding] = []
        if "Factual" in wanted:
            days = {s.file.path: s.day.date for s in self.scenes if s.day is not None}
            found += find_factual([*self._canon, *self._told], days, self._leeway)
        if "Character" in wanted:
            found += find_dead_who_act(self.scenes, self.gathering)
            found += find_two_places(self.scenes, self.gathering)
            carded = [name for each in self._index.card_entities for name in each.aliases]
            found += find_name_slips(self.scenes, carded)
            found += find_lost_things(self.scenes)
        if "Terminology" in wanted:
            found += self._terminology()
        if "Timeline" in wanted:
            found += find_timeline(self.scenes, self._limits.opening_sentences)
            found += find_days(self.scenes)
            found += find_ages(
                self.scenes, self._told, self._all_canon(), self._limits.age_leeway_years
            )
        return in_order(found)

    def pairs(self, most: int | None = None) -> Pairs:
        """Return the passages that could contradict each other, for somebody to judge."""
        passages: list[Statement] = []
        for place, scene in enumerate(self.scenes):
            passages += passages_of(self.gathering, scene.document, place)
        for before, file in enumerate(self.others, start=1):
            if file.kind is FileKind.CANON:
                document = self._index.document(file.path)
                passages += card_passages(self.gathering, document, -before)
        return pair_up(passages, self._limits.max_pairs if most is None else most)

    def _read_all(self) -> None:
        """Read file by file, so that whoever waits can be told how far it is."""
        for done, document in enumerate(self.documents, start=1):
            self.gathering.prose_claims(document)
            if self._progress is not None:
                self._progress(done, len(self.documents), document.file_path)

    @property
    def _canon(self) -> list[FactClaim]:
        cards = [file.path for file in self.others if file.kind is FileKind.CANON]
        return self.gathering.canon_claims(cards)

    @property
    def _told(self) -> list[FactClaim]:
        texts = [scene.document for scene in self.scenes]
        texts += [self._index.document(f.path) for f in self.others if f.kind is FileKind.OTHER]
        return [claim for text in texts for claim in self.gathering.likely_claims(text)]

    def _all_canon(self) -> list[FactClaim]:
        return self.gathering.canon_claims(file.path for file in self._index.canon)

    def _terminology(self) -> list[StoryFinding]:
        limits = self._limits
        names = frozenset(
            word
            for entity in self._index.entities
            if entity.card is not None
            for alias in entity.aliases
            for word in alias.split()
        )
        rules = TermRules(
            limits.term_min_each, limits.term_name_min_letters, limits.term_rare_share
        )
        texts = [scene.document for scene in self.scenes if scene.document.is_english]
        return find_terminology(texts, own_names=names, rules=rules)

    def put_in_order(self, order: Sequence[str]) -> None:
        """Take the scenes in a given order instead of the index's own."""
        at = {path: place for place, path in enumerate(order)}
        last = len(at)
        found = [replace(s, place=at.get(s.file.path, last + s.place)) for s in self.scenes]
        self.scenes = sorted(found, key=lambda scene: scene.place)

    def report(self, focus: str = "general") -> Continuity:
        """Return the findings, or why there can be none."""
        reason = self._nothing_to_check()
        found = () if reason else self.findings(focus)
        grave = any(each.severity is not Severity.INFO for each in found)
        status: Status = "CONTRADICTIONS" if grave else "CONSISTENT"
        if not grave and not any(document.is_english for document in self.documents):
            reason = reason or "No file is in English: nothing but its dates could be checked"
        return Continuity(
            "NOT_CHECKED" if reason else status,
            reason,
            bundled("consistency_checker", found),
            found,
            tuple(document.path for document in self.documents),
            (*self.gathering.cut_short, *self._index.warnings),
        )

    def _nothing_to_check(self) -> str:
        if not self.documents:
            return "The folder holds no scene, no chapter and no card that could be read"
        if not any(document.prose.strip() or document.fields for document in self.documents):
            return "The files hold no text"
        return ""


def check_continuity(
    context: ToolContext,
    paths: Sequence[str] = (),
    *,
    focus: str = "general",
    order: Sequence[str] = (),
    progress: Progress | None = None,
) -> Continuity:
    """Return where the files contradict each other; without paths, all scenes and cards do.

    `order` are the paths as the book has them, where its files do not tell.
    """
    return check_of(context, paths, order=order, progress=progress).report(focus)


def check_of(
    context: ToolContext,
    paths: Sequence[str] = (),
    *,
    order: Sequence[str] = (),
    progress: Progress | None = None,
) -> ConsistencyCheck:
    """Return the check of some files, or of the whole book, in the order it is read in."""
    index, limits = story_index(context), thresholds(context)
    check = ConsistencyCheck(
        index, limits, paths or book_of(index), kept=context.kept, progress=progress
    )
    if order:
        check.put_in_order(order)
    return check


def book_of(index: StoryIndex) -> list[str]:
    """Return every scene and every card of a folder."""
    return [file.path for file in (*index.scenes, *index.canon)]
