"""DescribedDomain: a domain on a relational database, described by the file beside its code.

Its parts, the nouns for them, its modes and personas are data; what it computes, generates and
understands by itself is its own code. All reading and all writing of its rows passes `Data`, which
opens nothing and decides nothing about a domain: tables, rules and the clock are given.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict

from callboard.choreography.turn.domain import Row, Who
from callboard.choreography.turn.domain_parts import (
    EntityType,
    Persona,
    QueryStrategy,
    Subdomain,
    TurnMode,
)
from callboard.choreography.turn.requests import (
    MOST_ROWS,
    ReadRequest,
    ReadResult,
    UndoResult,
    WriteKey,
    WritePreview,
    WriteRequest,
    WriteResult,
)
from callboard.core.bundled import bundled_yaml
from callboard.core.clock import Clock
from callboard.library.relational.base import Base, Dialect, dialect_of
from callboard.library.relational.dates import Today, WriteMoment
from callboard.library.relational.reading import Reader
from callboard.library.relational.rules import Rules, WriteLimits
from callboard.library.relational.tables import Tables, render_schema
from callboard.library.relational.undo import LogTables, undo_last_turn
from callboard.library.relational.writer import RowWriter

if TYPE_CHECKING:
    from sqlalchemy import Connection

TodayOf = Callable[["Connection", Who, int], Today]
"""Says what day it is for somebody, from the time in milliseconds."""


def plain_today(_connection: "Connection", who: Who, now_ms: int) -> Today:
    """Return what day it is in the time zone the door gave."""
    return Today.at(now_ms, who.timezone)


@dataclass(eq=False)
class Data:
    """The rows of everybody in a domain, reached one user at a time."""

    base: Base
    tables: Tables
    rules: Rules
    log: LogTables
    clock: Clock
    new_id: Callable[[], str]
    limits: WriteLimits = field(default_factory=WriteLimits)
    today_of: TodayOf = field(default=plain_today)

    @property
    def dialect(self) -> Dialect:
        """How the database says things."""
        return dialect_of(is_sqlite=self.base.is_sqlite)

    @property
    def writer(self) -> RowWriter:
        """What writes here."""
        return RowWriter(self.tables, self.rules, self.dialect, self.limits, self.log, self.new_id)

    def day_of(self, connection: "Connection", who: Who) -> Today:
        """Return what day it is for a user."""
        return self.today_of(connection, who, self.clock.now_ms())

    def reader(self, connection: "Connection", who: Who) -> Reader:
        """Return what reads one user's rows."""
        return Reader(self.tables, who.user_id, self.day_of(connection, who), self.dialect)

    async def read(self, who: Who, request: ReadRequest) -> ReadResult:
        """Return rows of one user."""
        return await self.base.read(lambda c: self.reader(c, who).read(c, request))

    async def all_rows(self, who: Who, **query: Any) -> list[Row]:
        """Return every row a query finds, page by page."""
        rows: list[Row] = []
        is_more = True
        while is_more:
            page = {**query, "limit": MOST_ROWS, "offset": len(rows)}
            found = await self.read(who, ReadRequest.model_validate(page))
            rows += found.rows
            is_more = found.truncated
        return rows

    async def preview(self, who: Who, request: WriteRequest) -> WritePreview:
        """Say what a change would touch."""
        return await self.base.read(
            lambda c: self.writer.preview(c, who, self.day_of(c, who), request)
        )

    async def write(
        self,
        who: Who,
        request: WriteRequest,
        key: WriteKey,
        confirmed: WritePreview | None = None,
    ) -> WriteResult:
        """Change rows, all of them or none."""
        return await self.base.write(
            lambda c: self.writer.write(c, who, self.day_of(c, who), request, key, confirmed)
        )

    async def undo(self, who: Who, confirmed: WritePreview | None = None) -> UndoResult:
        """Take back what the last turn that wrote has changed; some of it must be agreed to."""

        def work(connection: "Connection") -> UndoResult:
            today = self.day_of(connection, who)
            moment = WriteMoment(who, connection, today)

            def asks(entries: list[dict[str, Any]]) -> list[str]:
                return self.rules.reasons_to_undo(moment, entries)

            now = _stamp(today)
            return undo_last_turn(connection, who, self.tables, self.log, now, asks, confirmed)

        return await self.base.write(work)

    async def count_rows(self, who: Who, tables: Sequence[str]) -> Mapping[str, int]:
        """Return how many rows of some tables a user has."""

        def work(connection: "Connection") -> dict[str, int]:
            reader = self.reader(connection, who)
            return {
                name: reader.read(connection, ReadRequest(table=name, count_only=True)).total_count
                for name in tables
            }

        return await self.base.read(work)

    async def grouped(self, who: Who, table: str, column: str) -> Mapping[str, int]:
        """Return how many rows of a table a user has by the values of a column."""
        found = await self.read(who, ReadRequest(table=table, group_by=[column], limit=200))
        return {str(row[column]): int(row["count"]) for row in found.rows if row[column]}


def _stamp(today: Today) -> str:
    from datetime import UTC

    return today.now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


FILE: Final = "domain.yaml"


def _named(read: Any) -> Any:
    """Return what a file lists by name, each with its name."""
    listed = cast("dict[str, Any]", read)
    return [{"name": name, **each} for name, each in listed.items()]


def _summed_up(read: Any) -> Any:
    listed = cast("dict[str, Any]", read)
    return [{"name": name, "summary": text} for name, text in listed.items()]


class DomainDescription(BaseModel):
    """What a domain says about itself, as the file beside its code has it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    subdomains: Annotated[tuple[Subdomain, ...], BeforeValidator(_named)]
    personas: dict[str, Persona]
    entity_types: Annotated[tuple[EntityType, ...], BeforeValidator(_named)]
    modes: Annotated[tuple[TurnMode, ...], BeforeValidator(_named)]
    strategies: Annotated[tuple[QueryStrategy, ...], BeforeValidator(_summed_up)]

    def persona_of(self, subdomain: str) -> Persona:
        """Return how an agent thinks while it works on a subdomain."""
        part = next(each for each in self.subdomains if each.name == subdomain)
        return self.personas[part.persona]


@cache
def load_description(package: str) -> DomainDescription:
    """Return the description beside a domain's code; which tables it has, the code says."""
    return DomainDescription.model_validate(bundled_yaml(package, FILE))


@dataclass(eq=False)
class DescribedDomain(Data):
    """A domain: its rows, and what the file in its package says about it."""

    package: str = ""

    @property
    def _about(self) -> DomainDescription:
        return load_description(self.package)

    @property
    def name(self) -> str:
        """How the domain is called."""
        return self._about.name

    def subdomains(self) -> Sequence[Subdomain]:
        """Return the parts of the domain."""
        tables = self.tables.subdomains()
        return tuple(replace(each, tables=tables[each.name]) for each in self._about.subdomains)

    def schema(self, subdomain: str) -> str:
        """Return a subdomain's tables as a prompt shows them."""
        return render_schema(self.tables, subdomain)

    def entity_types(self) -> Sequence[EntityType]:
        """Return the kinds of things that are tracked one by one."""
        return self._about.entity_types

    def modes(self) -> Sequence[TurnMode]:
        """Return the modes the user can choose from."""
        return self._about.modes

    def persona(self, subdomain: str) -> Persona:
        """Return how an agent thinks while it works on a subdomain."""
        return self._about.persona_of(subdomain)

    def query_strategies(self) -> Sequence[QueryStrategy]:
        """Return the rules that turn words into filters."""
        return self._about.strategies
