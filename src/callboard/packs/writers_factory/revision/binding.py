"""Prose as a tree of plain blocks, the only thing the book maker ever sees.

The text of a scene is read as Markdown without HTML. Of what it holds only words, emphasis, quotes,
lists and breaks are taken over: an image leaves its description, a link its words, and TeX, HTML
and metadata are text like any other. So nothing in a scene can name a file, an address or an
option.
"""

import asyncio
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from callboard.core.canonical import Json, compact_json
from callboard.core.errors import CallboardError

if TYPE_CHECKING:
    from markdown_it.token import Token

Node = dict[str, Json]
_BREAK: Final = "\u2042"
_WRAPS: Final = {"em": "Emph", "strong": "Strong", "s": "Strikeout"}
_CONTAINERS: Final = {"blockquote": "BlockQuote"}
_MOST_NESTING: Final = 20
# One for all of them: a text may be nothing but spaces.
_SPACE: Final[Node] = {"t": "Space"}


def blocks_of(text: str) -> list[Node]:
    """Return the blocks of a scene."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False, "maxNesting": _MOST_NESTING})
    # Four spaces begin a paragraph in many manuscripts, and nobody writes code in a novel.
    reader.disable(["code", "reference", "html_block", "html_inline"])
    clean = without_controls(text)
    tokens = reader.parse(clean)
    if any(token.level >= _MOST_NESTING - 1 for token in tokens):
        # Nested beyond what the reader follows: it would leave words out.
        return [{"t": "Para", "c": inlines_of(line)} for line in clean.splitlines() if line]
    return _TreeBuilder(tokens).blocks()


def header(level: int, text: str, name: str = "") -> Node:
    """Return a heading of plain words."""
    return {"t": "Header", "c": [level, [name, [], []], inlines_of(text)]}


def scene_break() -> Node:
    """Return what stands between two scenes."""
    return {"t": "Para", "c": [{"t": "Str", "c": _BREAK}]}


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

    def __init__(self, tokens: "Sequence[Token]") -> None:
        self.tokens = tokens
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
            inside = inline_nodes(self.tokens[self.at].children or [])
            self.at += 2
            # A heading inside a scene must not become a chapter of the book.
            strong: Node = {"t": "Strong", "c": inside}
            return [{"t": "Para", "c": [strong] if kind == "heading" else inside}]
        if kind in _CONTAINERS:
            return [{"t": _CONTAINERS[kind], "c": self.blocks(f"{kind}_close")}]
        if kind in ("bullet_list", "ordered_list"):
            return [self.listing(kind)]
        if kind == "hr":
            return [scene_break()]
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


def inline_nodes(tokens: "Sequence[Token]") -> list[Node]:
    """Return the inline nodes of a paragraph."""
    return _inside(iter(tokens), None)


def _inside(tokens: "Iterator[Token]", closing: str | None) -> list[Node]:
    nodes: list[Node] = []
    for token in tokens:
        if token.type == closing:
            break
        kind = token.type.removesuffix("_open")
        if kind in _WRAPS:
            nodes.append({"t": _WRAPS[kind], "c": _inside(tokens, f"{kind}_close")})
        elif token.type == "softbreak":
            nodes.append({"t": "SoftBreak"})
        elif token.type == "hardbreak":
            nodes.append({"t": "LineBreak"})
        elif not token.type.startswith("link_"):
            nodes += inlines_of(_words(token))
    return nodes


def _words(token: "Token") -> str:
    # An image says what it shows in the words of its children.
    children: list[Any] = token.children or []
    return "".join(str(each.content) for each in children) if children else token.content


FORMATS: Final = {"epub": "epub3", "docx": "docx"}
_API_VERSION: Final = [1, 23, 1]


class BindingFailed(CallboardError):
    """The book could not be made in a format."""

    code = "binding_failed"


async def bind(blocks: Sequence[Node], facts: dict[str, str], suffix: str) -> bytes:
    """Return a book as the bytes of a file; facts stand in its metadata."""
    tree: Json = {
        "pandoc-api-version": _API_VERSION,
        "meta": {
            name: {"t": "MetaString", "c": without_controls(value)}
            for name, value in facts.items()
            if value.strip()
        },
        "blocks": list(blocks),
    }
    return await asyncio.to_thread(_convert, compact_json(tree), suffix)


def _convert(tree: str, suffix: str) -> bytes:
    import pypandoc

    with TemporaryDirectory(prefix="callboard-binding-") as folder:
        made = Path(folder) / f"book.{suffix}"
        empty = Path(folder) / "data"
        os.mkdir(empty)
        options = ["--sandbox", f"--data-dir={empty}"]
        pandoc: Any = pypandoc
        try:
            pandoc.convert_text(
                tree,
                FORMATS[suffix],
                format="json",
                outputfile=str(made),
                extra_args=options,
            )
        except (RuntimeError, OSError) as error:
            raise BindingFailed(
                f"The manuscript could not be made into {suffix}: {error}",
                fix="The Markdown export is there; convert it with a tool of your own.",
                format=suffix,
            ) from error
        return made.read_bytes()
