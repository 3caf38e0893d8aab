"""Continuity: what the story tools find when they hold the files of a book against each other.

They read identity, facts, deaths, places and times from the prose itself; no model is asked.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from callboard.core.codec import Coded
from callboard.library.story.model import Severity as Weight
from callboard.library.story.model import StoryFinding
from callboard.packs.writers_factory.bible.shapes import CHARACTERS
from callboard.packs.writers_factory.model import Evidence, Severity
from callboard.studio.studio import Studio

if TYPE_CHECKING:
    from callboard.library.story.pairs.judging import Prospect

SEVERITIES: Final = {
    Weight.MAJOR: Severity.ERROR,
    Weight.MINOR: Severity.WARNING,
    Weight.INFO: Severity.INFO,
}
_LEAST_CONFIDENCE: Final = 0.5
# What a term is called is for other reports.
_FOCUSES: Final = ("characters", "events")


@dataclass(frozen=True, slots=True)
class Contradiction(Coded):
    """Two places of a book that cannot both be true, each with its words."""

    id: str
    type: str
    severity: Severity
    title: str
    fix: str
    # What stands in scenes; words of a card are told in the title.
    evidence: tuple[Evidence, ...]

    @property
    def scene_ids(self) -> tuple[str, ...]:
        """The scenes it is about, each once."""
        return tuple(dict.fromkeys(each.scene_id for each in self.evidence))


def find_contradictions(studio: Studio, paths: Sequence[str]) -> tuple[StoryFinding, ...]:
    """Return where the files of a book, in its order, contradict each other or a card."""
    from callboard.library.story.tools.consistency.continuity import check_continuity

    if not paths:
        return ()
    context = studio.tools.context("")
    files = _with_cards(studio, paths)
    # Scenes are numbered anew in every chapter here; the order of the book is the one given.
    looks = (check_continuity(context, files, focus=each, order=paths) for each in _FOCUSES)
    found = [finding for look in looks for finding in look.findings]
    unique = {finding.id: finding for finding in found}
    return tuple(each for each in unique.values() if each.confidence >= _LEAST_CONFIDENCE)


def unjudged_pairs(studio: Studio, paths: Sequence[str]) -> "Prospect":
    """Return the passages of a book, in its order, that rules cannot judge and a model might."""
    from callboard.library.story.pairs.judging import Prospect, prospect_of
    from callboard.library.story.tools.consistency.continuity import check_of

    if not paths:
        return Prospect((), 0)
    check = check_of(studio.tools.context(""), _with_cards(studio, paths), order=paths)
    return prospect_of(check.pairs())


def _with_cards(studio: Studio, paths: Sequence[str]) -> list[str]:
    from callboard.library.story.index import story_index

    canon = story_index(studio.tools.context("")).canon
    cards = [file.path for file in canon if file.path.startswith(f"{CHARACTERS}/")]
    return [*paths, *cards]


def contradictions_in(studio: Studio, scenes: Mapping[str, str]) -> Iterator[Contradiction]:
    """Go through what contradicts what; `scenes` are ids by their paths, in story order."""
    for each in find_contradictions(studio, list(scenes)):
        quotes = [(scenes.get(quote.path, ""), quote) for quote in each.quotes]
        cards = [f"{quote.path}: {quote.text!r}" for scene, quote in quotes if not scene]
        yield Contradiction(
            each.id,
            each.type,
            SEVERITIES[each.severity],
            "; ".join([each.message, *cards]),
            each.suggestion or "Change one of the two places.",
            tuple(Evidence(scene, quote.text) for scene, quote in quotes if scene),
        )
