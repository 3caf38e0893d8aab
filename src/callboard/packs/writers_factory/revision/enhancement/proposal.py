"""An enhancement on record: the text it began with, what it proposes, and what the writer said."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput, NotFound
from callboard.library.story.text.words import count_words
from callboard.packs.writers_factory.prose import TextChange, apply_changes
from callboard.packs.writers_factory.revision.analysis.findings import Category, SceneAnalysis
from callboard.packs.writers_factory.revision.enhancement.fixes import Fix
from callboard.packs.writers_factory.settings import AnalysisSettings
from callboard.store.records import Records


@dataclass(frozen=True, slots=True)
class Pass:
    """One of the six: its name is also that of its prompt."""

    number: int
    name: str
    category: Category

    @property
    def prompt(self) -> str:
        """The template it is asked with."""
        return f"revision/pass_{self.name}"


PASSES: Final = (
    Pass(1, "structure", Category.BEAT),
    Pass(2, "voice", Category.VOICE),
    Pass(3, "prose", Category.PROSE),
    Pass(4, "character", Category.CHARACTER),
    Pass(5, "continuity", Category.CONTINUITY),
    Pass(6, "polish", Category.PROSE),
)


@dataclass(frozen=True, slots=True)
class PassNote:
    """How a pass went; `reverted` says why its text was not kept."""

    number: int
    name: str
    is_kept: bool
    score_before: float
    score_after: float | None = None
    reverted: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "PassNote":
        """Read the stored shape."""
        return cls(**data)


@dataclass(frozen=True, slots=True)
class ScoredText:
    """A text and how it scores."""

    text: str
    analysis: SceneAnalysis


def objection(each: Pass, before: ScoredText, after: ScoredText, settings: AnalysisSettings) -> str:
    """Return why a pass must be reverted; empty if it may be kept."""
    if bool(before.analysis.judged_by) != bool(after.analysis.judged_by):
        return "the judge has not answered for both texts"
    old, new = (draft.analysis.score(each.category).points for draft in (before, after))
    if old is not None and (new is None or new < old):
        shown = "no longer scored" if new is None else f"{new:g}"
        return f"{each.category} fell from {old:g} to {shown}"
    drop = before.analysis.total - after.analysis.total
    if drop > settings.pass_total_drop:
        return f"the total fell by {drop:.1f} points"
    words_before, words_after = count_words(before.text), count_words(after.text)
    if abs(words_after - words_before) > settings.pass_length_tolerance * words_before:
        return f"the length went from {words_before} to {words_after} words"
    fresh = _zero_tolerance(after) - _zero_tolerance(before)
    if fresh:
        return f"it brought in {', '.join(sorted(fresh))}"
    return ""


def _zero_tolerance(draft: ScoredText) -> Counter[str]:
    return Counter(issue.pattern for issue in draft.analysis.zero_tolerance)


ACCEPTED: Final = "accepted"
REJECTED: Final = "rejected"


class ChangeUnknown(InvalidInput):
    """A change was named that this enhancement does not hold."""

    code = "change_unknown"


def accepted_text(original: str, changes: Sequence[TextChange]) -> str:
    """Return the original with the accepted changes made."""
    return apply_changes(original, changes, [c.id for c in changes if c.status == ACCEPTED])


def preview_text(original: str, changes: Sequence[TextChange]) -> str:
    """Return the original with every change made that was not refused."""
    return apply_changes(original, changes, [c.id for c in changes if c.status != REJECTED])


def decide(
    changes: Sequence[TextChange], accepted: Collection[str], rejected: Collection[str]
) -> tuple[TextChange, ...]:
    """Return the changes after the writer's word; a later word replaces an earlier one."""
    known = {each.id for each in changes}
    unknown = sorted({*accepted, *rejected} - known)
    both = sorted(set(accepted) & set(rejected))
    if unknown or both:
        told = (
            f"there is no {', '.join(unknown)}"
            if unknown
            else f"{', '.join(both)} cannot be both accepted and rejected"
        )
        raise ChangeUnknown(
            f"The changes cannot be decided: {told}",
            fix=f"The changes here: {', '.join(sorted(known)) or 'none'}.",
            unknown=unknown,
        )

    def after(change: TextChange) -> TextChange:
        if change.id in accepted:
            return replace(change, status=ACCEPTED)
        return replace(change, status=REJECTED) if change.id in rejected else change

    return tuple(after(each) for each in changes)


def credit(changes: Sequence[TextChange], earlier: Sequence[TextChange]) -> tuple[TextChange, ...]:
    """Return changes, each with the pass that made it first; `earlier` are those of before."""
    known = {(each.start, each.end, each.new): each for each in earlier}

    def credited(change: TextChange) -> TextChange:
        first = known.get((change.start, change.end, change.new))
        if first is None:
            return change
        return replace(change, revision_pass=first.revision_pass, reason=first.reason)

    return tuple(credited(each) for each in changes)


KIND: Final = "enhancement"


class EnhancementUnknown(NotFound):
    """An enhancement was named that nobody made."""

    code = "enhancement_unknown"


@dataclass(frozen=True, slots=True)
class Enhancement:
    """What an enhancement of a scene proposes."""

    id: str
    scene_id: str
    mode: str
    original: str
    changes: tuple[TextChange, ...]
    before: SceneAnalysis
    after: SceneAnalysis
    fixes: tuple[Fix, ...] = ()
    passes: tuple[PassNote, ...] = ()
    notes: tuple[str, ...] = ()
    # The text the scene has as far as this enhancement knows: what may be replaced.
    current: str = ""
    # What a decision is about to make of it; set only while, or if ever, that is under way.
    upcoming: str | None = None

    @property
    def preview(self) -> str:
        """The scene with every change that was not refused."""
        return preview_text(self.original, self.changes)

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {
            "id": self.id,
            "scene_id": self.scene_id,
            "mode": self.mode,
            "original": self.original,
            "current": self.current,
            "upcoming": self.upcoming,
            "changes": [change.to_json() for change in self.changes],
            "fixes": [fix.to_json() for fix in self.fixes],
            "passes": [note.to_json() for note in self.passes],
            "notes": list(self.notes),
            "before": self.before.to_json(),
            "after": self.after.to_json(),
        }

    def shown(self) -> dict[str, Json]:
        """Return what the writer is shown: the stored shape with the previewed text."""
        shape = self.to_json()
        del shape["current"], shape["upcoming"]
        return {**shape, "preview": self.preview}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Enhancement":
        """Read the stored shape."""
        return cls(
            id=data["id"],
            scene_id=data["scene_id"],
            mode=data["mode"],
            original=data["original"],
            changes=tuple(TextChange.from_json(each) for each in data["changes"]),
            before=SceneAnalysis.from_json(data["before"]),
            after=SceneAnalysis.from_json(data["after"]),
            fixes=tuple(Fix.from_json(each) for each in data["fixes"]),
            passes=tuple(PassNote.from_json(each) for each in data["passes"]),
            notes=tuple(data["notes"]),
            current=data["current"],
            upcoming=data.get("upcoming"),
        )


def load_enhancement(records: Records, enhancement_id: str) -> Enhancement:
    """Return an enhancement by its id."""
    body = records.get(KIND, enhancement_id)
    if body is None:
        raise EnhancementUnknown(
            f"There is no enhancement {enhancement_id!r}",
            fix="Its id is that of the run that made it.",
            enhancement=enhancement_id,
        )
    return Enhancement.from_json(body)


def enhancements_of(records: Records, scene_id: str) -> tuple[Enhancement, ...]:
    """Return the enhancements of a scene, oldest first."""
    stored = records.all(KIND).values()
    return tuple(Enhancement.from_json(each) for each in stored if each["scene_id"] == scene_id)
