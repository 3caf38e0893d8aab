"""Export: the manuscript as files to send out, in outline order.

Whoever exports twice gets the same bytes; a file that is replaced by another text is kept as a
backup. What is not known of the title page is left out and told.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from callboard.core.canonical import composed, digest_bytes
from callboard.core.codec import Coded
from callboard.core.errors import Conflict, InvalidInput
from callboard.library.binding.epub import bind_epub
from callboard.library.binding.volume import FORMATS, BindingFailed, Volume, bind_manuscript
from callboard.packs.writers_factory.bible.project import ProjectRecord
from callboard.packs.writers_factory.exchange.pages import (
    epub_tree,
    manuscript_tree,
    markdown_of,
)
from callboard.packs.writers_factory.exchange.title_page import (
    CoverRefused,
    TitlePage,
    read_cover,
    read_title_page,
    typographic_cover,
)
from callboard.packs.writers_factory.manuscript import BookScene, Manuscript
from callboard.packs.writers_factory.workspace import Workspace
from callboard.tools import ProjectFiles, ToolError

EXPORT: Final = "content/Export"
_UNSAFE: Final = re.compile(r"[^\w\-]+")
# A bound book with its cover is larger than any text.
_MOST_BYTES: Final = 64_000_000


class NothingToExport(Conflict):
    """No scene is written yet."""

    code = "nothing_to_export"


@dataclass(frozen=True, slots=True)
class Edition:
    """A book as it is now: its title page, its scenes and what its chapters are called."""

    page: TitlePage
    scenes: tuple[BookScene, ...]
    chapters: Mapping[int, str]
    identifier: str = ""
    changed_at_ms: int = 0

    @classmethod
    def of(cls, workspace: Workspace, author: str = "") -> "Edition":
        """Read it; an author who is named goes before the one on record."""
        manuscript = Manuscript(workspace)
        page = read_title_page(workspace)
        return cls(
            replace(page, author=author or page.author),
            tuple(manuscript.texts()),
            manuscript.chapters.all(),
            ProjectRecord(workspace).read().id,
            manuscript.archive.last_change_ms(),
        )

    @property
    def written(self) -> tuple[BookScene, ...]:
        """The scenes that have a text."""
        return tuple(scene for scene in self.scenes if scene.text.strip())

    @property
    def left_out(self) -> tuple[str, ...]:
        """The scenes that have none."""
        return tuple(each.meta.scene_id for each in self.scenes if not each.text.strip())


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A file of the export, by its place in the project; `backup` is what it replaced."""

    path: str
    format: str
    sha256: str
    size_bytes: int
    backup: str = ""


@dataclass(frozen=True, slots=True)
class Export(Coded):
    """What was exported, and what could not be."""

    files: tuple[ExportedFile, ...]
    scenes: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExportPreview(Coded):
    """What an export would write; of `replaced` files a backup would be kept."""

    paths: tuple[str, ...]
    replaced: tuple[str, ...]
    title: str
    author: str
    running_head: str
    chapters: tuple[str, ...]
    word_count: int
    left_out: tuple[str, ...]
    missing: tuple[str, ...]


def preview_export(
    workspace: Workspace, edition: Edition, formats: Sequence[str] = FORMATS
) -> ExportPreview:
    """Say what an export would write, and write nothing."""
    written = _checked(edition, formats)
    paths = [_path(edition, each) for each in ("md", *_bound(formats))]
    page = edition.page
    return ExportPreview(
        paths=tuple(paths),
        replaced=tuple(path for path in paths if (workspace.files.root / path).exists()),
        title=page.title,
        author=page.author,
        running_head=" / ".join(filter(None, (page.running_name, page.title.upper()))),
        chapters=tuple(
            f"{number}: {edition.chapters[number]}" if number in edition.chapters else str(number)
            for number in sorted({scene.meta.chapter for scene in written})
        ),
        word_count=sum(scene.meta.word_count for scene in written),
        left_out=edition.left_out,
        missing=page.missing(),
    )


async def export_manuscript(
    workspace: Workspace, edition: Edition, formats: Sequence[str] = FORMATS
) -> Export:
    """Write the manuscript; a format that fails is a warning, Markdown is always there."""
    written = _checked(edition, formats)
    files = ProjectFiles(
        workspace.studio.project.root, workspace.studio.project.folder, max_read_bytes=_MOST_BYTES
    )
    text = markdown_of(edition.page, written, edition.chapters).encode("utf-8", "replace")
    made = [_write(files, _path(edition, "md"), "md", text)]
    warnings = list(edition.page.missing())
    for suffix in _bound(formats):
        try:
            data = await _bind(workspace, edition, suffix, warnings)
        except BindingFailed as error:
            warnings.append(error.message)
            continue
        made.append(_write(files, _path(edition, suffix), suffix, data))
    scenes = tuple(scene.meta.scene_id for scene in written)
    return Export(tuple(made), scenes, edition.left_out, tuple(warnings))


async def _bind(workspace: Workspace, edition: Edition, suffix: str, warnings: list[str]) -> bytes:
    page, written = edition.page, edition.written
    volume = Volume(
        page.title,
        edition.identifier,
        edition.changed_at_ms,
        author=page.author,
        date=page.date,
        language=page.language,
        running_name=page.running_name,
        cover_description=page.cover_description,
    )
    if suffix == "docx":
        return await bind_manuscript(manuscript_tree(page, written, edition.chapters), volume)
    cover = typographic_cover(page.title, page.author)
    if page.cover:
        try:
            cover = read_cover(workspace.files, page.cover)
        except (CoverRefused, ToolError) as error:
            warnings.append(f"the cover is set in type: {error.message}")
    blocks = epub_tree(written, edition.chapters)
    return await bind_epub(blocks, replace(volume, cover=cover))


def file_stem(title: str) -> str:
    """Return a file name for a book, whatever it is called."""
    plain = composed(title)
    return _UNSAFE.sub("_", plain).strip("_")[:80] or "Manuscript"


def _checked(edition: Edition, formats: Sequence[str]) -> tuple[BookScene, ...]:
    unknown = sorted(set(formats) - {*FORMATS, "md"})
    if unknown:
        raise InvalidInput(
            f"{', '.join(unknown)} is no format of a book", fix="There are md, epub and docx."
        )
    if not edition.written:
        raise NothingToExport(
            "There is no scene to export", fix="Write a scene first; planned ones have no text."
        )
    return edition.written


def _bound(formats: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(each for each in formats if each in FORMATS))


def _path(edition: Edition, suffix: str) -> str:
    return f"{EXPORT}/{file_stem(edition.page.title)}.{suffix}"


def _write(files: ProjectFiles, path: str, kind: str, data: bytes) -> ExportedFile:
    """Put a file in place in one motion; the same bytes are not written twice."""
    sha256 = digest_bytes(data)
    if files.sha256(path) == sha256:
        return ExportedFile(path, kind, sha256, len(data))
    written = files.write_bytes(path, data)
    return ExportedFile(
        written.path, kind, written.sha256, written.size_bytes, written.backup or ""
    )
