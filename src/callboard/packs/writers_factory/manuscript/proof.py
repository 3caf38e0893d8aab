"""The proof of a text: what code holds against it before it is the book's, whoever wrote it.

It is held against the cards and the scenes around it, as if it stood in its file already. How a
draft is made (its length, its beats, its phrases) is measured elsewhere. Nothing is judged here
that the story tools cannot read, and no model can make a finding less.
"""

from typing import Final

from callboard.core.errors import Conflict
from callboard.library.story.model import Severity, StoryFinding
from callboard.studio.studio import Studio
from callboard.tools import off_loop

_CRAFT: Final = "draft"
_LEAST_CONFIDENCE: Final = 0.5
_MOST_TOLD: Final = 10


class TextUnproven(Conflict):
    """A text contradicts a card or another scene, and nobody has said that this is meant."""

    code = "text_unproven"


async def require_proven(
    studio: Studio, path: str, text: str, *, accepted: str | None, force: bool
) -> tuple[str, ...]:
    """Refuse a text that contradicts the book; with `force` return what it contradicts instead.

    What the accepted text of the file contradicts already is not the new one's doing.
    """
    found = await off_loop(_find, studio, path, text)
    if found and accepted is not None:
        known = await off_loop(_find, studio, path, accepted)
        found = {key: told for key, told in found.items() if key not in known}
    told = tuple(found.values())
    if told and not force:
        shown, more = told[:_MOST_TOLD], len(told) - _MOST_TOLD
        raise TextUnproven(
            f"{path} is not written: {'; '.join(shown)}{f'; and {more} more' if more > 0 else ''}",
            fix="Mend the text, or what it contradicts; or say --force (force: true): it is then"
            " written all the same, and that stays on record.",
            path=path,
            findings=list(told),
        )
    return told


def _find(studio: Studio, path: str, text: str) -> dict[tuple[str, str], str]:
    """Return what is grave and sure, by what it is."""
    from callboard.library.story.tools.proof import prove_text

    proof = prove_text(studio.tools.context(""), path, text)
    found = (each for check in proof.checks if check.name != _CRAFT for each in check.findings)
    return {(each.type, each.message): _told(each) for each in found if _is_grave(each)}


def _is_grave(finding: StoryFinding) -> bool:
    return finding.severity is Severity.MAJOR and finding.confidence >= _LEAST_CONFIDENCE


def _told(finding: StoryFinding) -> str:
    places = (f"{each.path}:{each.line_start}" for each in finding.quotes)
    return f"{finding.message.rstrip('.')} ({', '.join(dict.fromkeys(places))})"
