"""A person at a kitchen's database, with the kitchen's own rules."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from kitchen_base import NOW_MS, reader_of
from sqlalchemy import Connection

from callboard.choreography.turn.domain import Who
from callboard.choreography.turn.requests import (
    ReadRequest,
    UndoResult,
    WriteKey,
    WritePreview,
    WriteRequest,
    WriteResult,
)
from callboard.library.relational.base import Base
from callboard.library.relational.dates import Today
from callboard.library.relational.undo import undo_last_turn
from callboard.packs.alfred.kitchen.opening import kitchen_log, kitchen_writer
from callboard.packs.alfred.kitchen.schema import kitchen_tables

# Wednesday 2026-05-20, half past ten in the morning.
TODAY = Today.at(NOW_MS, "Europe/Berlin")


class KitchenDesk:
    """Reads, writes and undoes for one person."""

    def __init__(self, base: Base, user: str = "ann", session: str = "sess-1") -> None:
        self.base = base
        self.who = Who(user, session)
        self.tables = kitchen_tables()
        self.writer = kitchen_writer(base, self.tables, lambda: uuid4().hex)

    def write(
        self, turn: int = 1, confirmed: WritePreview | None = None, **request: Any
    ) -> WriteResult:
        wanted = WriteRequest.model_validate(request)
        key = WriteKey(session_id=self.who.session_id, turn=turn, step_id="g0.s0")
        return self.base.write_now(
            lambda c: self.writer.write(c, self.who, TODAY, wanted, key, confirmed)
        )

    def add(self, table: str, turn: int = 1, **record: Any) -> WriteResult:
        return self.base.write_now(self.writing(table, turn, **record))

    def writing(
        self, table: str, turn: int = 1, **record: Any
    ) -> Callable[[Connection], WriteResult]:
        """Return the unit of work that adds a row."""
        wanted = WriteRequest.model_validate({"op": "create", "table": table, "records": [record]})
        key = WriteKey(session_id=self.who.session_id, turn=turn, step_id="g0.s0")
        return lambda c: self.writer.write(c, self.who, TODAY, wanted, key)

    def preview(self, **request: Any) -> WritePreview:
        wanted = WriteRequest.model_validate(request)
        return self.base.read_now(lambda c: self.writer.preview(c, self.who, TODAY, wanted))

    def undo(self) -> UndoResult:
        return self.base.write_now(
            lambda c: undo_last_turn(
                c, self.who, self.tables, kitchen_log(), "2026-05-20T09:00:00.000000Z"
            )
        )

    def rows(self, table: str, **request: Any) -> list[dict[str, Any]]:
        wanted = ReadRequest.model_validate({"table": table, "limit": 200, **request})
        reader = reader_of(self.base, self.who.user_id)
        return self.base.read_now(lambda c: reader.read(c, wanted)).rows

    def stock(self) -> dict[str, list[tuple[float | None, str | None]]]:
        """Return what there is, by ingredient."""
        found: dict[str, list[tuple[float | None, str | None]]] = {}
        for row in self.rows("inventory_items", include=["ingredient"]):
            found.setdefault(row["ingredient"]["name"], []).append((row["quantity"], row["unit"]))
        return {name: sorted(amounts, key=str) for name, amounts in found.items()}


def named(name: str) -> list[dict[str, Any]]:
    return [{"field": "name", "op": "eq", "value": name}]
