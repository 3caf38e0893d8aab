"""Milestones: what is written down when the book passes from one mode to the next.

Each may be repeated without harm: the same book gives the same files.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from callboard.packs.writers_factory.exchange.export import Edition, export_manuscript
from callboard.packs.writers_factory.exchange.pages import markdown_of
from callboard.packs.writers_factory.health.room import Health
from callboard.packs.writers_factory.health.values import HealthReport
from callboard.packs.writers_factory.revision.completion import read_completion
from callboard.packs.writers_factory.workspace import Workspace

FIRST_DRAFT: Final = "content/Archive/First_Draft.md"
HEALTH_PAGE: Final = "content/Reports/Health_Report.md"


def milestones(workspace: Workspace) -> dict[str, Callable[[], Awaitable[object]]]:
    """Return what happens on entering a mode, by the names `modes.yaml` uses."""

    async def freeze_first_draft() -> None:
        book = Edition.of(workspace)
        if book.written and workspace.files.sha256(FIRST_DRAFT) is None:
            text = markdown_of(book.page, book.scenes, book.chapters)
            workspace.files.write_text(FIRST_DRAFT, text)

    async def export() -> None:
        book = Edition.of(workspace)
        # Whoever finishes a book has exported it, by the name they gave.
        if book.written and not read_completion(workspace).is_complete:
            await export_manuscript(workspace, book, ())

    async def store_health_report() -> None:
        report = Health(workspace).latest()
        if report is not None:
            workspace.files.write_text(HEALTH_PAGE, _page(report))

    return {
        "freeze_first_draft": freeze_first_draft,
        "export_manuscript": export,
        "store_health_report": store_health_report,
    }


def _page(report: HealthReport) -> str:
    score = report.overall_score
    told = "No score: too little to judge by" if score is None else f"Score: {score:.0f} of 100"
    lines = ["# Health of the manuscript", "", told, ""]
    for check in report.checks:
        lines += [f"## {check.check_id}: {check.status.value}", ""]
        for finding in check.findings:
            lines.append(f"- **{finding.severity.value}** {finding.title}")
            lines += [f"  - {each.scene_id}: “{each.quote}”" for each in finding.evidence]
            if finding.recommendation:
                lines.append(f"  - {finding.recommendation}")
        if not check.findings:
            lines.append("Nothing found.")
        lines.append("")
    return "\n".join(lines)
