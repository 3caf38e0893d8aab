"""Scene files: taken apart, put together, and read as they lie in the project. Writes none.

The writer may have edited anything. What cannot be understood is named as a problem, and the text
below it is kept whatever stands above. A file is read again when it may have changed, and taken
apart again when its hash has.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final, cast

import yaml

from callboard.core.canonical import Json
from callboard.core.clock import Clock
from callboard.library.story.index.metadata import describe, numbered_title
from callboard.library.story.text.document import Document
from callboard.packs.writers_factory.model import SceneMeta, SceneStatus, SymbolUse
from callboard.tools import FileMissing, ProjectFiles, Unreadable

_RULE: Final = "---"
_LISTS: Final = ("characters", "callbacks", "foreshadowing")
_WORDS: Final = ("title", "story_time", "location", "pov")
_WORD_LIST_CHARS: Final = 2_000
_KNOWN: Final = frozenset(
    {"scene_id", "chapter", "scene", "status", "word_count", "tension", "symbols", "beat_number"}
    | set(_LISTS)
    | set(_WORDS)
)


@dataclass(frozen=True, slots=True)
class SceneSheet:
    """A scene file as it reads.

    `values` are the parts of the front matter that were understood, `extra` the writer's own keys,
    `found` what the text says of itself in the words story tools read: when, place, a heading.
    """

    body: str
    word_count: int
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    extra: Mapping[str, Json] = field(default_factory=dict[str, Json])
    problems: tuple[str, ...] = ()
    found: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def over(self, base: SceneMeta) -> SceneMeta:
        """Return a scene's facts with what the file says over what was known."""
        known = replace(base, **self.values) if self.values else base
        gaps = {name: told for name, told in self.found.items() if not getattr(known, name)}
        return replace(known, word_count=self.word_count, **gaps)


@lru_cache(maxsize=512)
def read_sheet(path: str, text: str) -> SceneSheet:
    """Take a scene file apart; never fails."""
    document = Document(path, text)
    if document.front_error:
        body = _below(document)
        problem = f"{path}: {document.front_error}; what was known before stays in force"
        return SceneSheet(body, count_prose(body), problems=(problem,))
    values: dict[str, Any] = {}
    problems: list[str] = []
    for key, value in document.front.items():
        if key not in _KNOWN or value is None:
            continue
        try:
            values |= _read(key, value)
        except ValueError as error:
            problems.append(f"{path}: {key} = {value!r} is left out: {error}")
    extra = {key: value for key, value in document.front.items() if key not in _KNOWN}
    body = _below(document)
    words = count_prose(body)
    return SceneSheet(body, words, values, extra, tuple(problems), _found(document))


def _found(document: Document) -> dict[str, Any]:
    told = describe(document, "")
    top = next((heading.text for heading in document.headings if heading.level == 1), "")
    found = {
        "title": numbered_title(top)[1],
        "story_time": told.when,
        "location": told.location,
        "pov": told.pov,
        "characters": told.characters,
    }
    return {name: value for name, value in found.items() if value}


def write_sheet(meta: SceneMeta, body: str, extra: Mapping[str, Json] | None = None) -> str:
    """Return the text of a scene file."""
    front: dict[str, Json] = {
        "scene_id": meta.scene_id,
        "chapter": meta.chapter,
        "scene": meta.scene,
        "title": meta.title,
        "status": meta.status.value,
        "word_count": count_prose(body),
        "beat_number": meta.beat_number,
        "pov": meta.pov,
        "characters": list(meta.characters),
        "location": meta.location,
        "story_time": meta.story_time,
        "tension": meta.tension,
        "symbols": [{"name": each.name, "stage": each.stage} for each in meta.symbols],
        "callbacks": list(meta.callbacks),
        "foreshadowing": list(meta.foreshadowing),
    }
    kept = {key: value for key, value in front.items() if value not in (None, "", [])}
    dumped = yaml.safe_dump(
        {**kept, **(extra or {})}, allow_unicode=True, sort_keys=False, width=_WORD_LIST_CHARS
    )
    return f"{_RULE}\n{dumped}{_RULE}\n\n{body.strip()}\n"


def body_as_kept(body: str) -> str:
    """Return a scene's text as it reads once it stands in its file."""
    return read_sheet("scene", write_sheet(SceneMeta("", 0, 0), body)).body


def count_prose(body: str) -> int:
    """Count the words of a scene's prose; headings and comments are none."""
    return Document("scene", body).word_count


def _below(document: Document) -> str:
    return "\n".join(document.lines[document.front_line_count :]).strip("\n")


def _read(key: str, value: Any) -> dict[str, Any]:
    # Which scene a file is, its place says; the count is made of the text.
    if key in ("scene_id", "chapter", "scene", "word_count"):
        return {}
    if key in _WORDS:
        return {key: _words(value)}
    if key in _LISTS:
        return {key: _list(value)}
    if key == "status":
        return {key: SceneStatus(str(value).strip().lower())}
    if key == "tension":
        return {key: _between(value, 1, 10)}
    if key == "beat_number":
        return {key: int(_between(value, 1, 15))}
    return {key: _symbols(value)}


def _words(value: Any) -> str:
    if isinstance(value, dict | list):
        raise ValueError("it is not a text")
    return str(value).strip()


def _list(value: Any) -> tuple[str, ...]:
    if isinstance(value, dict):
        raise ValueError("it is not a list")
    items = cast("list[Any]", value if isinstance(value, list) else str(value).split(","))
    return tuple(text for item in items if (text := _words(item)))


def _between(value: Any, low: float, high: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError("it is not a number") from None
    if not low <= number <= high:
        raise ValueError(f"it is not between {low} and {high}")
    return number


def _symbols(value: Any) -> tuple[SymbolUse, ...]:
    items = cast("list[Any]", value if isinstance(value, list) else [value])
    return tuple(_symbol(item) for item in items)


def _symbol(item: Any) -> SymbolUse:
    if isinstance(item, Mapping):
        told = cast("Mapping[str, Any]", item)
        return SymbolUse(_words(told.get("name", "")), _words(told.get("stage") or ""))
    return SymbolUse(_words(item))


MANUSCRIPT: Final = "content/Manuscript"
_CHAPTER: Final = re.compile(r"Chapter_(\d{2,4})")
_SCENE: Final = re.compile(r"Scene_(\d{2,4})\.md")
# A file changed this recently may change again without its time of change showing it.
_SETTLED_MS: Final = 100

_Stat = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class SceneFile:
    """A scene file as it was read."""

    chapter: int
    scene: int
    path: str
    text: str
    sha256: str
    sheet: SceneSheet


class SceneShelf:
    """The scene files of a project."""

    def __init__(self, files: ProjectFiles, clock: Clock) -> None:
        """Take the writer's files and the time."""
        self._clock = clock
        self._files = files
        self._read: dict[str, tuple[_Stat, SceneFile]] = {}

    def files(self) -> tuple[SceneFile, ...]:
        """Return every scene file, in story order."""
        found = (self.read(chapter, scene) for chapter, scene in sorted(set(self._places())))
        return tuple(file for file in found if file is not None)

    def read(self, chapter: int, scene: int) -> SceneFile | None:
        """Return the file of a scene, if there is one."""
        path = scene_path(chapter, scene)
        try:
            status = (self._files.root / path).stat()
        except OSError:
            return None
        seen = (status.st_ino, status.st_size, status.st_mtime_ns)
        cached = self._read.get(path)
        is_settled = self._clock.now_ms() - status.st_mtime_ns // 1_000_000 > _SETTLED_MS
        if cached is not None and cached[0] == seen and is_settled:
            return cached[1]
        try:
            held = self._files.read_text(path)
        except FileMissing:
            return None
        except Unreadable as error:
            sheet = SceneSheet("", 0, problems=(error.message,))
            return SceneFile(chapter, scene, path, "", "", sheet)
        file = SceneFile(chapter, scene, path, held.text, held.sha256, read_sheet(path, held.text))
        self._read[path] = (seen, file)
        return file

    def sheet_at(self, path: str) -> SceneSheet:
        """Take any scene file apart, an archived one too."""
        return read_sheet(path, self._files.read_text(path).text)

    def forget(self) -> None:
        """Read everything anew: something was written."""
        self._read.clear()

    def _places(self) -> Iterator[tuple[int, int]]:
        folder = self._files.root / MANUSCRIPT
        if not folder.is_dir():
            return
        for each in folder.iterdir():
            chapter = _CHAPTER.fullmatch(each.name)
            if chapter is None or not each.is_dir():
                continue
            for file in each.iterdir():
                scene = _SCENE.fullmatch(file.name)
                if scene is not None:
                    yield int(chapter[1]), int(scene[1])


def scene_path(chapter: int, scene: int) -> str:
    """Return where the file of a scene lies."""
    return f"{MANUSCRIPT}/Chapter_{chapter:02d}/Scene_{scene:02d}.md"
