"""Rows of plans. A plan is one document: it is small, and always changed as a whole."""

from dataclasses import asdict, replace
from typing import Any

from callboard.core.canonical import Json, compact_json
from callboard.core.errors import Conflict, NotFound
from callboard.core.vocabulary.work import Plan, PlanState, Task, TaskState
from callboard.store.connection import Connection
from callboard.store.journal.encoding import decode, row_of


def insert_plan(connection: Connection, plan: Plan) -> None:
    """Store a new plan."""
    connection.execute(
        "INSERT INTO plans (id, session_id, state, document, version, created_at, updated_at)"
        " VALUES (:id, :session_id, :state, :document, :version, :created_at, :updated_at)",
        _row(plan),
    )


def update_plan(connection: Connection, plan: Plan) -> Plan:
    """Store what became of a plan; if somebody else changed it meanwhile, nothing is stored."""
    later = replace(plan, version=plan.version + 1)
    changed = connection.execute(
        "UPDATE plans SET state = :state, document = :document, version = :version,"
        " updated_at = :updated_at WHERE id = :id AND version = :seen",
        {**_row(later), "seen": plan.version},
    ).rowcount
    if changed != 1:
        raise Conflict(
            f"Plan {plan.id} was changed by somebody else meanwhile",
            fix=f"Look at it with `callboard plan show {plan.id}` and try again.",
            plan_id=plan.id,
        )
    return later


def load_plan(connection: Connection, plan_id: str) -> Plan:
    """Return a plan by its id; an unknown one is an error."""
    row = connection.execute("SELECT * FROM plans WHERE id = :id", {"id": plan_id}).fetchone()
    if row is None:
        raise NotFound(
            f"There is no plan {plan_id!r} in this project",
            fix="`callboard plan list` shows the plans.",
            plan_id=plan_id,
        )
    return _plan(row)


def list_plans(connection: Connection, session_id: str | None = None) -> list[Plan]:
    """Return plans, newest first."""
    where = " WHERE session_id = :session_id" if session_id is not None else ""
    rows = connection.execute(
        f"SELECT * FROM plans{where} ORDER BY created_at DESC, id DESC",  # noqa: S608 - constant
        {"session_id": session_id} if session_id is not None else {},
    ).fetchall()
    return [_plan(row) for row in rows]


def plan_to_json(plan: Plan) -> dict[str, Json]:
    """Return a plan as it is stored."""
    return {**asdict(plan), "state": plan.state.value, "tasks": [_task(t) for t in plan.tasks]}


def _task(task: Task) -> dict[str, Json]:
    data: dict[str, Any] = asdict(task)
    return {
        **data,
        "state": task.state.value,
        "deps": list(task.deps),
        "run_history": list(task.run_history),
    }


def _row(plan: Plan) -> dict[str, Any]:
    return {
        "id": plan.id,
        "session_id": plan.session_id,
        "state": plan.state.value,
        "document": compact_json(plan_to_json(plan)),
        "version": plan.version,
        "created_at": plan.created_at,
        "updated_at": plan.updated_at,
    }


@row_of("plans", "id")
def _plan(row: Any) -> Plan:
    data: dict[str, Any] = decode(row["document"])
    data["tasks"] = tuple(_read_task(task) for task in data["tasks"])
    data["state"] = PlanState(row["state"])
    data["version"] = row["version"]
    return Plan(**data)


def _read_task(data: dict[str, Any]) -> Task:
    data["state"] = TaskState(data["state"])
    data["deps"] = tuple(data["deps"])
    data["run_history"] = tuple(data["run_history"])
    return Task(**data)
