"""Where plans are kept: the database, and a readable copy per plan, in the shape doors show."""

import asyncio
import json
import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from callboard.core.canonical import Json
from callboard.core.clock import Clock, iso
from callboard.core.errors import CallboardError, NotFound
from callboard.core.events import PlanChanged
from callboard.core.ids import IdMaker
from callboard.core.vocabulary import Plan, Task
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.files import write_atomically
from callboard.store.journal.events import append_event
from callboard.store.journal.plans import insert_plan, list_plans, load_plan, update_plan

_log = logging.getLogger(__name__)


def plan_to_json(plan: Plan) -> dict[str, Json]:
    """Return a plan in the shape of `plan.json`."""
    return {
        "plan_id": plan.id,
        "session_id": plan.session_id,
        "created_by": plan.created_by,
        "intent": plan.intent,
        "status": plan.state.value,
        "created_at": iso(plan.created_at),
        "updated_at": iso(plan.updated_at),
        "decomposition_run_id": plan.decomposed_by,
        "tasks": [task_to_json(task) for task in plan.tasks],
    }


def task_to_json(task: Task) -> dict[str, Json]:
    """Return one task of it."""
    return {
        "id": task.id,
        "description": task.description,
        "recipe_id": task.recipe_id,
        "args": task.args,
        "deps": list(task.deps),
        "dod": task.dod or None,
        "status": task.state.value,
        "scoping_question": task.scoping_question,
        "scoping_answer": task.scoping_answer,
        "reason": task.reason or None,
        "run_id": task.run_id,
        "run_history": list(task.run_history),
        "forced": task.forced,
        "review": task.review,
    }


Change = Callable[[Plan], Plan]


class Plans:
    """The plans of a project."""

    def __init__(
        self, database: Database, ids: IdMaker, clock: Clock, sessions_folder: Path | None
    ) -> None:
        """Take the store and where the copies are kept; None keeps no copies."""
        self._database = database
        self._ids = ids
        self._clock = clock
        self._folder = sessions_folder
        self._copying = threading.Lock()

    async def add(self, plan: Plan) -> Plan:
        """Store a new plan under an id of its own."""
        now = self._clock.now_ms()
        stored = replace(plan, id=self._ids.make("plan"), created_at=now, updated_at=now)

        def work(connection: Connection) -> None:
            insert_plan(connection, stored)
            self._tell(connection, stored)

        await self._database.write(work)
        await asyncio.to_thread(self.copy, stored.id)
        return stored

    def get(self, plan_id: str) -> Plan:
        """Return a plan by id; `last` is the newest one."""
        if plan_id == "last":
            newest = self.list()
            if not newest:
                raise NotFound(
                    "This project has no plan yet", fix='Make one: `callboard plan new "…"`.'
                )
            return newest[0]
        return self._database.read(lambda connection: load_plan(connection, plan_id))

    def list(self, session_id: str | None = None) -> list[Plan]:
        """Return plans, newest first."""
        return self._database.read(lambda connection: list_plans(connection, session_id))

    async def change(self, plan_id: str, change: Change) -> Plan:
        """Change a plan; the change sees the plan as it is when it is stored."""
        stored = await self._database.write(
            lambda connection: self.change_with(connection, plan_id, change)
        )
        await asyncio.to_thread(self.copy, stored.id)
        return stored

    def change_with(self, connection: Connection, plan_id: str, change: Change) -> Plan:
        """Do the same inside a write transaction of the caller, such as one that stores a run."""
        plan = load_plan(connection, plan_id)
        changed = replace(change(plan), updated_at=self._clock.now_ms())
        stored = update_plan(connection, changed)
        self._tell(connection, stored)
        return stored

    def copy(self, plan_id: str) -> None:
        """Bring the readable copy up to date; failing to write it takes nothing from the plan."""
        if self._folder is None:
            return
        # Read within the lock, so that of two copies the newer plan is written last.
        with self._copying:
            plan = self.get(plan_id)
            text = json.dumps(plan_to_json(plan), ensure_ascii=False, indent=2)
            path = self._folder / plan.id / "plan.json"
            try:
                write_atomically(path, text.encode("utf-8", "replace"), within=self._folder.parent)
            except (OSError, CallboardError) as error:
                _log.warning("the copy of plan %s was not written: %s", plan.id, error)

    def _tell(self, connection: Connection, plan: Plan) -> None:
        body = PlanChanged(
            plan.id, plan.state.value, {str(task.id): task.state.value for task in plan.tasks}
        )
        append_event(connection, body, at=self._clock.now_ms(), session_id=plan.session_id)
