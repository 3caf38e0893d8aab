"""What is printed about Alfred: turns, things talked about, reasons, rows, imports."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from callboard.choreography.turn.requests import ReadResult, UndoResult, WriteResult
from callboard.choreography.turn.shapes import TurnOutcome
from callboard.cli.output import clean, counted, echo, echo_json, remark
from callboard.core.vocabulary import Entity


def turn_report(outcome: TurnOutcome) -> None:
    """Print what Alfred answered; beside it what there is to know."""
    echo(clean(outcome.message))
    for warning in outcome.warnings:
        remark(clean(f"  note: {warning}"))


def entities_report(entities: Sequence[Entity], *, as_json: bool) -> None:
    """Print what a conversation is about, each with its state."""
    if as_json:
        echo_json([asdict(each) for each in entities])
        return
    if not entities:
        echo("Nothing is being talked about.")
    for each in entities:
        seen = f"turn {each.turn_last_ref}"
        pinned = ", pinned" if each.pinned else ""
        echo(clean(f"{each.state.value:<9}{each.type:<10} {each.label}  ({seen}{pinned})"))


def why_report(trace: Mapping[str, Any], *, as_json: bool) -> None:
    """Print why a turn did what it did."""
    if as_json:
        echo_json(dict(trace))
        return
    plan: dict[str, Any] = trace.get("plan") or {}
    echo(clean(f"You said: {trace['message']}"))
    echo(clean(f"Mode: {trace['mode']}. Goal: {plan.get('goal', 'answered without a plan')}"))
    results: dict[str, Any] = {each["step_id"]: each for each in trace.get("steps") or ()}
    for step in plan.get("steps") or ():
        ended = results.get(step["id"], {})
        echo(clean(f"  {step['id']} {step['step_type']}: {step['description']}"))
        if ended:
            echo(clean(f"      {ended['status']}: {ended['summary']}"))
    for assumed in trace.get("assumptions") or ():
        echo(clean(f"  assumed: {assumed}"))
    echo(f"{counted(len(trace.get('calls') or ()), 'model call')}")


def rows_report(result: ReadResult, lines: Sequence[str] | None, *, as_json: bool) -> None:
    """Print rows as the kitchen tells them, else one a line."""
    if as_json:
        echo_json(result.model_dump(mode="json"))
        return
    for line in _plain_lines(result) if lines is None else lines:
        echo(clean(line))
    if result.truncated:
        remark(f"… {result.total_count - result.row_count} more")
    if not result.rows:
        echo("There is nothing.")


def write_report(result: WriteResult, *, as_json: bool) -> None:
    """Print what was changed."""
    if as_json:
        echo_json(result.model_dump(mode="json"))
        return
    done = {"created": result.created, "changed": result.updated, "deleted": result.deleted}
    told = ", ".join(f"{count} {name}" for name, count in done.items() if count) or "nothing"
    echo(clean(f"{told}: {', '.join(result.labels)}"))
    for note in result.notes:
        remark(clean(f"  note: {note}"))


def undo_report(result: UndoResult, *, as_json: bool) -> None:
    """Print what came back."""
    if as_json:
        echo_json(result.model_dump(mode="json"))
        return
    echo(clean(f"Taken back: {', '.join(result.labels) or 'nothing with a name'}"))
    for note in result.notes:
        remark(clean(f"  note: {note}"))


def _plain_lines(result: ReadResult) -> list[str]:
    shown = [
        {name: value for name, value in row.items() if value not in (None, "", [])}
        for row in result.rows
    ]
    return [
        "  ".join(f"{name}={value}" for name, value in row.items() if name not in _UNSHOWN)
        for row in shown
    ]


_UNSHOWN = frozenset({"id", "created_at", "updated_at", "version", "ingredient_id", "recipe_id"})
