"""A drafted scene as its author reads it: the text, what the staff says, and what proves it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.choreography.recipe.view import RunView
from callboard.cli.output import clean, counted, echo
from callboard.core.canonical import Json
from callboard.core.vocabulary.run import RunRecord
from callboard.store.connection import Connection
from callboard.studio.studio import Studio

_TEXTS: Final = (
    ("edited_draft", "The draft"),
    ("continuity_report", "Continuity"),
    ("critique", "The critic"),
)


@dataclass(frozen=True, slots=True)
class SceneReport:
    """What a run that drafts a scene has left."""

    slots: dict[str, dict[str, Json]]
    steps: list[dict[str, Any]]
    checks: list[dict[str, Any]]
    files: list[dict[str, Any]]


def read_scene_report(studio: Studio, run: RunRecord) -> SceneReport:
    """Read it from the journal."""

    def read(connection: Connection) -> SceneReport:
        view = RunView(connection, run)
        shape = view.to_json()
        return SceneReport(
            view.cache(),
            view.lines(),
            cast("list[dict[str, Any]]", shape["dod_results"]),
            cast("list[dict[str, Any]]", shape["committed"]),
        )

    return studio.database.read(read)


def echo_scene_report(report: SceneReport) -> None:
    """Print it."""
    for slot, title in _TEXTS:
        told = report.slots.get(slot)
        if told is None or not told.get("text"):
            continue
        echo(f"\n{title}\n")
        for line in clean(str(told["text"])).splitlines():
            echo(f"    {line}".rstrip())
        if told.get("evidence"):
            echo(f"    Evidence: {clean(str(told['evidence']))}")
    echo("\nReceipts of the tools\n")
    for step in report.steps:
        if step.get("receipt_id"):
            echo(f"    {step['receipt_id']}  {step['tool']}: {clean(str(step['output_preview']))}")
    for title, lines in (("Files", _files(report)), ("Definition of done", _checks(report))):
        echo(f"\n{title}\n")
        for line in lines:
            echo(f"    {line}")


def _files(report: SceneReport) -> Iterator[str]:
    for each in report.files:
        if each.get("mode") == "propose":
            issue = f", issue {each['issue']}" if each.get("issue") else ""
            yield f"proposed  {each['path']}{issue}: nothing is written without you"
        else:
            yield f"written   {each['path']}"
    if not report.files:
        yield "none"


def _checks(report: SceneReport) -> Iterator[str]:
    for each in report.checks:
        met = "met     " if each.get("passed") else "not met "
        yield f"{met} {each['check']} {each['target']}"
    met_count = sum(bool(each.get("passed")) for each in report.checks)
    yield f"{met_count} of {counted(len(report.checks), 'check')} met"
