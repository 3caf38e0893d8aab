"""A domain in memory: documents and contacts one talks about, tasks one only counts.

It survives the studio that uses it, like a database does; it can be slow and it can refuse.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

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
    EntityType,
    OnboardingQuestion,
    Persona,
    ProfileView,
    QueryStrategy,
    Subdomain,
    TurnMode,
)
from callboard.choreography.turn.requests import (
    AllOf,
    AnyOf,
    Condition,
    NotOf,
    Operator,
    QueryError,
    ReadRequest,
    ReadResult,
    UndoResult,
    WriteError,
    WriteKey,
    WriteOp,
    WritePreview,
    WriteRequest,
    WriteResult,
)
from callboard.choreography.turn.shapes import Option, StepType, ThinkStep
from callboard.core.canonical import digest

LABELS = {"documents": "name", "contacts": "name", "tasks": "description"}
COLUMNS = {
    "documents": {"id", "name", "body", "project", "version"},
    "contacts": {"id", "name", "email", "version"},
    "tasks": {"id", "description", "status", "document_id", "version"},
}
SUBDOMAINS = (
    Subdomain("files", ("documents",), ("document", "documents"), "writer"),
    Subdomain("communications", ("contacts",), ("contact", "contacts"), "writer"),
    Subdomain("calendar", ("tasks",), ("task", "tasks"), "writer"),
)
_QUICK: dict[str, Any] = {
    "has_button": True, "understand": "minimal", "think": "skip", "max_steps": 2,
    "consent": "none", "profile": "minimal", "entities_in_context": 3, "past_turns": 0,
    "older_results": 0, "examples": 0, "verbosity": "terse", "max_calls": 3,
    "confirms_silently": True,
}  # fmt: skip
_PLAN: dict[str, Any] = {
    "has_button": True, "understand": "full", "think": "full", "max_steps": 8,
    "consent": "proposal", "profile": "full", "entities_in_context": None, "past_turns": 3,
    "older_results": 3, "examples": 3, "verbosity": "detailed", "max_calls": 7,
}  # fmt: skip
_CREATE = {**_PLAN, "consent": "optional", "max_steps": 4, "max_calls": 6}
_EXPLORE = {
    **_CREATE, "has_button": False, "understand": "light", "think": "medium", "max_steps": 5,
    "max_calls": 5,
}  # fmt: skip
MODES = (
    TurnMode("quick", "Quick", **_QUICK),
    TurnMode("plan", "Plan", **_PLAN),
    TurnMode("create", "Create", **_CREATE),
    TurnMode("explore", "Explore", **_EXPLORE),
)
DOCUMENT = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "body": {"type": "string"}},
    "required": ["name", "body"],
    "additionalProperties": False,
}


class TinyDomain:
    """Rows in dictionaries."""

    name = "tiny"

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, dict[str, Any]]] = {table: {} for table in LABELS}
        self.outcomes: dict[str, WriteResult] = {}
        self.log: list[tuple[str, int, dict[str, dict[str, dict[str, Any]]]]] = []
        self.numbers = 0
        self.slow_seconds = 0.0
        self.spans: list[tuple[str, float, float]] = []
        self.refuse_tables: set[str] = set()
        self.pinned = ""
        self.forbidden: tuple[str, ...] = ()
        self.default_mode: str | None = None
        self.is_profile_empty = False
        self.writes = 0
        # Told the number of each write that was done.
        self.on_write: Any = None

    def subdomains(self) -> Sequence[Subdomain]:
        return SUBDOMAINS

    def schema(self, subdomain: str) -> str:
        tables = next(each.tables for each in SUBDOMAINS if each.name == subdomain)
        return "\n".join(f"### {table}\n{'; '.join(sorted(COLUMNS[table]))}" for table in tables)

    def entity_types(self) -> Sequence[EntityType]:
        return (EntityType("document", "documents"), EntityType("contact", "contacts"))

    def modes(self) -> Sequence[TurnMode]:
        return MODES

    def persona(self, subdomain: str) -> Persona:
        return Persona("Writer", "plain", (f"Think of {subdomain}.", "Be exact.", "Be brief."))

    def compute_functions(self) -> Mapping[str, ComputeFunction]:
        missing = ComputeFunction(
            "missing_tasks", "Documents without a task.", ("documents", "tasks"), _missing
        )
        return {missing.name: missing}

    def query_strategies(self) -> Sequence[QueryStrategy]:
        return (QueryStrategy("project", "a project stands for its documents"),)

    def onboarding(self) -> Sequence[OnboardingQuestion]:
        return (OnboardingQuestion("projects", "Which projects do you work on?"),)

    async def read(self, who: Who, request: ReadRequest) -> ReadResult:
        loop = asyncio.get_running_loop()
        started = loop.time()
        if self.slow_seconds:
            await asyncio.sleep(self.slow_seconds)
        self.spans.append((request.table, started, loop.time()))
        if request.table not in self.rows:
            raise QueryError(
                "unknown_table", f"There is no table {request.table!r}", allowed=list(LABELS)
            )
        found = self._matching(request.table, request.filters, who)
        shown = found[request.offset : request.offset + request.limit]
        rows = [] if request.count_only else [_public(row) for row in shown]
        is_cut = len(found) > len(shown)
        return ReadResult(rows=rows, row_count=len(rows), total_count=len(found), truncated=is_cut)

    async def preview(self, who: Who, request: WriteRequest) -> WritePreview:
        table, label = request.table, LABELS[request.table]
        rows = self._targets(request, who)
        reasons: list[str] = []
        if request.op is WriteOp.DELETE and (len(rows) > 1 or table == "documents"):
            reasons = [f"{len(rows)} {table} would be removed"]
        labels = [str(row[label]) for row in rows] or [str(r[label]) for r in request.records]
        return WritePreview(
            op=request.op,
            table=table,
            match_count=len(rows) or len(request.records),
            labels=labels[:5],
            row_versions={row["id"]: row["version"] for row in rows},
            reasons=reasons,
        )

    async def write(
        self,
        who: Who,
        request: WriteRequest,
        key: WriteKey,
        confirmed: WritePreview | None = None,
    ) -> WriteResult:
        name = digest([who.user_id, key.model_dump(), request.model_dump(mode="json")])
        if name in self.outcomes:
            return self.outcomes[name]
        if request.table in self.refuse_tables:
            raise WriteError("validation", f"{request.table} cannot be written now")
        preview = await self.preview(who, request)
        if preview.reasons and confirmed is None:
            raise WriteError("needs_confirmation", "; ".join(preview.reasons))
        if confirmed is not None and confirmed.row_versions != preview.row_versions:
            raise WriteError("conflict", "the rows have changed")
        before = deepcopy(self.rows)
        result = self._apply(who, request)
        self.writes += 1
        self.log.append((who.session_id, key.turn, before))
        self.outcomes[name] = result
        if self.on_write is not None:
            self.on_write(self.writes)
        return result

    async def undo(self, who: Who) -> UndoResult:
        mine = [entry for entry in self.log if entry[0] == who.session_id]
        if not mine:
            raise WriteError("not_found", "There is nothing to undo in this session")
        turn = mine[-1][1]
        entries = [entry for entry in mine if entry[1] == turn]
        present = {row_id for table in self.rows.values() for row_id in table}
        self.rows = deepcopy(entries[0][2])
        removed = present - {row_id for table in self.rows.values() for row_id in table}
        self.log = [entry for entry in self.log if entry not in entries]
        return UndoResult(turn=turn, restored=len(entries), removed_ids=sorted(removed))

    async def counts(self, who: Who) -> Mapping[str, int]:
        return {table: len(self._matching(table, [], who)) for table in LABELS}

    async def categories(self, who: Who) -> Mapping[str, Mapping[str, int]]:
        return {}

    async def profile(self, who: Who, detail: Detail, subdomain: str = "") -> ProfileView:
        text = {"minimal": "", "compact": "Likes short texts."}.get(
            detail, "Likes short texts. " + "Favours examples. " * 20
        )
        return ProfileView(text, self.pinned, self.is_profile_empty, self.default_mode)

    def content_schema(self, content_type: str) -> Mapping[str, Any]:
        return DOCUMENT

    async def check_content(
        self, who: Who, content_type: str, content: Row, constraints: Sequence[str]
    ) -> Sequence[Objection]:
        avoided = [*self.forbidden, *(each.removeprefix("avoid:") for each in constraints)]
        text = str(dict(content)).casefold()
        return [
            Objection("avoid", word, f"it holds {word}")
            for word in avoided
            if word.casefold().rstrip("s") in text
        ]

    def content_to_write(self, content_type: str, content: Row) -> WriteRequest:
        record = {name: content[name] for name in ("name", "body")}
        return WriteRequest(op=WriteOp.CREATE, table="documents", records=[record])

    def label_for(self, entity_type: str, row: Row) -> str:
        return str(row.get("name") or row.get("description") or "")

    def tags_for(self, entity_type: str, row: Row) -> tuple[str, ...]:
        return (str(row["project"]),) if row.get("project") else ()

    def slot_for(self, entity_type: str, row: Row) -> str | None:
        return None

    async def route(self, asked: AskedMessage) -> Routed | None:
        return _route(asked)

    async def find_by_label(self, who: Who, text: str) -> Sequence[Row]:
        wanted = text.casefold()
        return [
            {**_public(row), "type": table[:-1]}
            for table in ("documents", "contacts")
            for row in self._matching(table, [], who)
            if str(row["name"]).casefold() == wanted
        ]

    def mode_of(self, message: str) -> str | None:
        return "plan" if "month" in message.casefold() else None

    async def draft_content(
        self, stage: Any, key: str, wanted: WantedContent
    ) -> Sequence[Row] | None:
        return None

    def seed(self, user_id: str, table: str, *names: str, **more: Any) -> list[str]:
        """Put rows there, as if somebody else had."""
        ids: list[str] = []
        for name in names:
            record = {LABELS[table]: name, **more}
            ids.append(self._insert(user_id, table, record)["id"])
        return ids

    def names(self, table: str) -> list[str]:
        """Return what a table holds, by name."""
        return [str(row[LABELS[table]]) for row in self.rows[table].values()]

    def _insert(self, user_id: str, table: str, record: Mapping[str, Any]) -> dict[str, Any]:
        unknown = set(record) - COLUMNS[table]
        if unknown:
            raise WriteError("validation", f"{table} has no column {sorted(unknown)[0]!r}")
        self.numbers += 1
        row = {"id": f"row-{self.numbers:04d}", "version": 1, "user_id": user_id, **record}
        self.rows[table][row["id"]] = row
        return row

    def _matching(self, table: str, filters: Sequence[Any], who: Who) -> list[dict[str, Any]]:
        return [
            row
            for row in self.rows[table].values()
            if row["user_id"] == who.user_id and all(_holds(row, each, table) for each in filters)
        ]

    def _targets(self, request: WriteRequest, who: Who) -> list[dict[str, Any]]:
        if request.op in (WriteOp.CREATE, WriteOp.UPSERT):
            return []
        if not request.filters:
            raise WriteError("validation", "A change of everything is refused")
        return self._matching(request.table, request.filters, who)

    def _apply(self, who: Who, request: WriteRequest) -> WriteResult:
        table, label = request.table, LABELS[request.table]
        rows = self._targets(request, who)
        if request.op in (WriteOp.CREATE, WriteOp.UPSERT):
            made = [self._insert(who.user_id, table, record) for record in request.records]
            return _result(request, made, label, created=len(made))
        if request.op is WriteOp.UPDATE:
            for row in rows:
                row.update(request.set)
                row["version"] += 1
            return _result(request, rows, label, updated=len(rows))
        for row in rows:
            del self.rows[table][row["id"]]
        return _result(request, rows, label, deleted=len(rows))


def _result(request: WriteRequest, rows: list[Any], label: str, **counts: int) -> WriteResult:
    return WriteResult(
        op=request.op,
        table=request.table,
        ids=[row["id"] for row in rows],
        rows=[_public(row) for row in rows],
        labels=[str(row[label]) for row in rows],
        **counts,
    )


def _public(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "user_id"}


def _holds(row: Mapping[str, Any], each: Any, table: str) -> bool:
    match each:
        case AllOf():
            return all(_holds(row, part, table) for part in each.and_)
        case AnyOf():
            return any(_holds(row, part, table) for part in each.or_)
        case NotOf():
            return not _holds(row, each.not_, table)
        case Condition():
            return _compare(row, each, table)
    raise AssertionError(each)


def _compare(row: Mapping[str, Any], each: Condition, table: str) -> bool:
    if each.field not in COLUMNS[table]:
        raise QueryError(
            "unknown_column",
            f"{table} has no column {each.field!r}",
            field=each.field,
            allowed=sorted(COLUMNS[table]),
        )
    value = row.get(each.field)
    match each.op:
        case Operator.EQ:
            return str(value).casefold() == str(each.value).casefold()
        case Operator.IN:
            return value in each.value
        case Operator.IS:
            return value is each.value
        case Operator.ILIKE:
            return str(each.value).strip("%").casefold() in str(value).casefold()
        case _:
            raise QueryError("bad_operator", f"no {each.op}", allowed=["eq", "in", "is"])


def _missing(
    rows: Mapping[str, Sequence[Row]], _who: Who, _arguments: Mapping[str, Any]
) -> Mapping[str, Any]:
    linked = {str(row["description"]) for row in rows.get("tasks", ())}
    wanted = [row for row in rows.get("documents", ()) if str(row["name"]) not in linked]
    return {"missing": [{"name": row["name"], "quantity": 1} for row in wanted]}


_NOUN = r"(?P<noun>documents?|contacts?|tasks?)"
_SHOW = re.compile(rf"(?:show|list)(?: my| the)? {_NOUN}", re.I)
_ADD = re.compile(rf"add(?: an?)? {_NOUN} (?P<name>.+)", re.I)
_CLEAR = re.compile(rf"delete all(?: my)? {_NOUN}", re.I)
_DELETE = re.compile(rf"delete(?: the)? {_NOUN} (?P<name>.+)", re.I)
_WEEK = re.compile(r"plan my week(?P<rest>.*)", re.I | re.S)
_NUMBER = re.compile(r"\d+")


def _route(asked: AskedMessage) -> Routed | None:
    text = asked.message.strip().rstrip(".!?")
    if (found := _CLEAR.fullmatch(text)) is not None:
        table = _table(found["noun"])
        condition = {"not": {"field": LABELS[table], "op": "is", "value": None}}
        return _write(table, {"op": "delete", "table": table, "filters": [condition]})
    if (found := _DELETE.fullmatch(text)) is not None:
        table = _table(found["noun"])
        condition = {"field": LABELS[table], "op": "eq", "value": found["name"]}
        return _write(table, {"op": "delete", "table": table, "filters": [condition]})
    if (found := _ADD.fullmatch(text)) is not None:
        table = _table(found["noun"])
        record = {LABELS[table]: found["name"]}
        return _write(table, {"op": "create", "table": table, "records": [record]})
    if (found := _SHOW.fullmatch(text)) is not None:
        table = _table(found["noun"])
        step = _step(f"Show {table}", StepType.READ, table, query=ReadRequest(table=table))
        return Routed((step,))
    if (found := _WEEK.fullmatch(text)) is not None:
        return _week(found["rest"])
    if text.casefold() == "which one":
        return Routed(question="Which one?", options=(Option(id="x", label="X"),))
    return None


def _week(rest: str) -> Routed:
    numbers = _NUMBER.findall(rest)
    count = int(numbers[-1]) if numbers else 3
    records = [{"description": f"Day {number}"} for number in range(1, count + 1)]
    request = {"op": "create", "table": "tasks", "records": records}
    read = _step(
        "Look at documents", StepType.READ, "documents", query=ReadRequest(table="documents")
    )
    count_step = _step("Look at tasks", StepType.READ, "tasks", query=ReadRequest(table="tasks"))
    write = _step(
        f"Plan {count} days", StepType.WRITE, "tasks", write=WriteRequest.model_validate(request)
    )
    return Routed(
        (read, count_step, write.model_copy(update={"group": 1})), goal=f"Plan {count} days"
    )


def _table(noun: str) -> str:
    return noun.casefold().rstrip("s") + "s"


def _write(table: str, request: dict[str, Any]) -> Routed:
    write = WriteRequest.model_validate(request)
    return Routed((_step(f"Change {table}", StepType.WRITE, table, write=write),))


def _step(what: str, kind: StepType, table: str, **request: Any) -> ThinkStep:
    subdomain = next(each.name for each in SUBDOMAINS if table in each.tables)
    return ThinkStep(description=what, step_type=kind, subdomain=subdomain, **request)
