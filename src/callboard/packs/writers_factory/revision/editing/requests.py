"""Edit requests: which words are to be replaced, and whether that is one place. Touches no file."""

from dataclasses import dataclass, field
from typing import Annotated, Final

from pydantic import Field

from callboard.core.codec import Closed
from callboard.core.errors import CallboardError, ErrorTier, InvalidInput, NotFound
from callboard.packs.writers_factory.manuscript import Manuscript
from callboard.packs.writers_factory.manuscript.facts import SceneUnknown
from callboard.packs.writers_factory.revision.analysis.quotes import occurrences
from callboard.packs.writers_factory.workspace import Workspace
from callboard.tools.errors import FileMissing
from callboard.tools.files import TEXT_SUFFIXES


class EditFailed(CallboardError):
    """The words to be replaced do not stand in exactly one place."""

    code = "edit_failed"
    tier = ErrorTier.PERMANENT


class EditBlocked(CallboardError):
    """An edit would bring in what no scene may hold."""

    code = "edit_blocked"
    tier = ErrorTier.PERMANENT


Passage = Annotated[str, Field(max_length=500_000)]
Offset = Annotated[int | None, Field(ge=0, le=10_000_000)]


@dataclass(frozen=True, slots=True)
class Rewording(Closed):
    """The words to be replaced, or where they begin and end, and what comes there."""

    new_text: Passage
    reason: Annotated[str, Field(max_length=1_000)]
    old_text: Passage | None = None
    start: Offset = None
    end: Offset = None
    force: Annotated[bool, Field(description="Let in what the voice or the book forbids.")] = False


@dataclass(frozen=True, slots=True)
class EditRequest(Rewording):
    """One edit of a scene or of another Markdown file below `content/`."""

    target: Annotated[str, Field(min_length=1, max_length=500)] = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class EditPlace:
    """Where an edit is made."""

    start: int
    end: int


def find_place(request: EditRequest, text: str) -> EditPlace:
    """Return the one place an edit is meant for, or say how many there are."""
    if not request.reason.strip():
        raise InvalidInput("An edit needs a reason", fix="Say in a few words why.")
    if request.start is not None or request.end is not None:
        return _by_offsets(request, text)
    if not request.old_text:
        raise InvalidInput(
            "An edit has to say what it replaces", fix="Give old_text, or start and end."
        )
    count = occurrences(text, request.old_text)
    if count != 1:
        raise EditFailed(
            f"The text to be replaced occurs {count} times in {request.target}",
            fix="Copy it exactly, with enough around it that it occurs once.",
            count=count,
            target=request.target,
        )
    start = text.find(request.old_text)
    return EditPlace(start, start + len(request.old_text))


def _by_offsets(request: EditRequest, text: str) -> EditPlace:
    start, end = request.start, request.end
    if start is None or end is None or not 0 <= start <= end <= len(text):
        raise EditFailed(
            f"{request.target} has no place from {start} to {end}",
            fix=f"Give both, between 0 and {len(text)}.",
            count=0,
            target=request.target,
        )
    if request.old_text is not None and text[start:end] != request.old_text:
        raise EditFailed(
            f"At {start} to {end} of {request.target} stands something else",
            fix="Read the text again and give the place as it is now.",
            count=0,
            target=request.target,
        )
    return EditPlace(start, end)


CONTENT: Final = "content"
MANUSCRIPT: Final = "content/Manuscript"
# Kept by Callboard: versions of scenes, reports and exports are made, not edited.
_KEPT: Final = ("content/Archive", "content/Reports", "content/Export")


class TargetRefused(InvalidInput):
    """A target was named that cannot be edited."""

    code = "target_refused"


@dataclass(frozen=True, slots=True)
class EditTarget:
    """A file that can be edited; `scene_id` is set for a scene."""

    path: str
    scene_id: str | None = None

    @property
    def name(self) -> str:
        """How the target is kept on record."""
        return self.scene_id or self.path

    @property
    def is_prose(self) -> bool:
        """Whether it is part of the novel's own text."""
        return self.scene_id is not None or self.path.startswith(f"{MANUSCRIPT}/")


def find_target(workspace: Workspace, manuscript: Manuscript, name: str) -> EditTarget:
    """Return the target a name stands for, or refuse it."""
    wanted = name.strip()
    for meta in manuscript.scenes():
        if wanted in (meta.scene_id, manuscript.path(meta.scene_id)):
            return EditTarget(manuscript.path(meta.scene_id), meta.scene_id)
    if "/" not in wanted and "." not in wanted:
        raise SceneUnknown(
            f"There is no scene {wanted[:200]!r}",
            fix="Name a scene such as ch4-sc2, or a Markdown file below content/.",
            target=wanted[:200],
        )
    path = workspace.files.resolve(wanted)
    below = path.startswith(f"{CONTENT}/") and path.lower().endswith(TEXT_SUFFIXES)
    if not below or any(path == kept or path.startswith(f"{kept}/") for kept in _KEPT):
        raise TargetRefused(
            f"{wanted!r} is no scene and no file that can be edited",
            fix="Name a scene such as ch4-sc2, or a Markdown file below content/.",
            target=wanted[:200],
        )
    return EditTarget(path)


def read_target(workspace: Workspace, manuscript: Manuscript, target: EditTarget) -> str:
    """Return the text of a target."""
    if target.scene_id is not None:
        return manuscript.text(target.scene_id)
    try:
        return workspace.files.read_text(target.path).text
    except FileMissing as error:
        raise NotFound(
            f"There is no {target.path} yet", fix="Write it first.", target=target.path
        ) from error
