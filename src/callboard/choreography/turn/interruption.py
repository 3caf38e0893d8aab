"""Interruptions: turns that never ended. The next reply says what they had done."""

from typing import Any, Final, cast

from callboard.choreography.turn.remembering import TurnRow, list_turns
from callboard.core.vocabulary import StepState
from callboard.store.connection import Connection
from callboard.store.journal.runs import find_run
from callboard.store.journal.steps import load_journal, with_output

_WRITES: Final = ("/write/", "/confirmed/")


def find_interrupted(connection: Connection, session_id: str, before: int) -> list[TurnRow]:
    """Return turns whose run is over though they never were."""
    found: list[TurnRow] = []
    for row in list_turns(connection, session_id, status="running"):
        run = find_run(connection, row.run_id)
        if row.turn < before and (run is None or run.is_terminal):
            found.append(row)
    return found


def tell_interrupted(connection: Connection, row: TurnRow) -> str:
    """Return what an interrupted turn had done, in words."""
    run = find_run(connection, row.run_id)
    done: list[str] = []
    if run is not None:
        for key, step in load_journal(connection, run).items():
            if step.state is StepState.DONE and any(part in f"/{key}" for part in _WRITES):
                done += _labels(with_output(connection, step).output)
    what = f"Done before that: {', '.join(done)}." if done else "Nothing had been changed."
    return f"Your request “{row.message[:80]}” was interrupted. {what}"


def _labels(output: Any) -> list[str]:
    if not isinstance(output, dict):
        return []
    done = cast("dict[str, Any]", output).get("done")
    if not isinstance(done, dict):
        return []
    result = cast("dict[str, Any]", done)
    words = str(result.get("table", "")).replace("_", " ")
    return [f"{label} ({words})" for label in result.get("labels") or [f"{words} changed"]]
