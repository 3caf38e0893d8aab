"""Word files: what a DOCX says, as pieces of Markdown. Runs nothing in it and follows nothing.

The archive is measured before it is read, document types are refused, links keep their words only.
Pictures, tables, comments and macros are counted and told, not taken over.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from callboard.packs.writers_factory.exchange.markup import StyledWords, markdown_of_runs
from callboard.packs.writers_factory.exchange.pieces import (
    ImportRefused,
    Outside,
    PieceKind,
    TextPiece,
    is_break,
)
from callboard.packs.writers_factory.exchange.word_parts import opened_archive, part_of

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FIRST_PAGE: Final = frozenset({"title", "subtitle", "author", "date", "contact", "cover page"})
_QUOTES: Final = frozenset({"block text", "quote", "intense quote", "quotations", "block quote"})
_ENDINGS: Final = frozenset({"end", "the end", "- end -", "# # #", "-end-", "fin"})
_GONE: Final = frozenset({f"{_W}del", f"{_W}moveFrom", f"{_W}instrText", f"{_W}delText"})
_NOT_TAKEN: Final = {
    f"{_W}tbl": "table",
    f"{_W}drawing": "picture",
    f"{_W}pict": "picture",
    f"{_W}object": "embedded object",
    f"{_W}commentReference": "comment",
    f"{_W}del": "deletion that was tracked",
    f"{_W}sym": "symbol of a special font",
}


@dataclass(frozen=True, slots=True)
class _Style:
    name: str = ""
    level: int = 0
    is_bold: bool = False
    is_italic: bool = False
    breaks_page: bool = False


@dataclass(slots=True)
class _Paragraph:
    """What a paragraph holds: its runs, and whether a page ends in or before it."""

    runs: list[StyledWords] = field(default_factory=list[StyledWords])
    pages: int = 0


def read_word(data: bytes, name: str) -> Outside:
    """Read the manuscript in a DOCX."""
    with opened_archive(data, name) as archive:
        body = part_of(archive, "word/document.xml", name)
        if body is None:
            raise ImportRefused(f"{name} holds no document", fix="Save it as DOCX once more.")
        styles = _styles(part_of(archive, "word/styles.xml", name))
        numbered = _numbered(part_of(archive, "word/numbering.xml", name))
        reader = _Reader(styles, numbered)
        reader.read_notes(part_of(archive, "word/footnotes.xml", name), "footnote")
        reader.read_notes(part_of(archive, "word/endnotes.xml", name), "endnote")
        pieces = tuple(reader.pieces(body))
        macros = [each for each in archive.namelist() if each.lower().endswith("vbaproject.bin")]
    if macros:
        reader.left_out["macro"] += len(macros)
    told = [f"{count} x {what}: not taken over" for what, count in reader.left_out.items()]
    return Outside(pieces, reader.used_notes, (*told, *reader.problems))


def _value(element: "Element | None", path: str) -> str:
    found = None if element is None else element.find(path)
    return "" if found is None else str(found.get(f"{_W}val") or "")


def _is_on(element: "Element | None", name: str) -> bool | None:
    """Return whether a switch is on, off, or not named at all."""
    found = None if element is None else element.find(f"{_W}{name}")
    if found is None:
        return None
    return str(found.get(f"{_W}val") or "true").lower() not in ("0", "false", "none", "off")


def _styles(root: "Element | None") -> dict[str, _Style]:
    found: dict[str, _Style] = {}
    for each in root.iter(f"{_W}style") if root is not None else ():
        name = _value(each, f"{_W}name").lower()
        shape, look = each.find(f"{_W}pPr"), each.find(f"{_W}rPr")
        outline = _value(shape, f"{_W}outlineLvl")
        level = int(outline) + 1 if outline.isdecimal() and int(outline) < 6 else 0
        if name.startswith("heading ") and name[8:].isdecimal():
            level = int(name[8:])
        found[str(each.get(f"{_W}styleId"))] = _Style(
            name,
            level,
            _is_on(look, "b") or name == "strong",
            _is_on(look, "i") or name == "emphasis",
            bool(_is_on(shape, "pageBreakBefore")),
        )
    return found


def _numbered(root: "Element | None") -> dict[str, bool]:
    """Return which lists count their items."""
    if root is None:
        return {}
    forms = {
        str(each.get(f"{_W}abstractNumId")): _value(each, f"{_W}lvl/{_W}numFmt")
        for each in root.iter(f"{_W}abstractNum")
    }
    return {
        str(each.get(f"{_W}numId")): forms.get(_value(each, f"{_W}abstractNumId"), "")
        not in ("bullet", "none", "")
        for each in root.iter(f"{_W}num")
    }


class _Reader:
    """Goes through the paragraphs once; footnotes are numbered as they are referred to."""

    def __init__(self, styles: Mapping[str, _Style], numbered: Mapping[str, bool]) -> None:
        self.styles = styles
        self.numbered = numbered
        self.left_out: Counter[str] = Counter()
        self.problems: list[str] = []
        self.used_notes: dict[str, str] = {}
        self._notes: dict[tuple[str, str], Element] = {}

    def read_notes(self, root: "Element | None", kind: str) -> None:
        for each in root.iter(f"{_W}{kind}") if root is not None else ():
            if each.get(f"{_W}type") in (None, "normal"):
                self._notes[kind, str(each.get(f"{_W}id"))] = each

    def pieces(self, body: "Element") -> Iterator[TextPiece]:
        for element in self._paragraphs(body):
            shape = element.find(f"{_W}pPr")
            style = self.styles.get(_value(shape, f"{_W}pStyle"), _Style())
            held = self._read(element, style)
            if held.pages or style.breaks_page or _is_on(shape, "pageBreakBefore"):
                yield TextPiece(PieceKind.PAGE)
            piece = self._piece(held, shape, style)
            if piece is not None:
                yield piece

    def _paragraphs(self, element: "Element") -> Iterator["Element"]:
        """Yield the paragraphs of the text, those of tables too, in their order."""
        for child in element:
            if child.tag == f"{_W}p":
                yield child
            elif child.tag not in _GONE:
                if child.tag in _NOT_TAKEN:
                    self.left_out["table (its words are kept)"] += 1
                yield from self._paragraphs(child)

    def _piece(self, held: _Paragraph, shape: "Element | None", style: _Style) -> TextPiece | None:
        text, is_plain = markdown_of_runs(held.runs)
        if is_plain:
            self.problems.append(f"the emphasis in “{text[:60]}” is left out: it cannot be written")
        bare = "".join(run.text for run in held.runs).strip()
        if not bare and not text:
            return None
        if style.name in _FIRST_PAGE:
            return TextPiece(PieceKind.TITLE_PAGE, bare)
        if style.name == "the end" or bare.lower() in _ENDINGS:
            return TextPiece(PieceKind.END, bare)
        if style.name == "scene break" or is_break(bare):
            return TextPiece(PieceKind.BREAK)
        if style.level:
            return TextPiece(PieceKind.HEADING, bare, style.level)
        number = shape.find(f"{_W}numPr") if shape is not None else None
        if number is not None:
            counts = self.numbered.get(_value(number, f"{_W}numId"), False)
            return TextPiece(PieceKind.TEXT, f"{'1.' if counts else '-'} {text}", is_item=True)
        if style.name in _QUOTES:
            text = "\n".join(f"> {line}" for line in text.split("\n"))
        return TextPiece(PieceKind.TEXT, text)

    def _read(self, element: "Element", style: _Style) -> _Paragraph:
        held = _Paragraph()
        for run in self._runs(element):
            self._take(run, style, held)
        return held

    def _runs(self, element: "Element") -> Iterator["Element"]:
        for child in element:
            if child.tag == f"{_W}r":
                yield child
            elif child.tag in _GONE:
                self.left_out[_NOT_TAKEN[f"{_W}del"]] += 1
            elif child.tag not in (f"{_W}pPr", f"{_W}p"):
                yield from self._runs(child)

    def _take(self, run: "Element", style: _Style, held: _Paragraph) -> None:
        look = run.find(f"{_W}rPr")
        named = self.styles.get(_value(look, f"{_W}rStyle"), _Style())
        bold, italic = _is_on(look, "b"), _is_on(look, "i")
        # A heading or a quotation may be set in bold or italics as a whole: that is its style.
        is_bold = named.is_bold if bold is None else bold and not style.is_bold
        is_italic = named.is_italic if italic is None else italic and not style.is_italic
        for child in run:
            if (said := self._said(child, held)) is not None:
                held.runs.append(StyledWords(said[0], is_bold, is_italic, is_note=said[1]))

    def _said(self, child: "Element", held: _Paragraph) -> tuple[str, bool] | None:
        """Return the words of a part of a run, and whether they refer to a footnote."""
        kind = child.tag.removeprefix(_W)
        if kind == "t":
            return (child.text or ""), False
        if kind == "br" and child.get(f"{_W}type") == "page":
            held.pages += 1
            return None
        if kind in ("br", "cr"):
            return "\n", False
        if kind in ("tab", "noBreakHyphen"):
            return (" " if kind == "tab" else "\u2011"), False
        if kind in ("footnoteReference", "endnoteReference"):
            name = self._note(kind.removesuffix("Reference"), str(child.get(f"{_W}id")))
            return None if name is None else (f"[^{name}]", True)
        if child.tag in _NOT_TAKEN:
            self.left_out[_NOT_TAKEN[child.tag]] += 1
        return None

    def _note(self, kind: str, number: str) -> str | None:
        found = self._notes.pop((kind, number), None)
        if found is None:
            return None
        name = str(len(self.used_notes) + 1)
        self.used_notes[name] = ""
        told = (markdown_of_runs(self._read(each, _Style()).runs)[0] for each in found)
        self.used_notes[name] = "\n\n".join(text for text in told if text)
        return name
