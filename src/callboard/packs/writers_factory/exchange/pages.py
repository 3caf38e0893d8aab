"""Pages: the order of a book on paper and on a screen, from its title page to its last word."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from callboard.library.binding.prose_tree import (
    Node,
    blocks_of,
    header,
    inlines_of,
    scene_break,
    split_notes,
    styled,
)
from callboard.packs.writers_factory.exchange.title_page import TitlePage
from callboard.packs.writers_factory.manuscript import BookScene

Chapters = Mapping[int, str]
CONTACT: Final = "Contact"
THE_END: Final = "The End"
_BREAK: Final = "* * *"
# How an editor's desk expects a break between scenes to look.
_TYPED_BREAK: Final = "#"
_STANDS_ALONE: Final = re.compile(
    r"(?:prologue|epilogue|interlude|foreword|preface|introduction|afterword)\b", re.IGNORECASE
)
_TAB: Final[Node] = {"t": "RawInline", "c": ["openxml", "<w:r><w:tab/></w:r>"]}
_LINE: Final[Node] = {"t": "LineBreak"}


def stands_alone(title: str) -> bool:
    """Say whether a chapter is called by its name and not counted: a prologue, an epilogue."""
    return _STANDS_ALONE.match(title.strip()) is not None


def chapter_lines(number: int, title: str) -> tuple[str, ...]:
    """Return what heads a chapter: its number, its title or both."""
    told = " ".join(title.split())
    if stands_alone(told):
        return (told,)
    return (f"Chapter {number}", told) if told else (f"Chapter {number}",)


def epub_tree(scenes: Sequence[BookScene], chapters: Chapters) -> list[Node]:
    """Return the book as blocks for a screen; the title page is the binder's."""
    blocks: list[Node] = []
    for chapter, scene in _opened(scenes):
        if chapter is None:
            blocks.append(scene_break())
        else:
            told = ": ".join(_heading(chapter, chapters))
            blocks.append(header(1, told, f"chapter-{chapter}"))
        blocks += blocks_of(scene.text)
    return blocks


def manuscript_tree(page: TitlePage, scenes: Sequence[BookScene], chapters: Chapters) -> list[Node]:
    """Return the book as blocks for an editor's desk, with its first page and its end."""
    blocks = _first_page(page, sum(scene.meta.word_count for scene in scenes))
    for chapter, scene in _opened(scenes):
        if chapter is None:
            blocks.append(scene_break(_TYPED_BREAK))
        else:
            blocks.append(_typed_header(chapter, chapters))
        blocks += blocks_of(scene.text, _TYPED_BREAK)
    return [*blocks, styled(THE_END, [_para(inlines_of("END"))])]


def _first_page(page: TitlePage, words: int) -> list[Node]:
    lines = [line for line in (page.author, *page.contact) if line] or [""]
    told: list[Node] = [*inlines_of(lines[0]), _TAB, *inlines_of(rounded_count(words))]
    for line in lines[1:]:
        told += [_LINE, *inlines_of(line)]
    blocks = [styled(CONTACT, [_para(told)]), styled("Title", [_para(inlines_of(page.title))])]
    if page.author:
        blocks.append(styled("Author", [_para(inlines_of(f"by {page.author}"))]))
    if page.date:
        blocks.append(styled("Date", [_para(inlines_of(page.date))]))
    return blocks


def _heading(chapter: int, chapters: Chapters) -> tuple[str, ...]:
    """Return the lines of a heading; a chapter that is called by its name takes no number."""
    uncounted = sum(1 for each in chapters if each < chapter and stands_alone(chapters[each]))
    return chapter_lines(chapter - uncounted, chapters.get(chapter, ""))


def _typed_header(chapter: int, chapters: Chapters) -> Node:
    told: list[Node] = []
    for line in _heading(chapter, chapters):
        told += [*([_LINE] if told else []), *inlines_of(line)]
    return {"t": "Header", "c": [1, [f"chapter-{chapter}", [], []], told]}


def rounded_count(words: int) -> str:
    """Return a word count as it stands on a manuscript: to the hundred, a long one to the 1,000."""
    step = 100 if words < 20_000 else 1_000
    return f"about {max(step, round(words / step) * step):,} words"


def markdown_of(page: TitlePage, scenes: Sequence[BookScene], chapters: Chapters) -> str:
    """Return the book as one Markdown text; the scenes stand in it as they were written.

    Only a footnote whose name an earlier scene has taken gets another one.
    """
    parts = [f"# {_one_line(page.title)}"]
    parts += [f"*{_one_line(page.author)}*"] if page.author.strip() else []
    parts += [page.date] if page.date else []
    taken: set[str] = set()
    for chapter, scene in _opened(scenes):
        if chapter is None:
            parts.append(_BREAK)
        else:
            parts.append(f"## {': '.join(_heading(chapter, chapters))}")
        parts.append(_with_free_notes(scene, taken).strip("\n"))
    return "\n\n".join(parts) + "\n"


def _with_free_notes(scene: BookScene, taken: set[str]) -> str:
    names, text = list(split_notes(scene.text)[1]), scene.text
    for name in names:
        if name in taken:
            text = text.replace(f"[^{name}]", f"[^{scene.meta.scene_id}-{name}]")
    taken.update(names)
    return text


def _opened(scenes: Sequence[BookScene]) -> Iterator[tuple[int | None, BookScene]]:
    """Yield each scene with the chapter it opens, if it opens one."""
    before: int | None = None
    for scene in scenes:
        chapter = scene.meta.chapter
        yield (None if chapter == before else chapter), scene
        before = chapter


def _para(inlines: Sequence[Node]) -> Node:
    return {"t": "Para", "c": list(inlines)}


def _one_line(text: str) -> str:
    return " ".join(text.split())
