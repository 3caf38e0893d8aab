"""Everything a book is made in, opened together; and what is written down at its milestones.

A milestone is the passage from one mode to the next. Each may be repeated without harm: the same
book gives the same files.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from callboard.packs.writers_factory.bible import Bible
from callboard.packs.writers_factory.exchange.export import Edition, export_manuscript
from callboard.packs.writers_factory.exchange.pages import markdown_of
from callboard.packs.writers_factory.health.room import Health
from callboard.packs.writers_factory.health.values import HealthReport
from callboard.packs.writers_factory.manuscript import Manuscript
from callboard.packs.writers_factory.memory import Memory, Notebooks
from callboard.packs.writers_factory.modes import Modes
from callboard.packs.writers_factory.modes.gates import Neighbours
from callboard.packs.writers_factory.revision.completion import read_completion
from callboard.packs.writers_factory.revision.revision import Revision
from callboard.packs.writers_factory.scenes.scenes import Scenes
from callboard.packs.writers_factory.voice import Voice
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


@dataclass(frozen=True, slots=True)
class Rooms:
    """What the Foreman knows of and the doors can touch."""

    bible: Bible
    modes: Modes
    memory: Memory
    notebooks: Notebooks
    voice: Voice
    manuscript: Manuscript
    scenes: Scenes
    revision: Revision
    health: Health

    @classmethod
    def open(cls, workspace: Workspace) -> "Rooms":
        """Open them on a project, each looking into its neighbours."""
        notebooks, memory = Notebooks(workspace), Memory(workspace)
        voice, manuscript = Voice(workspace), Manuscript(workspace)

        bible = Bible(workspace, notebooks.labels)
        around = Neighbours(
            voice=voice.status,
            outline=manuscript.outline,
            scenes=manuscript.scenes,
            remember=memory.save_decision,
            effects=milestones(workspace),
        )
        return cls(
            bible=bible,
            modes=Modes(workspace, bible, around),
            memory=memory,
            notebooks=notebooks,
            voice=voice,
            manuscript=manuscript,
            scenes=Scenes(workspace),
            revision=Revision(workspace),
            health=Health(workspace),
        )
