"""Records as JSON for programs, one shape each in every command; open questions as a list."""

from dataclasses import asdict
from typing import Any

from callboard.cli.output import echo, echo_json, moment, one_line, remark
from callboard.cli.reading import OpenJournal, answer_command
from callboard.core.canonical import Json
from callboard.core.vocabulary.run import Answer, RunRecord, SessionRecord, StepRecord
from callboard.store.connection import Connection
from callboard.store.journal.questions import list_questions
from callboard.store.journal.runs import load_run


def run_shape(run: RunRecord) -> dict[str, Json]:
    """Return a run as JSON; id and state also under the names that routes gave them."""
    return {
        "id": run.id,
        "run_id": run.id,
        "status": run.state.value,
        "session_id": run.session_id,
        "choreography": run.choreography,
        "title": run.title,
        "state": run.state.value,
        "args": run.args,
        "result": run.result,
        "error": run.error.to_json() if run.error is not None else None,
        "parent_id": run.parent_id,
        "origin": run.origin,
        "created_at": run.created_at,
        "updated_at": run.updated_at,
    }


def step_shape(step: StepRecord, *, with_output: bool = False) -> dict[str, Json]:
    """Return a step as JSON; its output only where it was asked for."""
    shape: dict[str, Json] = {
        "run_id": step.run_id,
        "key": step.key,
        "seq": step.seq,
        "kind": step.kind.value,
        "effect": step.effect.value,
        "state": step.state.value,
        "slot": step.slot,
        "receipt_id": step.receipt_id,
        "error": step.error.to_json() if step.error is not None else None,
        "detail": step.detail,
        "output_hash": step.output_hash,
        "started_at": step.started_at,
        "ended_at": step.ended_at,
    }
    if with_output:
        shape["output"] = step.output
    return shape


def session_shape(session: SessionRecord) -> dict[str, Json]:
    """Return a session as JSON."""
    shape: dict[str, Any] = asdict(session)
    shape["state"] = session.state.value
    return shape


def question_shape(answer: Answer) -> dict[str, Json]:
    """Return a question, answered or not, as JSON."""
    return {
        "id": answer.id,
        "run_id": answer.run_id,
        "key": answer.key,
        "text": answer.question.text,
        "choices": list(answer.question.choices),
        "default": answer.question.default,
        "asked_at": answer.asked_at,
        "is_open": answer.is_open,
        "value": answer.value,
        "answered_at": answer.answered_at,
        "answered_by": answer.answered_by,
    }


def questions_report(journal: OpenJournal, *, as_json: bool) -> None:
    """List what waits for the human, oldest first."""
    nothing: list[Answer] = []

    def work(connection: Connection) -> list[Answer]:
        # A turn of a conversation asks its own person, and nobody else.
        return journal.viewer.among(
            connection,
            list_questions(connection),
            lambda q: load_run(connection, q.run_id).session_id,
        )

    questions = journal.read_or(nothing, work)
    if as_json:
        echo_json({"questions": [question_shape(each) for each in questions]})
        return
    if not questions:
        remark("No run asks anything.")
    for each in questions:
        choices = f" [{' / '.join(each.question.choices)}]" if each.question.choices else ""
        echo(f"{each.id}  {moment(each.asked_at)}  run {each.run_id}")
        echo(f"  {one_line(each.question.text)}{choices}")
        echo(f"  {answer_command(each.id, journal.project)}")
