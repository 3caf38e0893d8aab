"""What is known of a scene: the name it goes by, its stored shape, its way from status to status.

What can be wrong with an outline or a scene stands here too; so do the titles of chapters, a key of
the writer's own in the first scene file of each.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import yaml

from callboard.core.canonical import Json, plain
from callboard.core.errors import Conflict, InvalidInput, NotFound
from callboard.packs.writers_factory.manuscript.sheet import SceneFile, SceneShelf
from callboard.packs.writers_factory.model import SceneMeta, SceneStatus, SymbolUse
from callboard.tools import ProjectFiles


class SceneUnknown(NotFound):
    """A scene was named that is neither planned nor written."""

    code = "scene_unknown"


class VersionUnknown(NotFound):
    """A version was named that the archive does not hold."""

    code = "version_unknown"


class NothingToUndo(Conflict):
    """There is no change left that could be taken back."""

    code = "nothing_to_undo"


class OutlineInvalid(InvalidInput):
    """An outline cannot be taken as it is; every fault is named."""

    code = "outline_invalid"


class StatusRefused(Conflict):
    """A scene cannot go from where it stands to where it was sent."""

    code = "scene_status_refused"


@dataclass(frozen=True, slots=True)
class BookScene:
    """A scene with its text."""

    meta: SceneMeta
    text: str


_ID: Final = re.compile(r"ch(\d{1,4})-sc(\d{1,4})")


def parse_scene_id(name: str) -> tuple[int, int] | None:
    """Return the chapter and the scene `ch4-sc2` stands for; None if it is no such name."""
    found = _ID.fullmatch(name)
    return None if found is None else (int(found[1]), int(found[2]))


def meta_to_json(meta: SceneMeta) -> dict[str, Json]:
    """Return the stored shape, which is also the one shown at the doors."""
    return plain(asdict(meta))


def meta_from_json(stored: Mapping[str, Any], base: SceneMeta) -> SceneMeta:
    """Read the stored shape over what the outline says: the title and the beat are the outline's.

    A scene that is no longer planned keeps the ones it had.
    """
    return replace(
        base,
        title=base.title or stored["title"],
        beat_number=stored["beat_number"] if base.beat_number is None else base.beat_number,
        status=SceneStatus(stored["status"]),
        word_count=stored["word_count"],
        tension=stored["tension"],
        story_time=stored["story_time"],
        location=stored["location"],
        pov=stored["pov"],
        characters=tuple(stored["characters"]),
        callbacks=tuple(stored["callbacks"]),
        foreshadowing=tuple(stored["foreshadowing"]),
        symbols=tuple(SymbolUse(each["name"], each["stage"]) for each in stored["symbols"]),
    )


_PLANNED, _SCAFFOLDED = SceneStatus.PLANNED, SceneStatus.SCAFFOLDED
_VARIANTS, _SELECTED = SceneStatus.VARIANTS_READY, SceneStatus.SELECTED
_ANALYZED, _ENHANCED = SceneStatus.ANALYZED, SceneStatus.ENHANCED
_DRAFTED, _POLISHED = SceneStatus.DRAFTED, SceneStatus.POLISHED
ORDER: Final = tuple(SceneStatus)
WRITTEN: Final = frozenset({_DRAFTED, _POLISHED})
"""What the writer has accepted."""
# Only ways forward stand here; a step that was done before may always be done again. Analysis is
# no condition of acceptance, and a scene the writer wrote alone is a draft from the start.
_FORWARD: Final[Mapping[SceneStatus, frozenset[SceneStatus]]] = {
    _PLANNED: frozenset({_SCAFFOLDED, _DRAFTED}),
    _SCAFFOLDED: frozenset({_VARIANTS, _DRAFTED}),
    _VARIANTS: frozenset({_SELECTED, _DRAFTED}),
    _SELECTED: frozenset({_ANALYZED, _ENHANCED, _DRAFTED}),
    _ANALYZED: frozenset({_ENHANCED, _DRAFTED}),
    _ENHANCED: frozenset({_DRAFTED}),
    _DRAFTED: frozenset({_POLISHED}),
    _POLISHED: frozenset(),
}


def advance(current: SceneStatus, to: SceneStatus, scene_id: str = "The scene") -> SceneStatus:
    """Return the status a scene has after a step, or refuse the step.

    Looking at an accepted scene again does not take its acceptance back.
    """
    if current in WRITTEN and to in (_ANALYZED, _ENHANCED):
        return current
    is_repeat = ORDER.index(to) <= ORDER.index(current)
    if to in _FORWARD[current] or (is_repeat and (to is not _PLANNED or current is _PLANNED)):
        return to
    ways = [each.value for each in ORDER if each in _FORWARD[current]]
    raise StatusRefused(
        f"{scene_id} is {current} and cannot become {to}",
        fix=f"From {current} it can become {' or '.join(ways) or 'what it was before'}.",
        status=current.value,
        wanted=to.value,
    )


CHAPTER_TITLE: Final = "chapter_title"
_RULE: Final = "---\n"


class ChapterTitles:
    """The titles of the chapters of one book."""

    def __init__(self, files: ProjectFiles, shelf: SceneShelf) -> None:
        """Take the writer's files, and the scenes among them."""
        self._files = files
        self._shelf = shelf

    def all(self) -> dict[int, str]:
        """Return the titles there are: what the first of a chapter's files with one says."""
        titles: dict[int, str] = {}
        for file in self._shelf.files():
            if told := _title(file):
                titles.setdefault(file.chapter, told)
        return titles

    async def name(self, chapter: int, title: str) -> dict[int, str]:
        """Give a chapter a title; an empty one takes it back. Nothing else of a file changes."""
        held = [file for file in self._shelf.files() if file.chapter == chapter]
        if not held:
            raise SceneUnknown(
                f"Chapter {chapter} has no scene that is written",
                fix="Write one first: a chapter's title stands in its first scene's file.",
            )
        for place, file in enumerate(held):
            told = " ".join(title.split()) if place == 0 else ""
            if told != _title(file):
                text = with_title(file.text, told)
                self._files.write_text(file.path, text, expected_sha256=file.sha256)
        self._shelf.forget()
        return self.all()


def with_title(text: str, title: str) -> str:
    """Return the text of a scene file with another chapter title, or none."""
    front, body = "", text
    if text.startswith(_RULE) and (end := text.find(f"\n{_RULE}", 3)) > 0:
        front, body = text[len(_RULE) : end + 1], text[end + 1 + len(_RULE) :]
    lines = [line for line in front.splitlines(True) if not line.startswith(f"{CHAPTER_TITLE}:")]
    if title:
        told: dict[str, Json] = {CHAPTER_TITLE: title}
        lines.append(yaml.safe_dump(told, allow_unicode=True, width=10_000))
    return f"{_RULE}{''.join(lines)}{_RULE}{body}" if lines else body


def _title(file: SceneFile) -> str:
    return str(file.sheet.extra.get(CHAPTER_TITLE) or "").strip()
