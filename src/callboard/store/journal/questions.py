"""Rows of questions to the human, with their answers."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from callboard.core.canonical import Json, compact_json
from callboard.core.errors import NotFound
from callboard.core.vocabulary.run import Answer, Question
from callboard.store.connection import Connection
from callboard.store.journal.encoding import decode, row_of

# So many values a statement takes at the least.
_AT_ONCE: Final = 500


def insert_question(connection: Connection, answer: Answer) -> None:
    """Store a question without its answer; asking the same key again changes nothing."""
    connection.execute(
        "INSERT INTO questions (id, run_id, key, question, asked_at)"
        " VALUES (:id, :run_id, :key, :question, :asked_at) ON CONFLICT DO NOTHING",
        {
            "id": answer.id,
            "run_id": answer.run_id,
            "key": answer.key,
            "question": compact_json(asdict(answer.question)),
            "asked_at": answer.asked_at,
        },
    )


def give_answer(
    connection: Connection, question_id: str, value: Json, answered_by: str, at: int
) -> bool:
    """Store the answer to an open question; say whether it was still open."""
    cursor = connection.execute(
        "UPDATE questions SET value = :value, answered_at = :at, answered_by = :by"
        " WHERE id = :id AND answered_at IS NULL",
        {"id": question_id, "value": compact_json(value), "at": at, "by": answered_by},
    )
    return cursor.rowcount == 1


def load_question(connection: Connection, question_id: str) -> Answer:
    """Return a question; an unknown id is an error."""
    row = connection.execute(
        "SELECT * FROM questions WHERE id = :id", {"id": question_id}
    ).fetchone()
    if row is None:
        raise NotFound(
            f"There is no question {question_id!r} in this project",
            fix="`callboard answer` without arguments lists the open questions.",
            question_id=question_id,
        )
    return _record(row)


def find_question(connection: Connection, run_id: str, key: str) -> Answer | None:
    """Return what a run asked under a key, or None."""
    row = connection.execute(
        "SELECT * FROM questions WHERE run_id = :run_id AND key = :key",
        {"run_id": run_id, "key": key},
    ).fetchone()
    return _record(row) if row is not None else None


def list_questions(
    connection: Connection, *, run_id: str | None = None, only_open: bool = True
) -> list[Answer]:
    """Return questions of live runs, oldest first."""
    sql = (
        "SELECT questions.* FROM questions JOIN runs ON runs.id = questions.run_id"
        " WHERE (:run_id IS NULL OR questions.run_id = :run_id)"
    )
    if only_open:
        sql += (
            " AND questions.answered_at IS NULL"
            " AND runs.state NOT IN ('done', 'failed', 'cancelled')"
        )
    rows = connection.execute(
        sql + " ORDER BY questions.asked_at, questions.id", {"run_id": run_id}
    )
    return [_record(row) for row in rows]


def answers_to(connection: Connection, question_ids: Sequence[str]) -> list[Answer]:
    """Return those of some questions that have been answered."""
    found: list[Answer] = []
    for start in range(0, len(question_ids), _AT_ONCE):
        some = question_ids[start : start + _AT_ONCE]
        marks = ", ".join("?" * len(some))
        rows = connection.execute(
            f"SELECT * FROM questions WHERE id IN ({marks}) AND answered_at IS NOT NULL",  # noqa: S608 - marks only
            tuple(some),
        )
        found += [_record(row) for row in rows.fetchall()]
    return found


@row_of("questions", "id")
def _record(row: Any) -> Answer:
    raw = json.loads(row["question"])
    return Answer(
        id=row["id"],
        run_id=row["run_id"],
        key=row["key"],
        question=Question(
            text=raw["text"],
            choices=tuple(raw["choices"]),
            default=raw["default"],
            detail=raw["detail"],
            pattern=raw.get("pattern"),
        ),
        asked_at=row["asked_at"],
        value=decode(row["value"]),
        answered_at=row["answered_at"],
        answered_by=row["answered_by"],
    )
