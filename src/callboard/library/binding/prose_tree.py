"""Prose as a tree of plain blocks, the only thing the book maker ever sees.

The text of a scene is read as Markdown without HTML. Of what it holds only words, emphasis, quotes,
lists, breaks and footnotes are taken over: an image leaves its description, a link its words, and
TeX, HTML and metadata are text like any other. So nothing in a scene can name a file, an address or
an option.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from callboard.core.canonical import Json

if TYPE_CHECKING:
    from markdown_it.token import Token

Node = dict[str, Json]
# What stands between two scenes on the page of a book.
ORNAMENT: Final = "\u2042"
SCENE_BREAK: Final = "Scene Break"
_WRAPS: Final = {"em": "Emph", "strong": "Strong", "s": "Strikeout"}
_CONTAINERS: Final = {"blockquote": "BlockQuote"}
_MOST_NESTING: Final = 20
# One for all of them: a text may be nothing but spaces.
_SPACE: Final[Node] = {"t": "Space"}
_NOTED: Final = re.compile(r"\[\^([^\]\s^]{1,60})\]")
_DEFINED: Final = re.compile(r"^ {0,3}\[\^([^\]\s^]{1,60})\]:[ \t]*(.*)$")


def blocks_of(text: str, ornament: str = ORNAMENT) -> list[Node]:
    """Return the blocks of a scene; a rule in it is a break with an ornament."""
    prose, notes = split_notes(without_controls(text))
    told = {name: _read(note, {}, ornament) for name, note in notes.items()}
    return _read(prose, told, ornament)


def split_notes(text: str) -> tuple[str, dict[str, str]]:
    """Return a text without its footnotes, and those by name; one nobody refers to is prose."""
    kept: list[str] = []
    found: dict[str, list[str]] = {}
    lines, open_note = text.split("\n"), None
    referred = set(_NOTED.findall("\n".join(_DEFINED.sub(r"\2", line) for line in lines)))
    for number, line in enumerate(lines):
        hit = _DEFINED.match(line)
        if hit is not None and hit[1] in referred and hit[1] not in found:
            open_note = found.setdefault(hit[1], [hit[2]])
        elif open_note is not None and _goes_on(lines, number):
            open_note.append(line.strip())
        else:
            open_note = None
            kept.append(line)
    return "\n".join(kept), {name: "\n".join(told).strip() for name, told in found.items()}


def _goes_on(lines: Sequence[str], at: int) -> bool:
    """Say whether a line is of the footnote above it: indented, or blank before one that is."""
    if lines[at].strip():
        return lines[at].startswith(("  ", "\t"))
    after = lines[at + 1] if at + 1 < len(lines) else ""
    return bool(after.strip()) and after.startswith(("    ", "\t"))


def _read(text: str, notes: Mapping[str, list[Node]], ornament: str) -> list[Node]:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False, "maxNesting": _MOST_NESTING})
    # Four spaces begin a paragraph in many manuscripts, and nobody writes code in a novel. What is
    # escaped stays apart, so that an escaped bracket opens no footnote.
    reader.disable(["code", "reference", "html_block", "html_inline", "text_join"])
    tokens = reader.parse(text)
    if any(token.level >= _MOST_NESTING - 1 for token in tokens):
        # Nested beyond what the reader follows: it would leave words out.
        return [{"t": "Para", "c": inlines_of(line)} for line in text.splitlines() if line]
    return _TreeBuilder(tokens, notes, ornament).blocks()


def header(level: int, text: str, name: str = "") -> Node:
    """Return a heading of plain words."""
    return {"t": "Header", "c": [level, [name, [], []], inlines_of(text)]}


def scene_break(ornament: str = ORNAMENT) -> Node:
    """Return what stands between two scenes."""
    return styled(SCENE_BREAK, [{"t": "Para", "c": [{"t": "Str", "c": ornament}]}])


def styled(name: str, blocks: Sequence[Node]) -> Node:
    """Return blocks under a style of the page: a class in EPUB, a paragraph style in DOCX."""
    classes: list[Json] = [name.lower().replace(" ", "-")]
    return {"t": "Div", "c": [["", classes, [["custom-style", name]]], list(blocks)]}


def inlines_of(text: str) -> list[Node]:
    """Return words and the spaces between them; many spaces are one, as on any page."""
    nodes: list[Node] = []
    for number, word in enumerate(without_controls(text).split(" ")):
        if number and not (nodes and nodes[-1] is _SPACE):
            nodes.append(_SPACE)
        if word:
            nodes.append({"t": "Str", "c": word})
    return nodes


def without_controls(text: str) -> str:
    """Return a text without characters that no page may hold."""
    return "".join(
        each
        for each in text
        if each in "\n\t" or (each >= " " and not "\ud800" <= each <= "\udfff" and each not in _BAD)
    )


_BAD: Final = frozenset("\x7f\ufffe\uffff")


class _TreeBuilder:
    """Goes through the tokens once; `at` is the next one."""

    def __init__(
        self, tokens: "Sequence[Token]", notes: Mapping[str, list[Node]], ornament: str
    ) -> None:
        self.tokens = tokens
        self.notes = notes
        self.ornament = ornament
        self.at = 0

    def blocks(self, closing: str | None = None) -> list[Node]:
        nodes: list[Node] = []
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if token.type == closing:
                break
            nodes += self.block(token)
        return nodes

    def block(self, token: "Token") -> list[Node]:
        kind = token.type.removesuffix("_open")
        if kind in ("paragraph", "heading"):
            inside = _inside(iter(self.tokens[self.at].children or []), None, self.notes)
            self.at += 2
            # A heading inside a scene must not become a chapter of the book.
            strong: Node = {"t": "Strong", "c": inside}
            return [{"t": "Para", "c": [strong] if kind == "heading" else inside}]
        if kind in _CONTAINERS:
            return [{"t": _CONTAINERS[kind], "c": self.blocks(f"{kind}_close")}]
        if kind in ("bullet_list", "ordered_list"):
            return [self.listing(kind)]
        if kind == "hr":
            return [scene_break(self.ornament)]
        return [{"t": "Para", "c": inlines_of(line)} for line in token.content.splitlines() if line]

    def listing(self, kind: str) -> Node:
        items: list[Json] = []
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if token.type == f"{kind}_close":
                break
            items.append(self.blocks("list_item_close"))
        if kind == "bullet_list":
            return {"t": "BulletList", "c": items}
        numbering = [1, {"t": "Decimal"}, {"t": "Period"}]
        return {"t": "OrderedList", "c": [numbering, items]}


def _inside(
    tokens: "Iterator[Token]", closing: str | None, notes: Mapping[str, list[Node]]
) -> list[Node]:
    nodes: list[Node] = []
    for token in tokens:
        if token.type == closing:
            break
        kind = token.type.removesuffix("_open")
        if kind in _WRAPS:
            nodes.append({"t": _WRAPS[kind], "c": _inside(tokens, f"{kind}_close", notes)})
        elif token.type == "softbreak":
            nodes.append({"t": "SoftBreak"})
        elif token.type == "hardbreak":
            nodes.append({"t": "LineBreak"})
        elif token.type == "text":
            nodes += _with_notes(token.content, notes)
        elif not token.type.startswith("link_"):
            nodes += inlines_of(_words(token))
    return nodes


def _with_notes(text: str, notes: Mapping[str, list[Node]]) -> list[Node]:
    nodes: list[Node] = []
    for number, part in enumerate(_NOTED.split(text)):
        if number % 2 == 0:
            nodes += inlines_of(part)
        elif part in notes:
            nodes.append({"t": "Note", "c": list(notes[part])})
        else:
            nodes += inlines_of(f"[^{part}]")
    return nodes


def _words(token: "Token") -> str:
    # An image says what it shows in the words of its children.
    children: list[Any] = token.children or []
    return "".join(str(each.content) for each in children) if children else token.content
