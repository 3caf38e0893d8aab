"""Splitting: the pieces of a manuscript as chapters and scenes. Writes nothing.

Chapters begin where the manuscript says so most clearly: at headings that name chapters, at lines
that do, at the topmost headings there are several of, at page breaks. No word is lost: what stands
before the first chapter is told, and is a chapter of its own where it is more than a title page.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from callboard.core.codec import Coded
from callboard.library.story.index.metadata import numbered_title
from callboard.packs.writers_factory.exchange.pages import stands_alone
from callboard.packs.writers_factory.exchange.pieces import Outside, PieceKind, TextPiece
from callboard.packs.writers_factory.manuscript import count_prose

_TITLE_PAGE_WORDS: Final = 60
_LINE_CHARS: Final = 80
_BY_PAGES: Final = "page breaks"
_REFERRED: Final = re.compile(r"\[\^([^\]\s^]{1,60})\]")


@dataclass(frozen=True, slots=True)
class DraftScene:
    """A scene as it was found, with what the source says of it."""

    text: str
    title: str = ""
    story_time: str = ""
    location: str = ""
    pov: str = ""
    characters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DraftChapter:
    """A chapter as it was found; `title` is empty where it had a number only."""

    title: str
    scenes: tuple[DraftScene, ...]


@dataclass(frozen=True, slots=True)
class Draft(Coded):
    """A manuscript taken apart, how that was done, and what was not understood."""

    chapters: tuple[DraftChapter, ...]
    split_by: str
    problems: tuple[str, ...] = ()


@dataclass(slots=True)
class _OpenChapter:
    title: str = ""
    pieces: list[TextPiece] = field(default_factory=list[TextPiece])


def split_manuscript(outside: Outside) -> Draft:
    """Return the chapters and scenes of a manuscript."""
    begins, split_by = _way(outside.pieces)
    before, chapters = _OpenChapter(), list[_OpenChapter]()
    for piece in outside.pieces:
        if begins(piece):
            chapters.append(_OpenChapter(_chapter_title(piece)))
        elif piece.kind is not PieceKind.END:
            (chapters[-1] if chapters else before).pieces.append(piece)
    problems = list(outside.problems)
    has_headings = bool(chapters) and split_by != _BY_PAGES
    if _is_title_page(before.pieces, has_chapters=has_headings):
        told = " / ".join(piece.text.replace("\n", " / ") for piece in before.pieces if piece.text)
        problems += [f"taken for the title page and left out: “{told[:300]}”"] if told else []
    else:
        chapters.insert(0, before)
    made = [_chapter(each, outside.notes) for each in chapters]
    empty = [each.title or "untitled" for each in made if not each.scenes]
    problems += [f"no text under the heading “{title}”" for title in empty]
    kept = tuple(each for each in made if each.scenes)
    return Draft(kept, split_by, tuple(problems))


def _way(pieces: Sequence[TextPiece]) -> tuple[Callable[[TextPiece], bool], str]:
    headings = [piece for piece in pieces if piece.kind is PieceKind.HEADING]
    if any(_names_chapter(piece.text) for piece in headings):
        return (
            lambda piece: piece.kind is PieceKind.HEADING and _names_chapter(piece.text)
        ), "headings that name chapters"
    if any(_is_chapter_line(piece) for piece in pieces):
        return _is_chapter_line, "lines that name chapters"
    levels = sorted({piece.level for piece in headings})
    level = next((each for each in levels if sum(h.level == each for h in headings) > 1), 0)
    if level:
        return (
            lambda piece: piece.kind is PieceKind.HEADING and piece.level == level
        ), f"headings of level {level}"
    if any(piece.kind is PieceKind.PAGE for piece in pieces):
        return (lambda piece: piece.kind is PieceKind.PAGE), _BY_PAGES
    return (lambda _piece: False), "nothing: it is one chapter"


def _names_chapter(text: str) -> bool:
    number, _, label = numbered_title(_one_line(text))
    return (label == "chapter" and number is not None) or stands_alone(text)


def _is_chapter_line(piece: TextPiece) -> bool:
    is_line = piece.kind is PieceKind.TEXT and len(piece.text) <= _LINE_CHARS
    number, title, label = numbered_title(_one_line(piece.text.strip("*_ ")))
    is_named = label == "chapter" and number is not None and not title.endswith((".", ","))
    return is_line and (is_named or (stands_alone(piece.text) and len(piece.text.split()) == 1))


def _chapter_title(piece: TextPiece) -> str:
    if piece.kind is PieceKind.PAGE:
        return ""
    text = _one_line(piece.text.strip("*_ "))
    if stands_alone(text):
        return text
    number, title, label = numbered_title(text)
    if label == "chapter" and number is not None:
        return title
    return title if number is not None and title else ("" if number is not None else text)


def _one_line(text: str) -> str:
    """Return a heading on one line: its number, then its title."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if (
        len(lines) > 1
        and numbered_title(lines[0])[0] is not None
        and not numbered_title(lines[0])[1]
    ):
        return f"{lines[0].rstrip(':.')}: {' '.join(lines[1:])}"
    return " ".join(lines)


def _is_title_page(pieces: Sequence[TextPiece], *, has_chapters: bool) -> bool:
    """Say whether what comes first is no text of the story."""
    told = [piece for piece in pieces if piece.kind not in (PieceKind.TITLE_PAGE, PieceKind.PAGE)]
    words = sum(len(piece.text.split()) for piece in told)
    return not told or (has_chapters and words <= _TITLE_PAGE_WORDS)


def _chapter(held: _OpenChapter, notes: dict[str, str]) -> DraftChapter:
    scenes = tuple(_scene(pieces, notes) for pieces in _scenes(held.pieces))
    return DraftChapter(held.title, tuple(scene for scene in scenes if scene.text))


def _scenes(pieces: Sequence[TextPiece]) -> Iterator[list[TextPiece]]:
    held: list[TextPiece] = []
    for piece in pieces:
        names_scene = piece.kind is PieceKind.HEADING and numbered_title(piece.text)[2] == "scene"
        if piece.kind is PieceKind.BREAK or names_scene:
            yield held
            held = []
        if piece.kind in (PieceKind.TEXT, PieceKind.HEADING):
            held.append(piece)
    yield held


def _scene(pieces: Sequence[TextPiece], notes: dict[str, str]) -> DraftScene:
    title, rest = "", list(pieces)
    if rest and rest[0].kind is PieceKind.HEADING and numbered_title(rest[0].text)[2] == "scene":
        title = numbered_title(rest[0].text)[1]
        rest = rest[1:]
    parts: list[str] = []
    for at, piece in enumerate(rest):
        is_list = piece.is_item and at > 0 and rest[at - 1].is_item
        text = (
            f"{'#' * piece.level} {_one_line(piece.text)}"
            if piece.kind is PieceKind.HEADING
            else piece.text
        )
        parts += ["\n" if is_list else "\n\n", text]
    prose = "".join(parts).strip("\n")
    return DraftScene(_with_notes(prose, notes), title)


def _with_notes(prose: str, notes: dict[str, str]) -> str:
    """Return a scene with the footnotes it refers to, counted anew from one."""
    names = [name for name in dict.fromkeys(_REFERRED.findall(prose)) if name in notes]
    numbers = {name: str(number) for number, name in enumerate(names, 1)}
    text = _REFERRED.sub(lambda hit: f"[^{numbers.get(hit[1], hit[1])}]", prose)
    for name, number in numbers.items():
        told = notes[name].replace("\n\n", "\n\n    ")
        text += f"\n\n[^{number}]: {told}"
    return text


def words_in(scene: DraftScene) -> int:
    """Return how many words of prose a scene has."""
    return count_prose(scene.text)


def with_numbers(draft: Draft, first: int) -> Iterator[tuple[int, int, DraftChapter, DraftScene]]:
    """Yield every scene with the chapter and number it gets."""
    for chapter, each in enumerate(draft.chapters, first):
        for number, scene in enumerate(each.scenes, 1):
            yield chapter, number, replace(each, scenes=()), scene
