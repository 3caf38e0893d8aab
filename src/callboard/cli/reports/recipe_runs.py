"""What a run of a recipe has left, to be read: its texts, receipts, files and checks."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from callboard.choreography.recipe.definition import Recipe
from callboard.choreography.recipe.view import RunView
from callboard.cli.output import clean, counted, echo
from callboard.core.canonical import Json
from callboard.core.vocabulary.run import RunRecord
from callboard.store.connection import Connection
from callboard.studio.studio import Studio


@dataclass(frozen=True, slots=True)
class RecipeReport:
    """What is told of a run: slots by name, steps, checks, files, and which slots are its work."""

    slots: dict[str, dict[str, Json]]
    steps: list[dict[str, Any]]
    checks: list[dict[str, Any]]
    files: list[dict[str, Any]]
    works: tuple[str, ...]


def read_recipe_report(studio: Studio, run: RunRecord) -> RecipeReport:
    """Read it from the journal."""

    def read(connection: Connection) -> RecipeReport:
        view = RunView(connection, run)
        shape = view.to_json()
        return RecipeReport(
            view.cache(),
            view.lines(),
            cast("list[dict[str, Any]]", shape["dod_results"]),
            cast("list[dict[str, Any]]", shape["committed"]),
            _works(view.assignment.recipe),
        )

    return studio.database.read(read)


def _works(recipe: Recipe) -> tuple[str, ...]:
    """Return the slots that are the work: what is written or due, but not what it was made of."""
    written = {commit.slot for commit in recipe.commit if commit.slot is not None}
    made_of = {
        name for step in recipe.phase_b if step.output_slot in written for name in step.input_slots
    }
    due = written | {check.slot for check in recipe.dod if check.slot is not None} - made_of
    return tuple(step.output_slot for step in recipe.phase_b if step.output_slot in due)


def echo_recipe_report(report: RecipeReport) -> None:
    """Print it."""
    for slot in report.works:
        told = report.slots.get(slot)
        if told is None or not told.get("text"):
            continue
        echo(f"\n{slot.replace('_', ' ').capitalize()}\n")
        for line in clean(str(told["text"])).splitlines():
            echo(f"    {line}".rstrip())
        if told.get("evidence"):
            echo(f"    Evidence: {clean(str(told['evidence']))}")
    sections = (
        ("Receipts of the tools", _receipts(report)),
        ("Files", _files(report)),
        ("Definition of done", _checks(report)),
    )
    for title, lines in sections:
        echo(f"\n{title}\n")
        for line in lines:
            echo(f"    {line}")


def _receipts(report: RecipeReport) -> Iterator[str]:
    for step in report.steps:
        if step.get("receipt_id"):
            yield f"{step['receipt_id']}  {step['tool']}: {clean(str(step['output_preview']))}"
    for each in report.files:
        proof = each.get("proof")
        if proof:
            yield f"{proof['receipt_id']}  {proof['tool']}: {clean(str(proof['told']))}"


def _files(report: RecipeReport) -> Iterator[str]:
    for each in report.files:
        if each.get("mode") == "propose":
            issue = f", issue {each['issue']}" if each.get("issue") else ""
            yield f"proposed  {each['path']}{issue}: nothing is written without you"
            yield f"          {clean(str(each.get('reason') or ''))}"
        else:
            yield f"written   {each['path']}"
        proof = each.get("proof")
        if proof and proof["verdict"] == "NOT_CHECKED":
            yield "          not checked: no tool here judges such a text"
    if not report.files:
        yield "none"


def _checks(report: RecipeReport) -> Iterator[str]:
    for each in report.checks:
        met = "met     " if each.get("passed") else "not met "
        why = f": {clean(str(each['reason']))}" if each.get("reason") else ""
        yield f"{met} {each['check']} {each['target']}{why}"
    met_count = sum(bool(each.get("passed")) for each in report.checks)
    yield f"{met_count} of {counted(len(report.checks), 'check')} met"
