"""Columns as revisions write them down. What a released revision uses is never changed."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql


def times() -> tuple[sa.Column[str], sa.Column[str]]:
    """Return when a row came and when it last changed."""
    return needed("created_at"), needed("updated_at")


def text(name: str) -> sa.Column[str]:
    """Return a text that may be missing."""
    return sa.Column(name, sa.Text())


def needed(name: str) -> sa.Column[str]:
    """Return a text that is always there."""
    return sa.Column(name, sa.Text(), nullable=False)


def text_or(name: str, default: str) -> sa.Column[str]:
    """Return a text with a default."""
    return sa.Column(name, sa.Text(), server_default=default, nullable=False)


def texts(name: str) -> sa.Column[Any]:
    """Return a list of texts."""
    listed = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
    return sa.Column(name, listed, server_default="[]", nullable=False)


def one_of(column: str, options: str) -> sa.CheckConstraint:
    """Return the rule that a column holds one of some words."""
    listed = ", ".join(f"'{option}'" for option in options.split())
    return sa.CheckConstraint(f"{column} IS NULL OR {column} IN ({listed})")
