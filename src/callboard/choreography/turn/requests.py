"""What is asked of a domain's data, and what comes back. Values only.

A model writes these as JSON; code validates, scopes and executes them. There is no way to write a
statement of a database here.
"""

from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from callboard.core.canonical import Json
from callboard.core.errors import CallboardError, Fault

DEFAULT_LIMIT: Final = 50
MOST_ROWS: Final = 200


class _Value(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, serialize_by_alias=True)


class Operator(StrEnum):
    """How a field is compared."""

    EQ = "eq"
    NEQ = "neq"
    NEQ_OR_NULL = "neq_or_null"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    IN = "in"
    LIKE = "like"
    ILIKE = "ilike"
    IS = "is"
    CS = "cs"
    OV = "ov"
    BETWEEN = "between"
    SEARCH = "search"


class Condition(_Value):
    """One comparison; `field` is a column, or `relation.column`."""

    field: str
    op: Operator
    value: Any = None


class AllOf(_Value):
    """Every part holds."""

    and_: list["Filter"] = Field(alias="and")


class AnyOf(_Value):
    """At least one part holds."""

    or_: list["Filter"] = Field(alias="or")


class NotOf(_Value):
    """The part does not hold."""

    not_: "Filter" = Field(alias="not")


Filter = Annotated[Condition | AllOf | AnyOf | NotOf, Field(union_mode="left_to_right")]


class Ordering(_Value):
    """A column to sort by."""

    column: str
    dir: Literal["asc", "desc"] = "asc"


class Aggregate(_Value):
    """A figure over many rows."""

    fn: Literal["count", "sum", "min", "max", "avg"]
    column: str | None = None


class ReadRequest(_Value):
    """Rows that are wanted of one table."""

    table: str
    columns: list[str] | None = None
    filters: list[Filter] = Field(default_factory=list[Any])
    include: list[str] = Field(default_factory=list[str])
    order_by: list[Ordering] = Field(default_factory=list[Ordering])
    limit: int = Field(default=DEFAULT_LIMIT, ge=1, le=MOST_ROWS)
    offset: int = Field(default=0, ge=0)
    count_only: bool = False
    group_by: list[str] = Field(default_factory=list[str])
    aggregates: list[Aggregate] = Field(default_factory=list[Aggregate])
    # Only when the user asks for what was put away.
    include_archived: bool = False


class ReadResult(_Value):
    """Rows as they were found; `total_count` is without the limit."""

    rows: list[dict[str, Any]]
    row_count: int
    total_count: int
    truncated: bool = False


class WriteOp(StrEnum):
    """What is done to rows."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    UPSERT = "upsert"


class WriteRequest(_Value):
    """A change that is wanted; `filters` is needed to update or delete, and may not be empty.

    `from_content` names generated content, `from_result` a step's result as `g1.s0.missing`: a
    model never types out again what code already has.
    """

    op: WriteOp
    table: str
    records: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    from_content: str | None = None
    from_result: str | None = None
    set: dict[str, Any] = Field(default_factory=dict[str, Any])
    filters: list[Filter] = Field(default_factory=list[Any])
    # The version each row had when it was seen, by id; another version is a conflict.
    versions: dict[str, int] = Field(default_factory=dict[str, int])


class WritePreview(_Value):
    """What a change would touch, before it does."""

    op: WriteOp
    table: str
    match_count: int
    labels: list[str] = Field(default_factory=list[str])
    row_versions: dict[str, int] = Field(default_factory=dict[str, int])
    # Why the human is asked first; empty if nobody needs to be.
    reasons: list[str] = Field(default_factory=list[str])

    @property
    def needs_confirmation(self) -> bool:
        """Whether the human is asked first."""
        return bool(self.reasons)


class Merged(_Value):
    """A row that grew instead of a new one."""

    label: str
    before: Any
    after: Any


class WriteResult(_Value):
    """What was changed, as read back after the commit."""

    op: WriteOp
    table: str
    ids: list[str] = Field(default_factory=list[str])
    created: int = 0
    updated: int = 0
    deleted: int = 0
    merged: list[Merged] = Field(default_factory=list[Merged])
    notes: list[str] = Field(default_factory=list[str])
    rows: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    labels: list[str] = Field(default_factory=list[str])


class WriteKey(_Value):
    """What makes a write happen once: the same key with the same payload is the same write."""

    session_id: str
    # None outside of a conversation: there each write is a turn of its own.
    turn: int | None = None
    step_id: str


class UndoResult(_Value):
    """What an undo brought back."""

    turn: int
    restored: int = 0
    removed: int = 0
    labels: list[str] = Field(default_factory=list[str])
    notes: list[str] = Field(default_factory=list[str])
    # Rows that are gone again; what was saved as one of them is a draft as before.
    removed_ids: list[str] = Field(default_factory=list[str])


_FAULTS: Final = {
    "unknown_table": Fault.MISSING,
    "not_found": Fault.MISSING,
    "conflict": Fault.STATE,
    "duplicate": Fault.STATE,
    "needs_confirmation": Fault.STATE,
}


class RequestRefused(CallboardError):
    """A request that cannot be done as it is; `context` says what would be allowed."""

    code = "request_refused"
    fault = Fault.UNUSABLE


class QueryError(RequestRefused):
    """A read that cannot be done; its kind is such as `unknown_column` or `bad_operator`."""

    code = "query_refused"

    def __init__(
        self, kind: str, message: str, *, field: str = "", allowed: list[str], hint: str = ""
    ) -> None:
        """Take what is wrong, where, and what would be right."""
        listed: list[Json] = list(allowed)
        fix = hint or (f"There are: {', '.join(allowed)}." if allowed else None)
        super().__init__(message, fix=fix, kind=kind, field=field, allowed=listed)
        self.kind = kind
        self.fault = _FAULTS.get(kind, Fault.UNUSABLE)


class WriteError(RequestRefused):
    """A write that cannot be done; its kind is such as `validation`, `fk_missing`, `conflict`."""

    code = "write_refused"

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        column: str = "",
        value: Json = None,
        hint: str = "",
        preview: WritePreview | None = None,
    ) -> None:
        """Take what is wrong, in which column, the value the user gave, or what would be done."""
        super().__init__(message, fix=hint, kind=kind, column=column, value=value)
        if preview is not None:
            self.context["preview"] = preview.model_dump(mode="json")
        self.kind = kind
        self.fault = _FAULTS.get(kind, Fault.UNUSABLE)
