"""Office: documents, contacts and tasks as a domain, on the same turn and tables as the kitchen."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from pydantic import Field
from sqlalchemy import (
    JSON,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from callboard.choreography.answers import Answer, schema_of
from callboard.choreography.turn.domain import (
    AskedMessage,
    ComputeFunction,
    Objection,
    Routed,
    Row,
    WantedContent,
    Who,
)
from callboard.choreography.turn.domain_parts import (
    Detail,
    OnboardingQuestion,
    ProfileView,
    Subdomain,
)
from callboard.choreography.turn.requests import Filter, ReadRequest, WriteRequest
from callboard.choreography.turn.shapes import StepType, ThinkStep
from callboard.core.clock import Clock
from callboard.core.errors import NotFound
from callboard.knowledge.entities.matching import name_key
from callboard.library.relational.base import Base
from callboard.library.relational.domain import DescribedDomain
from callboard.library.relational.rules import PlainRules
from callboard.library.relational.tables import Relation, Tables, described
from callboard.library.relational.undo import log_tables

if TYPE_CHECKING:
    from callboard.choreography.stage import Stage

metadata: Final = MetaData()
SUBDOMAINS: Final = {
    "files": ("documents",),
    "communications": ("contacts",),
    "calendar": ("tasks",),
}
_STATES: Final = ("open", "done", "cancelled")


def _own() -> tuple[Column[Any], ...]:
    moment = {"kind": "datetime"}
    return (
        Column("id", Text, primary_key=True),
        Column("user_id", Text, nullable=False, index=True),
        Column("created_at", Text, nullable=False, info=moment),
        Column("updated_at", Text, nullable=False, info=moment),
        Column("version", Integer, nullable=False, server_default="1"),
    )


documents: Final = Table(
    "documents",
    metadata,
    *_own(),
    Column("name", Text, nullable=False),
    Column("name_key", Text, nullable=False),
    Column("project", Text),
    Column("body", Text, nullable=False, server_default=""),
    Column("archived_at", Text, info={"kind": "datetime", "writable": False}),
    Index(
        "documents_by_name",
        "user_id",
        "name_key",
        unique=True,
        sqlite_where=text("archived_at IS NULL"),
        postgresql_where=text("archived_at IS NULL"),
    ),
)

contacts: Final = Table(
    "contacts",
    metadata,
    *_own(),
    Column("name", Text, nullable=False),
    Column("name_key", Text, nullable=False),
    Column("email", Text),
    Column(
        "projects",
        JSON().with_variant(JSONB(), "postgresql"),
        nullable=False,
        server_default="[]",
        info={"kind": "list", "about": "what the person works on"},
    ),
    Index("contacts_by_name", "user_id", "name_key"),
)

tasks: Final = Table(
    "tasks",
    metadata,
    *_own(),
    Column("description", Text, nullable=False),
    Column("due_at", Text, info={"kind": "datetime"}),
    Column("status", Text, nullable=False, server_default="open", info={"enum": _STATES}),
    Column("document_id", Text, ForeignKey("documents.id", ondelete="SET NULL")),
    CheckConstraint("status IN ('open', 'done', 'cancelled')"),
    Index("tasks_by_state", "user_id", "status"),
)


def office_tables() -> Tables:
    """Return the description of every table a request may name."""
    document = Relation("document", "documents", "document_id", "id", many=False)
    return Tables(
        (
            described(
                documents,
                label="name",
                searched=("name", "project", "body"),
                archived="archived_at",
                name_key=("name_key", "name"),
                relations=(Relation("tasks", "tasks", "id", "document_id"),),
            ),
            described(
                contacts, label="name", searched=("name", "email"), name_key=("name_key", "name")
            ),
            described(tasks, label="description", searched=("description",), relations=(document,)),
        ),
        SUBDOMAINS,
    )


_LABELS: Final = {"documents": "name", "contacts": "name", "tasks": "description"}
_SHOW: Final = re.compile(
    r"(?:show|list|what are|see)(?: me)?(?: all)?(?: of)?(?: my| the| our)? (?P<noun>[\w-]+)", re.I
)
_ADD: Final = re.compile(
    r"(?:add|create|new)(?: an?| the)?(?: new)? (?P<noun>[\w-]+)(?: called| named|:)? (?P<name>.+)",
    re.I | re.S,
)
_REMIND: Final = re.compile(r"remind me to (?P<name>.+)", re.I | re.S)
_DELETE_ALL: Final = re.compile(
    r"(?:delete|remove) all(?: of)?(?: my| the)? (?P<noun>[\w-]+)", re.I
)
_DELETE: Final = re.compile(
    r"(?:delete|remove)(?: my| the)? (?P<noun>[\w-]+)(?: called| named|:)? (?P<name>.+)",
    re.I | re.S,
)
_TEAM: Final = re.compile(
    r"(?:who (?:is|works) on|(?:show |list )?the team of)(?: the)? (?P<project>.+?)(?: project)?",
    re.I | re.S,
)


def route_office(asked: AskedMessage, parts: tuple[Subdomain, ...]) -> Routed | None:
    """Return what a message plainly asks for, or None."""
    text = asked.message.strip().rstrip(".!?").strip()
    team = _TEAM.fullmatch(text)
    if team is not None:
        return _team(team["project"].strip())
    for pattern, make in ((_SHOW, _show), (_DELETE_ALL, _clear), (_DELETE, _delete), (_ADD, _add)):
        found = pattern.fullmatch(text)
        part = None if found is None else _part(found["noun"], parts)
        if found is not None and part is not None:
            return make(part, found.groupdict().get("name") or "")
    remind = _REMIND.fullmatch(text)
    if remind is not None:
        calendar = next(each for each in parts if each.name == "calendar")
        return _add(calendar, remind["name"])
    return None


def _part(noun: str, parts: tuple[Subdomain, ...]) -> Subdomain | None:
    key = name_key(noun)
    return next((p for p in parts if key in {name_key(each) for each in p.nouns}), None)


def _show(part: Subdomain, _name: str) -> Routed:
    query = ReadRequest(table=part.tables[0])
    return _one(part, StepType.READ, f"Show {part.tables[0]}", query=query)


def _add(part: Subdomain, name: str) -> Routed:
    table = part.tables[0]
    record = {_LABELS[table]: name.strip().strip("\"'")}
    write = WriteRequest.model_validate({"op": "create", "table": table, "records": [record]})
    return _one(part, StepType.WRITE, f"Add to {table}", write=write)


def _delete(part: Subdomain, name: str) -> Routed:
    wanted = name.strip().strip("\"'")
    condition: Any = {"field": _LABELS[part.tables[0]], "op": "eq", "value": wanted}
    return _removal(part, [condition])


def _clear(part: Subdomain, _name: str) -> Routed:
    condition: Any = {"not": {"field": _LABELS[part.tables[0]], "op": "is", "value": None}}
    return _removal(part, [condition])


def _removal(part: Subdomain, filters: list[Filter]) -> Routed:
    table = part.tables[0]
    write = WriteRequest.model_validate({"op": "delete", "table": table, "filters": filters})
    return _one(part, StepType.WRITE, f"Take out {table}", write=write)


def _team(project: str) -> Routed:
    """A project stands for the people who work on it."""
    query = ReadRequest.model_validate(
        {"table": "contacts", "filters": [{"field": "projects", "op": "cs", "value": [project]}]}
    )
    step = ThinkStep(
        description=f"Show who works on {project}",
        step_type=StepType.READ,
        subdomain="communications",
        query=query,
    )
    return Routed(steps=(step,), goal=step.description)


def _one(part: Subdomain, kind: StepType, what: str, **request: Any) -> Routed:
    step = ThinkStep(description=what, step_type=kind, subdomain=part.name, **request)
    return Routed(steps=(step,), goal=what)


class Document(Answer):
    """What the office writes."""

    name: str = Field(min_length=1, max_length=120)
    body: str = Field(min_length=1, max_length=4000)


class Office(DescribedDomain):
    """The domain of a small office."""

    def __init__(self, base: Base, clock: Clock, new_id: Callable[[], str]) -> None:
        """Take the open database; its tables are made if they are missing."""
        log = log_tables(metadata)
        base.write_now(metadata.create_all)
        super().__init__(base, office_tables(), PlainRules(), log, clock, new_id)
        self.package = __package__ or ""

    def compute_functions(self) -> Mapping[str, ComputeFunction]:
        """Return the arithmetic a plan may name."""
        count = ComputeFunction(
            "count_by_state", "How many tasks are in which state.", ("tasks",), _count_by_state
        )
        return {count.name: count}

    def onboarding(self) -> Sequence[OnboardingQuestion]:
        """Return what is asked once."""
        return (OnboardingQuestion("projects", "Which projects do you work on?", is_optional=True),)

    async def counts(self, who: Who) -> Mapping[str, int]:
        """Return how many rows there are, by table."""
        return await self.count_rows(who, self.tables.names())

    async def categories(self, who: Who) -> Mapping[str, Mapping[str, int]]:
        """Return how many rows there are by table and category."""
        return {"tasks": await self.grouped(who, "tasks", "status")}

    async def profile(self, who: Who, detail: Detail, subdomain: str = "") -> ProfileView:
        """Return what prompts are told about a user: nothing is known here."""
        return ProfileView("", is_empty=True)

    def content_schema(self, content_type: str) -> Mapping[str, Any]:
        """Return the JSON schema of what is generated."""
        if content_type != "document":
            raise NotFound(f"The office makes no {content_type!r}", fix="It makes: document.")
        return schema_of(Document)

    async def check_content(
        self, who: Who, content_type: str, content: Row, constraints: Sequence[str]
    ) -> Sequence[Objection]:
        """Return why content may not be kept: something in it was to be left out."""
        text = f"{content.get('name', '')} {content.get('body', '')}".casefold()
        avoided = [each.removeprefix("avoid:") for each in constraints if each.startswith("avoid:")]
        return [
            Objection("avoid", word, f"It holds {word!r}")
            for word in avoided
            if word.casefold() in text
        ]

    def content_to_write(self, content_type: str, content: Row) -> WriteRequest:
        """Return the write that saves generated content."""
        record = {name: content[name] for name in ("name", "body", "project") if name in content}
        return WriteRequest.model_validate(
            {"op": "create", "table": "documents", "records": [record]}
        )

    def label_for(self, entity_type: str, row: Row) -> str:
        """Return how people name a row."""
        return str(row.get("description" if entity_type == "task" else "name") or "")

    def tags_for(self, entity_type: str, row: Row) -> tuple[str, ...]:
        """Return the words a row is also known by."""
        known = (row.get("project"), row.get("status"))
        return tuple(str(each) for each in known if each)

    def slot_for(self, entity_type: str, row: Row) -> str | None:
        """Return the place a row takes: nothing here has one."""
        return None

    async def route(self, asked: AskedMessage) -> Routed | None:
        """Return what code makes of a message, or None if it is not sure."""
        return route_office(asked, tuple(self.subdomains()))

    async def find_by_label(self, who: Who, text: str) -> Sequence[Row]:
        """Return rows of one user that go by a name."""
        found: list[Row] = []
        for kind in ("documents", "contacts"):
            condition = {"field": "name", "op": "eq", "value": text}
            request = ReadRequest.model_validate({"table": kind, "filters": [condition]})
            rows = (await self.read(who, request)).rows
            found += [{**row, "type": kind[:-1]} for row in rows]
        return found

    def mode_of(self, message: str) -> str | None:
        """Return the mode a message sounds like."""
        return None

    async def draft_content(
        self, stage: "Stage", key: str, wanted: WantedContent
    ) -> Sequence[Row] | None:
        """Leave it to the model: a document has no rules to keep to."""
        return None


def _count_by_state(
    rows: Mapping[str, Sequence[Row]], _who: Who, _arguments: Mapping[str, Any]
) -> Mapping[str, Any]:
    counts: dict[str, int] = {}
    for row in rows.get("tasks", ()):
        counts[str(row["status"])] = counts.get(str(row["status"]), 0) + 1
    return {"counts": counts}
