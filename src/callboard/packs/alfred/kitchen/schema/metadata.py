"""What the kitchen's tables are registered in, and the columns most of them share.

Ids are texts, times are UTC texts in ISO form, dates are ISO texts: they compare the same way on
every database.
"""

from typing import Any, Final

from sqlalchemy import JSON, CheckConstraint, Column, ForeignKey, Integer, MetaData, Text
from sqlalchemy.dialects.postgresql import JSONB

metadata: Final = MetaData()


def own_columns() -> tuple[Column[Any], ...]:
    """Return the columns of every row that belongs to a user."""
    return (
        Column("id", Text, primary_key=True),
        Column(
            "user_id", Text, ForeignKey("users.id", ondelete="CASCADE"), nullable=False, index=True
        ),
        *time_columns(),
        Column("version", Integer, nullable=False, server_default="1"),
    )


def time_columns() -> tuple[Column[Any], ...]:
    """Return when a row came and when it last changed."""
    return (
        Column("created_at", Text, nullable=False, info={"kind": "datetime"}),
        Column("updated_at", Text, nullable=False, info={"kind": "datetime"}),
    )


def json_list(name: str, about: str = "") -> Column[Any]:
    """Return a column that holds a list of texts."""
    listed = JSON().with_variant(JSONB(), "postgresql")
    info = {"kind": "list", "about": about}
    return Column(name, listed, nullable=False, server_default="[]", info=info)


def one_of(
    name: str, options: tuple[str, ...], *, default: str | None = None, nullable: bool = False
) -> tuple[Column[Any], CheckConstraint]:
    """Return a column that holds one of some words, and the constraint that sees to it."""
    listed = ", ".join(f"'{option}'" for option in options)
    column: Column[Any] = Column(
        name, Text, nullable=nullable, server_default=default, info={"enum": options}
    )
    return column, CheckConstraint(f"{name} IS NULL OR {name} IN ({listed})")
