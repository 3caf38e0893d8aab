"""The grammar of an evidence line: sources separated by `;`, each read into a citation.

    path "quote" | path L12-18 | path § Heading | receipt_id: rcpt_x | slot:name "quote"
    | issue:#12 | scope: checked <files or scene range>

Forgiving about dress (curly quotes, backticks, back slashes, a short remark behind a source),
strict about meaning: nothing that looks like a source is ever passed over unread.
"""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Final

from callboard.core.words import one_line
from callboard.replies.evidence.citation import Citation, CitationKind, EvidenceCode
from callboard.replies.evidence.quotes import OPENERS, QUOTED_PATH, read_quote

MAX_LINE_CHARS: Final = 8_000
MAX_SOURCES: Final = 30

_LINES: Final = (
    r"L(?P<first>[0-9]{1,9})(?:\s*[-\u2013—]\s*L?(?P<last>[0-9]{1,9}))?(?![\w/\\]|[.-]\w)"
)
_LINES_HERE: Final = re.compile(rf"[\s,:(\[]*{_LINES}[\s)\]]*")
_AFTER_LINES: Final = r"(?=[\s)\]]*(?:$|[;.,:(—\u2013\"“„«'\u2018*`-]))"
_LOCATORS: Final = (
    re.compile(
        rf"(?P<quote>[\"“„«]|(?<=\s)['\u2018])|(?<=[\s#:,(]){_LINES}{_AFTER_LINES}|(?P<mark>§|;)"
    ),
    # A remark right behind the lines; tried last because `L2` may also be part of a name.
    re.compile(rf"(?<=[\s#:,(]){_LINES}|(?P<quote>(?!))|(?P<mark>;)"),
)
_RECEIPT: Final = re.compile(r"[\s`*_]*receipt[_ ]?ids?[`*_\s]*[:=]", re.IGNORECASE)
_RECEIPT_ID: Final = re.compile(r"[\s`*,]*(rcpt_[A-Za-z0-9_-]+)[`*]*")
_SLOT: Final = re.compile(r"[\s`*]*slot\s*:\s*`?([A-Za-z_][\w.-]*)[`*,:\s—\u2013-]*", re.IGNORECASE)
_ISSUE: Final = re.compile(r"[\s`*_]*issue\s*(?::\s*#?|#)\s*([0-9]{1,9})(?!\w)", re.IGNORECASE)
_SCOPE: Final = re.compile(r"[\s`*_]*scope\s*:\s*(checked\b)?\s*:?([^;]*)", re.IGNORECASE)
_LINK: Final = re.compile(r"\[[^\]]*\]\(<?([^)>]+)>?\)")
_SOURCE_IN_REMARK: Final = re.compile(
    r"receipt_?id|rcpt_|slot\s*:|issue\s*:|scope\s*:|§|[\"“”„«»]"
    r"|\.(?:md|markdown|txt)\b|(?:^|[\s(])L[0-9]",
    re.IGNORECASE,
)


class EvidenceSyntaxError(ValueError):
    """An evidence line that cannot be read; `code` is the reason it is refused for."""

    def __init__(self, code: EvidenceCode, detail: str) -> None:
        """Take the code and what an author of the line should know."""
        super().__init__(detail)
        self.code = code
        self.detail = detail


def parse_sources(line: str, tool_ids: Collection[str] = ()) -> tuple[Citation, ...]:
    """Read what follows `Evidence:`; what cannot be read is an EvidenceSyntaxError."""
    if len(line) > MAX_LINE_CHARS:
        raise _unparseable(f"the line is longer than {MAX_LINE_CHARS} characters")
    return tuple(_SourceReader(line, tool_ids).read())


class _SourceReader:
    def __init__(self, line: str, tool_ids: Collection[str]) -> None:
        self.line = line
        self.place = 0
        self.tool_ids = tool_ids
        self.forms: Mapping[re.Pattern[str], Callable[[re.Match[str]], list[Citation]]] = {
            _RECEIPT: self._receipts,
            _RECEIPT_ID: self._bare_receipt,
            _SLOT: self._slot,
            _ISSUE: lambda found: [Citation(CitationKind.ISSUE, str(int(found[1])))],
            _SCOPE: self._scope,
        }

    def read(self) -> list[Citation]:
        citations: list[Citation] = []
        while self._skip_separators():
            citations.extend(self._source())
            if len(citations) > MAX_SOURCES:
                raise _unparseable(f"the line names more than {MAX_SOURCES} sources")
            self._skip_remark()
        if not citations:
            raise _unparseable("no source follows `Evidence:`")
        return citations

    def _skip_separators(self) -> bool:
        while self.place < len(self.line) and self.line[self.place] in "; \t\r":
            self.place += 1
        return bool(self.line[self.place :].strip(" \t\r.;*_`"))

    def _source(self) -> list[Citation]:
        for form, read in self.forms.items():
            found = form.match(self.line, self.place)
            if found is not None:
                self.place = found.end()
                return read(found)
        return [self._file()]

    def _bare_receipt(self, found: re.Match[str]) -> list[Citation]:
        self.place = found.start()
        return self._receipts(found)

    def _receipts(self, _found: re.Match[str]) -> list[Citation]:
        citations: list[Citation] = []
        while (found := _RECEIPT_ID.match(self.line, self.place)) is not None:
            citations.append(Citation(CitationKind.RECEIPT, found[1]))
            self.place = found.end()
        if not citations:
            raise EvidenceSyntaxError(
                EvidenceCode.RECEIPT_MISSING, "`receipt_id:` is not followed by a receipt's id"
            )
        return citations

    def _slot(self, found: re.Match[str]) -> list[Citation]:
        name = found[1].rstrip(".-")
        quote = self._quote_here()
        if not quote:
            raise _unparseable(f"slot:{name} is cited without a quote")
        return [Citation(CitationKind.SLOT, name, quote)]

    def _scope(self, found: re.Match[str]) -> list[Citation]:
        checked = found[2].strip(" \t\r.*_`")
        if not found[1] or not checked:
            raise _unparseable("a scope says `scope: checked` and the files or scenes")
        return [Citation(CitationKind.SCOPE, checked)]

    def _file(self) -> Citation:
        path = self._path()
        if self.line[self.place : self.place + 1] == "§":
            return self._section(path)
        lines = self._lines_here()
        quote = self._quote_here()
        lines = lines or self._lines_here()
        if quote:
            return Citation(CitationKind.FILE_QUOTE, path, quote, lines)
        return Citation(CitationKind.FILE_LINES, path, "", lines)

    def _path(self) -> str:
        quoted = QUOTED_PATH.match(self.line, self.place)
        if quoted is not None:
            self.place = quoted.end()
            return self._named(quoted[1])
        start = self.place
        for locator in _LOCATORS:
            found = locator.search(self.line, start)
            if found is not None and found["mark"] != ";":
                self.place = found.start()
                return self._named(self.line[start : self.place])
        raise self._without_place(self.line[start:].partition(";")[0])

    def _named(self, raw: str) -> str:
        path = clean_path(raw)
        if not path:
            raise _unparseable("a quote, lines or a heading stand there without a file")
        if path in self.tool_ids:
            raise self._tool_named(path)
        return path

    def _without_place(self, raw: str) -> EvidenceSyntaxError:
        named = next((each for each in self.tool_ids if _names_tool(raw, each)), None)
        if named is not None:
            return self._tool_named(named)
        return _unparseable(f"{_short(raw)!r} names no quote, lines or heading")

    def _tool_named(self, tool_id: str) -> EvidenceSyntaxError:
        return EvidenceSyntaxError(
            EvidenceCode.RECEIPT_MISSING,
            f"{tool_id} is named without `receipt_id:` and the id of its receipt",
        )

    def _section(self, path: str) -> Citation:
        start = self.place + 1
        end = self.line.find(";", start)
        self.place = len(self.line) if end < 0 else end
        heading = self.line[start : self.place].strip(' \t\r*_`#"“”')
        if not heading:
            raise _unparseable(f"{path} § names no heading")
        return Citation(CitationKind.FILE_SECTION, path, heading=heading)

    def _lines_here(self) -> tuple[int, int] | None:
        found = _LINES_HERE.match(self.line, self.place)
        if found is None:
            return None
        self.place = found.end()
        first = int(found["first"])
        return first, int(found["last"] or first)

    def _quote_here(self) -> str:
        start = self.place
        while start < len(self.line) and self.line[start] in " \t:,(—\u2013-`*_":
            start += 1
        if start >= len(self.line) or self.line[start] not in OPENERS:
            return ""
        found = read_quote(self.line, start)
        if found is None:
            raise _unparseable("a quote is opened and never closed")
        quote, self.place = found
        if not quote.strip():
            raise _unparseable("a quote is empty")
        return quote

    def _skip_remark(self) -> None:
        end = self.line.find(";", self.place)
        end = len(self.line) if end < 0 else end
        remark = self.line[self.place : end]
        if _SOURCE_IN_REMARK.search(remark):
            raise _unparseable(f"sources are separated by `;`, unlike {_short(remark)!r}")
        self.place = end


def clean_path(raw: str) -> str:
    """Return a cited path as the project writes it: forward slashes, no dress around it."""
    path = raw.strip()
    link = _LINK.search(path)
    if link is not None:
        path = link[1]
    path = path.strip(' \t\r`*,:—\u2013-([#"“”')
    if path.startswith("_") and path.endswith("_"):
        path = path.strip("_")
    path = path.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    return path


def _names_tool(raw: str, tool_id: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(tool_id)}(?!\w)", raw) is not None


def _unparseable(detail: str) -> EvidenceSyntaxError:
    return EvidenceSyntaxError(EvidenceCode.EVIDENCE_UNPARSEABLE, detail)


def _short(text: str) -> str:
    return one_line(text, 80)
