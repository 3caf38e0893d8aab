"""Office: documents, contacts and tasks as a domain, on the same turn as the kitchen."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import Field

from callboard.choreography.answers import Answer, schema_of
from callboard.choreography.turn.domain import (
    Asked,
    ComputeFunction,
    Detail,
    Objection,
    OnboardingQuestion,
    ProfileView,
    Routed,
    Row,
    Wanted,
    Who,
)
from callboard.choreography.turn.requests import (
    ReadRequest,
    WriteRequest,
)
from callboard.core.clock import Clock
from callboard.core.errors import NotFound
from callboard.library.relational.base import Base
from callboard.library.relational.data import Data
from callboard.library.relational.writing.log import log_tables
from callboard.library.relational.writing.rules import PlainRules
from callboard.packs.alfred.described import DescribedDomain
from callboard.packs.alfred.office.routing import route_office
from callboard.packs.alfred.office.schema import metadata, office_tables

if TYPE_CHECKING:
    from callboard.choreography.stage import Stage


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
        data = Data(base, office_tables(), PlainRules(), log, clock, new_id)
        super().__init__(__package__ or "", data)

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
        return await self.data.counts(who, self.data.tables.names())

    async def categories(self, who: Who) -> Mapping[str, Mapping[str, int]]:
        """Return how many rows there are by table and category."""
        return {"tasks": await self.data.grouped(who, "tasks", "status")}

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

    async def route(self, asked: Asked) -> Routed | None:
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

    async def draft_content(self, stage: "Stage", key: str, wanted: Wanted) -> Sequence[Row] | None:
        """Leave it to the model: a document has no rules to keep to."""
        return None


def _count_by_state(
    rows: Mapping[str, Sequence[Row]], _who: Who, _arguments: Mapping[str, Any]
) -> Mapping[str, Any]:
    counts: dict[str, int] = {}
    for row in rows.get("tasks", ()):
        counts[str(row["status"])] = counts.get(str(row["status"]), 0) + 1
    return {"counts": counts}
