"""One citation at a time against what it names. Judges no role; that is what rules are for."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from callboard.replies.evidence.bearing import bears_on, keys_of
from callboard.replies.evidence.citation import (
    Citation,
    CitationKind,
    EvidenceCode,
    SourceFile,
    Sources,
)
from callboard.replies.evidence.grammar import clean_path
from callboard.replies.evidence.quotes import (
    MIN_QUOTE_CHARS,
    MIN_QUOTE_WORDS,
    holds_quote,
    is_quotable,
    normalise,
)
from callboard.replies.evidence.rules import SLOT

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX: Final = re.compile(r" {0,3}#{1,6}[ \t]++(.*)$")
_SETEXT: Final = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*$")
_SCENES: Final = re.compile(
    r"(?:all |the |every )?(?:scenes?|chapters?|acts?|parts?|files?|cards?)"
    r"(?:[\s#,]*(?:[0-9]{1,6}|[-\u2013—&]|to|and|through))*",
    re.IGNORECASE,
)
_FILE_ENDING: Final = re.compile(r"\.\w")
_BETWEEN: Final = re.compile(r"\band\b|\n")


@dataclass(frozen=True, slots=True)
class CheckedCitation:
    """A citation and what was found: no code means that it holds.

    `origin` is the kind of the cited file, `slot`, or the tool of the cited receipt. `told` is
    what the source says; None where there is nothing that a claim could be about.
    """

    citation: Citation
    code: EvidenceCode | None = None
    detail: str = ""
    origin: str = ""
    told: str | None = None

    @property
    def holds(self) -> bool:
        """Whether the source is there and says what it is cited for."""
        return self.code is None


def verify(citation: Citation, sources: Sources) -> CheckedCitation:
    """Look a citation up; never raises for what a model may have written."""
    return _VERIFIERS[citation.kind](citation, sources)


def bears(claim: str, checked: CheckedCitation) -> bool:
    """Say whether a source that holds is about a claim; what was searched in vain may be."""
    if checked.told is None:
        return True
    if checked.citation.kind is CitationKind.RECEIPT:
        return bool(keys_of(claim) & keys_of(checked.told))
    return bears_on(claim, checked.told)


def text_lines(text: str) -> list[str]:
    """Return the lines of a text as an editor counts them."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if lines and not lines[-1] else lines


def _file(citation: Citation, sources: Sources) -> CheckedCitation:
    found = sources.file(citation.source)
    if found is None:
        return CheckedCitation(
            citation, EvidenceCode.FILE_NOT_FOUND, f"{citation.source} is not in the project"
        )
    if citation.kind is CitationKind.FILE_SECTION:
        return _section(citation, found)
    text = found.text
    if citation.lines is not None:
        first, last = citation.lines
        lines = text_lines(text)
        if not 1 <= first <= last <= len(lines):
            return CheckedCitation(
                citation,
                EvidenceCode.LINE_OUT_OF_RANGE,
                f"{found.path} has {len(lines)} lines, not L{first}-{last}",
                found.kind,
            )
        text = "\n".join(lines[first - 1 : last])
    if citation.quote:
        return _quote(citation, text, found.path, found.kind)
    return CheckedCitation(citation, origin=found.kind, told=text)


def _section(citation: Citation, found: SourceFile) -> CheckedCitation:
    wanted = _heading_form(citation.heading)
    if wanted and any(_heading_form(each) == wanted for each in _headings(found.text)):
        return CheckedCitation(citation, origin=found.kind, told=_section_text(found.text, wanted))
    detail = f"{found.path} has no heading {citation.heading!r}"
    return CheckedCitation(citation, EvidenceCode.SECTION_NOT_FOUND, detail, found.kind)


def _quote(citation: Citation, text: str, where: str, origin: str) -> CheckedCitation:
    if not is_quotable(citation.quote):
        detail = (
            f"{citation.quote!r} proves nothing: a quote has at least {MIN_QUOTE_WORDS} words"
            f" and {MIN_QUOTE_CHARS} characters"
        )
        return CheckedCitation(citation, EvidenceCode.QUOTE_NOT_FOUND, detail, origin)
    if holds_quote(text, citation.quote):
        return CheckedCitation(citation, origin=origin, told=citation.quote)
    detail = f"{where} does not say {citation.quote!r}"
    return CheckedCitation(citation, EvidenceCode.QUOTE_NOT_FOUND, detail, origin)


def _slot(citation: Citation, sources: Sources) -> CheckedCitation:
    text = sources.slot(citation.source)
    if text is None:
        detail = f"slot {citation.source!r} was not shown to this agent"
        return CheckedCitation(citation, EvidenceCode.SLOT_NOT_VISIBLE, detail, SLOT)
    return _quote(citation, text, f"slot {citation.source!r}", SLOT)


def _receipt(citation: Citation, sources: Sources) -> CheckedCitation:
    found = sources.receipt(citation.source)
    if found is None:
        detail = f"there is no receipt {citation.source}"
        return CheckedCitation(citation, EvidenceCode.RECEIPT_UNKNOWN, detail)
    if found.session_id != sources.session_id:
        detail = f"{citation.source} belongs to another session"
        return CheckedCitation(citation, EvidenceCode.RECEIPT_FOREIGN_SESSION, detail, found.tool)
    if not found.is_signature_valid:
        detail = f"{citation.source} is not what was signed when {found.tool} ran"
        return CheckedCitation(citation, EvidenceCode.RECEIPT_SIGNATURE_INVALID, detail, found.tool)
    if not found.has_succeeded:
        # It stands, but a tool that failed found nothing a role could rest on.
        return CheckedCitation(citation, None, f"{found.tool} did not succeed", "")
    return CheckedCitation(citation, origin=found.tool, told=found.told)


def _issue(citation: Citation, sources: Sources) -> CheckedCitation:
    if sources.has_issue(int(citation.source)):
        return CheckedCitation(citation, origin="issue")
    detail = f"there is no issue #{citation.source}"
    return CheckedCitation(citation, EvidenceCode.ISSUE_UNKNOWN, detail)


def _scope(citation: Citation, sources: Sources) -> CheckedCitation:
    for part in _scope_parts(citation.source):
        named = part.strip(" \t.()`*")
        if not named or _SCENES.fullmatch(named):
            continue
        path = clean_path(re.sub(_SCENES.pattern + r"\s*:?\s*", "", named, count=1, flags=re.I))
        if sources.file(clean_path(named)) is None and (not path or sources.file(path) is None):
            detail = f"the scope names {named!r}, which is neither scenes nor a file"
            return CheckedCitation(citation, EvidenceCode.FILE_NOT_FOUND, detail)
    return CheckedCitation(citation, origin="scope")


def _scope_parts(scope: str) -> Iterator[str]:
    """The names of a scope: "and" stands between two only if a file is still to come."""
    for listed in scope.split(","):
        endings = [found.start() for found in _FILE_ENDING.finditer(listed)]
        last_ending = endings[-1] if endings else -1
        begun = 0
        for found in _BETWEEN.finditer(listed):
            if found.group() == "\n" or found.end() <= last_ending:
                yield listed[begun : found.start()]
                begun = found.end()
        yield listed[begun:]


def _headings(text: str) -> list[str]:
    found: list[str] = []
    fence = ""
    before = ""
    for line in text_lines(text):
        opened = _FENCE.match(line)
        if fence:
            closes = opened is not None and opened[1].startswith(fence)
            fence = "" if closes else fence
        elif opened is not None:
            fence = opened[1]
        elif (atx := _ATX.match(line)) is not None:
            found.append(atx[1].rstrip(" \t").rstrip("#").rstrip(" \t"))
        elif before.strip() and _SETEXT.match(line):
            found.append(before)
        before = line
    return found


def _section_text(text: str, wanted: str) -> str:
    """Return a section with its heading, up to the next one."""
    kept: list[str] = []
    for line in text_lines(text):
        atx = _ATX.match(line)
        if atx is not None and kept:
            break
        if kept or (atx is not None and _heading_form(atx[1].rstrip("# \t")) == wanted):
            kept.append(line)
    return "\n".join(kept) or wanted


def _heading_form(heading: str) -> str:
    return normalise(heading).strip(" .:#").casefold()


_VERIFIERS: Final[Mapping[CitationKind, Callable[[Citation, Sources], CheckedCitation]]] = {
    CitationKind.FILE_QUOTE: _file,
    CitationKind.FILE_LINES: _file,
    CitationKind.FILE_SECTION: _file,
    CitationKind.RECEIPT: _receipt,
    CitationKind.SLOT: _slot,
    CitationKind.SCOPE: _scope,
    CitationKind.ISSUE: _issue,
}
