"""Arrivals: a manuscript from outside, looked at before it is written, and taken back if wished.

Scenes become files of the manuscript. A place that is taken is refused unless its text is to be
replaced, and then the text before it is a version in the archive, as with every change.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from callboard.core.canonical import digest_bytes
from callboard.core.codec import Coded
from callboard.core.errors import Conflict, NotFound
from callboard.library.story.model import FileKind
from callboard.packs.writers_factory.exchange.folders import (
    draft_of,
    is_word_file,
    read_zipped_folder,
    scenes_in,
)
from callboard.packs.writers_factory.exchange.pieces import (
    MOST_BYTES,
    ImportRefused,
    read_text,
)
from callboard.packs.writers_factory.exchange.splitting import (
    Draft,
    DraftScene,
    split_manuscript,
    with_numbers,
    words_in,
)
from callboard.packs.writers_factory.exchange.word_file import read_word
from callboard.packs.writers_factory.manuscript import Manuscript
from callboard.packs.writers_factory.manuscript.facts import CHAPTER_TITLE
from callboard.packs.writers_factory.manuscript.sheet import MANUSCRIPT
from callboard.packs.writers_factory.model import SceneMeta, SceneStatus, scene_id
from callboard.packs.writers_factory.workspace import Workspace
from callboard.tools import ProjectFiles

KIND: Final = "import"
SHELF: Final = "content/Archive/Imports"
TEXTS: Final = (".md", ".markdown", ".txt")
_ARCHIVE: Final = b"PK\x03\x04"


class PlacesTaken(Conflict):
    """A manuscript would go where scenes are."""

    code = "places_taken"


class ImportUnknown(NotFound):
    """There is no import that could be taken back."""

    code = "import_unknown"


@dataclass(frozen=True, slots=True)
class Arrival:
    """A manuscript that was read; `inside` are the files of the project it was read from."""

    name: str
    sha256: str
    draft: Draft
    inside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ArrivedScene:
    """A scene of an import: where it goes, and the version that was there before."""

    scene_id: str
    chapter_title: str
    title: str
    word_count: int
    opening: str
    is_taken: bool = False
    version_before: int = 0
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Import(Coded):
    """What an import writes, or has written once it has an id."""

    name: str
    sha256: str
    split_by: str
    scenes: tuple[ArrivedScene, ...]
    word_count: int
    problems: tuple[str, ...] = ()
    # Files of the project that were read, and where they lie once they are scenes.
    moved: tuple[tuple[str, str], ...] = ()
    id: str = ""
    is_undone: bool = False


def read_arrival(data: bytes, name: str) -> Arrival:
    """Read a manuscript that is one file, by what it holds."""
    if len(data) > MOST_BYTES:
        raise ImportRefused(
            f"{name} has {len(data)} bytes", fix=f"A manuscript has at most {MOST_BYTES} bytes."
        )
    suffix = PurePosixPath(name).suffix.lower()
    if suffix != ".docx" and data.startswith(_ARCHIVE) and not is_word_file(data, name):
        return Arrival(name, digest_bytes(data), read_zipped_folder(data, name, TEXTS))
    if suffix == ".docx" or data.startswith(_ARCHIVE):
        outside = read_word(data, name)
    elif suffix in TEXTS:
        outside = read_text(data, name)
    else:
        raise ImportRefused(
            f"{name} is no manuscript that can be read",
            fix="Save it as .docx, .md or .txt, or zip a folder of scenes.",
        )
    draft = split_manuscript(outside)
    if not draft.chapters:
        raise ImportRefused(f"{name} holds no text", fix="Name the file with the manuscript.")
    return Arrival(name, digest_bytes(data), draft)


def arrival_in(workspace: Workspace, path: str) -> Arrival:
    """Read a manuscript in the project: one file, or a folder of scenes in story order."""
    inside = workspace.files.resolve(path)
    if (workspace.files.root / inside).is_dir():
        return _of_folder(workspace.files, inside)
    if inside.startswith(f"{MANUSCRIPT}/"):
        raise ImportRefused(f"{inside} is a scene of the book already", fix="Name another file.")
    files = ProjectFiles(workspace.files.root, max_read_bytes=MOST_BYTES)
    found = read_arrival(files.read_bytes(inside), inside)
    is_text = PurePosixPath(inside).suffix.lower() in TEXTS
    return Arrival(found.name, found.sha256, found.draft, (inside,) if is_text else ())


def _of_folder(files: ProjectFiles, folder: str) -> Arrival:
    found = scenes_in(files, folder)
    if not found or folder == MANUSCRIPT or any(e.path.startswith(MANUSCRIPT) for e in found):
        raise ImportRefused(
            f"{folder} holds no scenes from outside the book", fix="Name a folder of scene files."
        )
    sha256 = digest_bytes("".join(file.sha256 for file in found).encode())
    paths = tuple(file.path for file in found if file.kind is FileKind.SCENE)
    return Arrival(folder, sha256, draft_of(found, files), paths)


def preview_import(
    workspace: Workspace, arrival: Arrival, *, replace: bool = False, append: bool = False
) -> Import:
    """Say what an import would write, and write nothing."""
    manuscript = Manuscript(workspace)
    held = {each.meta.scene_id: each.text for each in manuscript.texts() if each.text.strip()}
    last = max((each.chapter for each in manuscript.scenes() if each.scene_id in held), default=0)
    rows: list[ArrivedScene] = []
    for chapter, number, opened, scene in with_numbers(arrival.draft, last + 1 if append else 1):
        name = scene_id(chapter, number)
        is_taken = name in held and held[name].strip() != scene.text.strip()
        rows.append(
            ArrivedScene(
                name, opened.title, scene.title, words_in(scene), scene.text[:80], is_taken
            )
        )
    problems = list(arrival.draft.problems)
    taken = [row.scene_id for row in rows if row.is_taken]
    if taken and not replace:
        problems.append(f"already written, and kept unless replaced: {', '.join(taken[:20])}")
    words = sum(row.word_count for row in rows)
    moved = tuple((path, f"{SHELF}/{arrival.sha256[:12]}/{path}") for path in arrival.inside)
    split_by = arrival.draft.split_by
    return Import(
        arrival.name, arrival.sha256, split_by, tuple(rows), words, tuple(problems), moved
    )


async def write_import(
    workspace: Workspace, arrival: Arrival, *, replace: bool = False, append: bool = False
) -> Import:
    """Write the scenes of a manuscript; done again, it changes nothing."""
    seen = preview_import(workspace, arrival, replace=replace, append=append)
    taken = [row.scene_id for row in seen.scenes if row.is_taken]
    if taken and not replace:
        raise PlacesTaken(
            f"{', '.join(taken[:20])} would be written over",
            fix="Say --replace to have other texts there (these are kept as versions), or"
            " --append to put the manuscript after the last chapter.",
            scenes=taken,
        )
    manuscript = Manuscript(workspace)
    rows: list[ArrivedScene] = []
    first = _first_chapter(seen.scenes)
    for row, (_, number, opened, scene) in zip(
        seen.scenes, with_numbers(arrival.draft, first), strict=True
    ):
        extra = {CHAPTER_TITLE: opened.title} if opened.title and number == 1 else {}
        rows.append(await _put(manuscript, row, scene, extra, f"imported from {arrival.name}"))
    for path, kept in seen.moved:
        workspace.files.move(path, kept)
    made = Import(
        seen.name,
        seen.sha256,
        seen.split_by,
        tuple(rows),
        seen.word_count,
        arrival.draft.problems,
        seen.moved,
        workspace.studio.ids.make("import"),
    )
    await workspace.records.put(KIND, made.id, made.to_json())
    return made


def _first_chapter(scenes: Sequence[ArrivedScene]) -> int:
    """Return the chapter an import begins with."""
    return int(scenes[0].scene_id.removeprefix("ch").partition("-")[0])


async def _put(
    manuscript: Manuscript, row: ArrivedScene, scene: DraftScene, extra: dict[str, Any], reason: str
) -> ArrivedScene:
    versions = manuscript.versions(row.scene_id)
    had_text = manuscript.has_file(row.scene_id)
    meta = SceneMeta(
        row.scene_id,
        0,
        0,
        title=scene.title,
        status=SceneStatus.DRAFTED,
        story_time=scene.story_time,
        location=scene.location,
        pov=scene.pov,
        characters=scene.characters,
    )
    version = await manuscript.take_in(row.scene_id, scene.text, meta, extra, reason=reason)
    before = version.number - 1 if had_text else 0
    if had_text and versions and version.number == versions[-1].number:
        before = version.number
    return ArrivedScene(
        row.scene_id,
        row.chapter_title,
        row.title,
        row.word_count,
        row.opening,
        row.is_taken,
        before,
        manuscript.content_hash(row.scene_id),
    )


async def undo_last_import(workspace: Workspace, import_id: str = "") -> Import:
    """Take an import back: what it replaced stands there again, what was new goes to the archive.

    A scene somebody has worked on since stays as it is, and is named.
    """
    stored = [Import.from_json(body) for body in workspace.records.all(KIND).values()]
    open_ones = [each for each in stored if not each.is_undone and import_id in ("", each.id)]
    if not open_ones:
        raise ImportUnknown(
            f"There is no import {import_id} to be taken back".replace("  ", " "),
            fix="It was taken back already, or nothing was imported.",
        )
    last = max(open_ones, key=lambda each: each.id)
    manuscript = Manuscript(workspace)
    stays: list[str] = []
    for row in last.scenes:
        if not manuscript.has_file(row.scene_id):
            continue
        if manuscript.content_hash(row.scene_id) != row.sha256:
            stays.append(f"{row.scene_id} was changed since and stays")
        elif row.version_before:
            await manuscript.restore(row.scene_id, row.version_before)
        else:
            path = manuscript.path(row.scene_id)
            workspace.files.move(path, f"{SHELF}/{last.id}/{row.scene_id}.md")
            manuscript.forget()
    for path, kept in last.moved:
        workspace.files.move(kept, path)
    undone = Import.from_json({**last.to_json(), "is_undone": True, "problems": stays})
    await workspace.records.put(KIND, last.id, undone.to_json())
    return undone
