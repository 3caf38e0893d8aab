"""EPUB: the book for readers that turn pages; every choice is a link, state is the reader's."""

from collections.abc import Mapping, Sequence
from itertools import chain
from uuid import NAMESPACE_URL, UUID, uuid5

from callboard.library.binding.epub import bind_epub
from callboard.library.binding.prose_tree import Node, header, inlines_of
from callboard.library.binding.volume import Volume
from callboard.packs.questfoundry.book.model import Book
from callboard.packs.questfoundry.formats.naming import anchors
from callboard.packs.questfoundry.formats.prose import PageWords, one_line, paragraphs
from callboard.packs.questfoundry.formats.writing.printed import PrintedSection, Printing


async def epub_of(book: Book, words: PageWords) -> bytes:
    """Return the book as an EPUB; it has no time of its own."""
    names = anchors(book)
    printed = Printing(book, words).sections()
    printed.sort(key=lambda section: section.id != book.start)
    # One after the other: the blocks of a large book are many times its words.
    pages = (block for section in printed for block in _section(section, names, words))
    blocks = chain(pages, _codex(book, words))
    volume = Volume(
        one_line(book.title),
        f"urn:uuid:{_identity(book)}",
        0,
        author=one_line(book.author),
        language=one_line(book.language),
    )
    return await bind_epub(blocks, volume)


def _identity(book: Book) -> UUID:
    try:
        return UUID(book.ifid)
    except ValueError:
        return uuid5(NAMESPACE_URL, f"{book.ifid}/{book.title}/{book.author}")


def _section(section: PrintedSection, names: Mapping[str, str], words: PageWords) -> list[Node]:
    blocks = [header(1, section.title or words.untitled, names[section.id])]
    blocks += [_para([_emph(each)]) for each in section.plates]
    blocks += [_lines(lines) for lines in section.paragraphs]
    blocks += [_para([_emph(each)]) for each in section.notes]
    items: list[list[Node]] = []
    for choice in section.choices:
        told = inlines_of(choice.lead) if choice.lead else []
        label = inlines_of(choice.label)
        if choice.to in names:
            told.append({"t": "Link", "c": [["", [], []], label, [f"#{names[choice.to]}", ""]]})
        else:
            told += label
        for note in choice.notes:
            told += [{"t": "Space"}, _emph(note)]
        items.append([{"t": "Plain", "c": told}])
    blocks += [{"t": "BulletList", "c": items}] if items else []
    if section.end is not None:
        blocks.append(_para([{"t": "Strong", "c": inlines_of(section.end)}]))
    return blocks


def _codex(book: Book, words: PageWords) -> list[Node]:
    blocks = [header(1, words.codex, "codex")] if book.codex else []
    for entry in book.codex:
        blocks.append(header(2, one_line(entry.title)))
        for text in (entry.overview, entry.usage, entry.context):
            blocks += [_lines(lines) for lines in paragraphs(text)]
    return blocks


def _lines(lines: Sequence[str]) -> Node:
    told: list[Node] = []
    for line in lines:
        told += [*([{"t": "LineBreak"}] if told else []), *inlines_of(line)]
    return _para(told)


def _para(inlines: list[Node]) -> Node:
    return {"t": "Para", "c": inlines}


def _emph(text: str) -> Node:
    return {"t": "Emph", "c": inlines_of(text)}
