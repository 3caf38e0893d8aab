"""Reports as Markdown pages the writer reads. Lays out what was found; finds nothing."""

from collections.abc import Sequence
from typing import Final

from callboard.core.words import shorten
from callboard.packs.writers_factory.model import Severity
from callboard.packs.writers_factory.revision.reports.findings import AuditItem
from callboard.packs.writers_factory.revision.reports.voices import VoiceReport

AUDIT_PATH: Final = "content/Reports/Continuity_Audit.md"
VOICE_PATH: Final = "content/Reports/Voice_Report.md"
VOICE_DATA_PATH: Final = "content/Reports/Voice_Report.json"
_MOST_QUOTE_CHARS: Final = 400
_BAR: Final = 40


def audit_page(title: str, items: Sequence[AuditItem], notes: Sequence[str] = ()) -> str:
    """Return the continuity audit as a page, by chapter."""
    counts = {level: sum(item.severity is level for item in items) for level in Severity}
    told = ", ".join(f"{counts[level]} {level}" for level in reversed(Severity))
    lines = [f"# Continuity audit: {_line(title)}", "", f"{len(items)} items ({told}).", ""]
    lines += [f"- {note}" for note in notes]
    chapters = sorted({item.chapter for item in items}, key=lambda each: (each == 0, each))
    for chapter in chapters:
        lines += ["", f"## Chapter {chapter}" if chapter else "## The book as a whole", ""]
        for item in items:
            if item.chapter == chapter:
                lines += _item(item)
    return "\n".join(lines).rstrip() + "\n"


def voice_page(title: str, report: VoiceReport) -> str:
    """Return the voice report as a page."""
    lines = [f"# Voice report: {_line(title)}", ""]
    lines += [f"- {note}" for note in report.notes]
    lines += ["", "## Scenes", "", "| scene | act | distance | verdict | patterns |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for voice in report.scenes:
        counted = ", ".join(f"{_cell(name)} {count}" for name, count in voice.patterns.items())
        shown = "" if voice.distance is None else f"{voice.distance:.3f}"
        lines.append(f"| {voice.scene_id} | {voice.act} | {shown} | {voice.verdict} | {counted} |")
    lines += ["", "## Drift by chapter", ""]
    lines += [
        f"- {chapter}: {value:.3f} {'#' * round(value * _BAR)}"
        for chapter, value in report.drift.items()
    ]
    lines += ["", "## Expected evolution", ""]
    lines += [f"- Act {act}: {_line(text)}" for act, text in report.evolution.items()]
    lines += ["", "## Paragraphs that stand out", ""]
    for each in report.outliers:
        lines += [f"{each.scene_id}, line {each.line} ({each.distance:.3f}):", ""]
        lines += [*_quoted(each.quote), ""]
    return "\n".join(lines).rstrip() + "\n"


def _item(item: AuditItem) -> list[str]:
    where = f" {item.scene_id}:" if item.scene_id else ""
    lines = [f"- **{item.severity}** ({item.kind}){where} {_line(item.problem)}"]
    for quote in item.quotes:
        lines += ["", *(f"  {line}" for line in _quoted(quote))]
    return [*lines, "", f"  Fix: {_line(item.fix)}", ""]


def _quoted(text: str) -> list[str]:
    short = shorten(text, _MOST_QUOTE_CHARS, on_top=True)
    return [f"> {line}".rstrip() for line in short.splitlines()]


def _line(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return _line(text).replace("|", "\\|")
