"""The office's tables: documents, contacts, tasks."""

from typing import Any, Final

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

from callboard.library.relational.tables import Relation, Tables, described

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
