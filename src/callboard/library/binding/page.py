"""Page: blocks of a tree as one page of a book for screens, with its footnotes.

What a tree may hold is what `prose_tree` makes of a text. Names that the page makes up have an
underscore, so that they meet none that somebody gave.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from callboard.library.binding.prose_tree import Node

_WRAPS: Final = {"Emph": "em", "Strong": "strong", "Strikeout": "del"}
_SPACES: Final = {"Space": " ", "SoftBreak": "\n", "LineBreak": "<br />\n"}


@dataclass(slots=True)
class Page:
    """A page as it is made: its headings below the first, what it says, its footnotes."""

    file: str
    title: str
    anchor: str = ""
    parts: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    names: set[str] = field(default_factory=set[str])
    body: str = ""
    notes: list[list[Node]] = field(default_factory=list[list[Node]])

    @property
    def href(self) -> str:
        """Where its heading stands."""
        return f"{self.file}#{self.anchor}" if self.anchor else self.file

    def block(self, node: Node) -> str:
        """Return one block as it stands on the page."""
        held: Any = node["c"]
        match node["t"]:
            case "Para":
                return f"<p>{self.words(held)}</p>\n"
            case "Plain":
                return self.words(held)
            case "Header":
                name = held[1][0] or f"part_{len(self.parts) + 1}"
                self.names |= {held[1][0]} - {""}
                self.parts.append((name, words_of(held[2])))
                level = min(6, held[0])
                return f"<h{level} id={quoteattr(name)}>{self.words(held[2])}</h{level}>\n"
            case "BlockQuote":
                return f"<blockquote>\n{self.blocks(held)}</blockquote>\n"
            case "BulletList":
                return f"<ul>\n{self._items(held)}</ul>\n"
            case "OrderedList":
                return f"<ol>\n{self._items(held[1])}</ol>\n"
            case _:
                kind = quoteattr(" ".join(held[0][1]))
                return f"<div class={kind}>\n{self.blocks(held[1])}</div>\n"

    def blocks(self, nodes: Iterable[Node]) -> str:
        """Return some blocks one after the other."""
        return "".join(map(self.block, nodes))

    def _items(self, items: Iterable[Sequence[Node]]) -> str:
        return "".join(f"<li>{self.blocks(each).rstrip()}</li>\n" for each in items)

    def words(self, nodes: Iterable[Node]) -> str:
        """Return what stands within a block."""
        return "".join(map(self._inline, nodes))

    def _inline(self, node: Node) -> str:
        kind, held = str(node["t"]), node.get("c")
        inside: Any = held
        if kind == "Str":
            return escape(inside)
        if kind in _SPACES:
            return _SPACES[kind]
        if kind in _WRAPS:
            return f"<{_WRAPS[kind]}>{self.words(inside)}</{_WRAPS[kind]}>"
        if kind == "Link":
            return f"<a href={quoteattr(inside[2][0])}>{self.words(inside[1])}</a>"
        self.notes.append(inside)
        number = len(self.notes)
        return (
            f'<a href="#fn_{number}" id="fnref_{number}" epub:type="noteref"'
            f' role="doc-noteref">{number}</a>'
        )

    def finish(self, told: Iterable[str]) -> None:
        """Put together what it says, and the footnotes to it."""
        name = f" id={quoteattr(self.anchor)}" if self.anchor else ""
        body = f'<section{name} class="level1">\n{"".join(told)}</section>\n'
        self.body, self.notes = body + self._footnotes(), []

    def _footnotes(self) -> str:
        # A note may have notes, which are added while they are gone through.
        told = ""
        for number, note in enumerate(self.notes, start=1):
            said = self.blocks(note)
            told += f'<aside id="fn_{number}" epub:type="footnote" role="doc-footnote">\n{said}'
            told += "</aside>\n"
        return f'<section epub:type="footnotes">\n<hr />\n{told}</section>\n' if told else ""


def words_of(nodes: Iterable[Node]) -> str:
    """Return the words of a heading."""
    told: list[str] = []
    for node in nodes:
        held: Any = node.get("c")
        told.append(held if node["t"] == "Str" else words_of(held) if held else " ")
    return "".join(told).strip()
