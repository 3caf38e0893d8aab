"""Upgrading: a database is brought to the newest revision, once, whoever opens it first.

Alembic is loaded only if there is something to do: opening a kitchen stays fast.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from callboard.core.errors import CallboardError
from callboard.library.relational.base import Base

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Connection

HEAD: Final = "0004"
"""The newest revision in `versions`."""
VERSION_TABLE: Final = "alembic_version"
_LOCK: Final = 721_340_517


class NewerKitchen(CallboardError):
    """A database that a newer Callboard has changed."""

    code = "newer_kitchen"


def bring_up_to_date(base: Base) -> bool:
    """Bring a database to the newest revision; say whether there was something to do."""
    if base.read_now(stored_revision) == HEAD:
        return False
    return base.rebuild_now(_upgrade)


def stored_revision(connection: "Connection") -> str | None:
    """Return the revision a database has, or None if it is empty."""
    from sqlalchemy import inspect, text

    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    return connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()  # noqa: S608 - a constant


def alembic_config() -> "Config":
    """Return what Alembic needs to know to find the revisions."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    return config


def _upgrade(connection: "Connection") -> bool:
    from alembic import command
    from sqlalchemy import text

    if connection.dialect.name != "sqlite":
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
    # Somebody else may have been first while this one waited.
    found = stored_revision(connection)
    if found == HEAD:
        return False
    config = alembic_config()
    _refuse_newer(config, found)
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    return True


def _refuse_newer(config: "Config", found: str | None) -> None:
    from alembic.script import ScriptDirectory

    known: set[Any] = {
        script.revision for script in ScriptDirectory.from_config(config).walk_revisions()
    }
    if found is not None and found not in known:
        raise NewerKitchen(
            f"This kitchen is at revision {found!r}, which this Callboard does not know",
            fix="Open it with the newer Callboard that changed it.",
        )
