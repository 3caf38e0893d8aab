"""Chapter titles: kept as a key of the writer's own in the first scene file of a chapter."""

from typing import Final

import yaml

from callboard.core.canonical import Json
from callboard.packs.writers_factory.manuscript.facts import SceneUnknown
from callboard.packs.writers_factory.manuscript.sheet import SceneFile, SceneShelf
from callboard.tools import ProjectFiles

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
