"""Folders of scenes that come in: those of the project, and zipped ones from anywhere.

A zipped one is unpacked where nothing of the project lies. Every entry is judged before one is
read, and no more is unpacked than a manuscript may hold, whatever an entry says of its size.
"""

import re
import stat
import tempfile
import zipfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Final

from callboard.library.story.index import StoryIndex
from callboard.library.story.model import FileKind, StoryFile
from callboard.packs.writers_factory.exchange.pieces import MOST_BYTES, ImportRefused
from callboard.packs.writers_factory.exchange.splitting import Draft, DraftChapter, DraftScene
from callboard.packs.writers_factory.exchange.word_parts import opened_archive
from callboard.packs.writers_factory.manuscript import read_sheet
from callboard.tools import ProjectFiles

_MOST_UNPACKED_BYTES: Final = 4 * MOST_BYTES
_MOST_DEPTH: Final = 20
_MOST_NAME_BYTES: Final = 200
_DRIVE: Final = re.compile(r"[A-Za-z]:")
_PLAIN: Final = (0, stat.S_IFREG, stat.S_IFDIR)
# What systems put beside the files of a folder.
_LITTER: Final = frozenset({"__MACOSX", "Thumbs.db", "desktop.ini"})
_READ_BYTES: Final = 1_000_000


def scenes_in(files: ProjectFiles, folder: str) -> list[StoryFile]:
    """Return the scenes below a folder as story tools order them."""
    scenes = StoryIndex.from_files(files).scenes
    return [each for each in scenes if each.path.startswith(f"{folder}/")]


def read_zipped_folder(data: bytes, name: str, suffixes: tuple[str, ...]) -> Draft:
    """Read the scenes of a zipped folder, as if it lay there."""
    with _unpacked(data, name, suffixes) as (root, others):
        files = ProjectFiles(root, max_read_bytes=MOST_BYTES)
        index = StoryIndex.from_files(files)
        # Where nothing says what is a scene, every text that is nothing else is one.
        found = index.scenes or [each for each in index.files if each.kind is FileKind.OTHER]
        if not found:
            raise ImportRefused(f"{name} holds no scenes", fix="Zip a folder of scene files.")
        drafted = draft_of(found, files)
        told = [] if index.scenes else ["no file says that it is a scene: all are, by their names"]
        left = [f"{len(others)} x no text: not taken over"] if others else []
        return replace(drafted, problems=(*drafted.problems, *index.warnings, *told, *left))


def draft_of(found: Sequence[StoryFile], files: ProjectFiles) -> Draft:
    """Return scene files, in story order, as a draft."""
    chapters: dict[int, list[DraftScene]] = {}
    for file in found:
        text = files.read_text(file.path).text
        body = read_sheet(file.path, text).body
        scene = DraftScene(
            _without_title(body, file.title),
            file.title,
            file.when or "",
            file.location or "",
            file.pov or "",
            file.characters,
        )
        chapters.setdefault(file.chapter or 1, []).append(scene)
    drafted = tuple(DraftChapter("", tuple(scenes)) for _, scenes in sorted(chapters.items()))
    told = "scene files in story order"
    has_chapters = any(file.chapter is not None for file in found)
    problems = () if has_chapters else ("the files name no chapters: all of it is chapter 1",)
    return Draft(drafted, told, problems)


def _without_title(body: str, title: str) -> str:
    """Return a scene without the heading that names it: its title stands in its facts."""
    first, _, rest = body.lstrip("\n").partition("\n")
    return rest.strip("\n") if first.startswith("# ") and title in first else body


@contextmanager
def _unpacked(
    data: bytes, name: str, suffixes: tuple[str, ...]
) -> Generator[tuple[Path, tuple[str, ...]]]:
    """Unpack the texts of a zipped folder for as long as the context lasts; name what is left out.

    An entry that leads out of its folder, is a link, or stands there twice refuses all of it.
    """
    with opened_archive(data, name, "ZIP") as archive:
        texts, others = _sorted_out(archive, name, suffixes)
        with tempfile.TemporaryDirectory(prefix="callboard-import-") as folder:
            root, left = Path(folder).resolve(), _MOST_UNPACKED_BYTES
            for entry in texts:
                left -= _unpack(archive, entry, root / entry.filename, name, left)
            yield root, others


def is_word_file(data: bytes, name: str) -> bool:
    """Say whether an archive is what a word processor wrote."""
    with opened_archive(data, name) as archive:
        return "word/document.xml" in archive.namelist()


def _sorted_out(
    archive: zipfile.ZipFile, name: str, suffixes: tuple[str, ...]
) -> tuple[list[zipfile.ZipInfo], tuple[str, ...]]:
    texts: list[zipfile.ZipInfo] = []
    others: list[str] = []
    seen: set[str] = set()
    for entry in archive.infolist():
        path = entry.filename
        if (fault := _fault(entry)) is not None or path.casefold() in seen:
            raise ImportRefused(
                f"{name} holds {path[:200]!r}, which {fault or 'stands there twice'}",
                fix="Zip the folder with the texts anew.",
                entry=path[:200],
            )
        seen.add(path.casefold())
        if entry.is_dir() or any(p in _LITTER or p[0] == "." for p in PurePosixPath(path).parts):
            continue
        if path.lower().endswith(suffixes):
            texts.append(entry)
        else:
            others.append(path)
    if sum(entry.file_size for entry in texts) > _MOST_UNPACKED_BYTES:
        raise _too_large(name)
    return texts, tuple(others)


def _fault(entry: zipfile.ZipInfo) -> str | None:
    """Return why an entry makes an archive one that nobody unpacks."""
    path = entry.filename
    parts = path.rstrip("/").split("/")
    if path.startswith("/") or "\\" in path or _DRIVE.match(path):
        return "names a place of its own"
    if any(part in ("", ".", "..") for part in parts):
        return "leads out of the folder"
    if not path.isprintable() or len(parts) > _MOST_DEPTH:
        return "has a name no text has"
    if any(len(part.encode("utf-8", "replace")) > _MOST_NAME_BYTES for part in parts):
        return "has a name no text has"
    if stat.S_IFMT(entry.external_attr >> 16) not in _PLAIN:
        return "is a link or a device"
    return "is encrypted" if entry.flag_bits & 0x1 else None


def _unpack(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, to: Path, name: str, left: int
) -> int:
    """Write one entry, and return how many bytes it was."""
    size = 0
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(entry) as packed, to.open("xb") as written:
            while part := packed.read(_READ_BYTES):
                size += len(part)
                if size > left:
                    raise _too_large(name)
                written.write(part)
    except (zipfile.BadZipFile, RuntimeError, OSError, EOFError, NotImplementedError) as error:
        raise ImportRefused(
            f"{entry.filename} in {name} cannot be read: {error}", fix="Zip the folder anew."
        ) from error
    return size


def _too_large(name: str) -> ImportRefused:
    return ImportRefused(
        f"{name} unpacks to more than {_MOST_UNPACKED_BYTES} bytes",
        fix="Zip the texts alone, or import them in parts.",
    )
