"""The six passes: their order, what each looks after, and when one is kept.

A pass is kept only if it does no harm that code can see; otherwise the text is as before and the
note says why.
"""

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.library.story.text.words import count_words
from callboard.packs.writers_factory.revision.analysis.findings import Category, SceneAnalysis
from callboard.packs.writers_factory.settings import AnalysisSettings


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
class Draft:
    """A text and how it scores."""

    text: str
    analysis: SceneAnalysis


def objection(each: Pass, before: Draft, after: Draft, settings: AnalysisSettings) -> str:
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


def _zero_tolerance(draft: Draft) -> Counter[str]:
    return Counter(issue.pattern for issue in draft.analysis.zero_tolerance)
