"""Structure: are the tables, indexes, triggers and views of a file the ones we made, and no others?

A trigger or a default that somebody added would act in our name whenever we write. So a file with
anything unknown in it is refused before it is written to.
"""

import hashlib
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from callboard.store.connection import UnknownObjects

KNOWN_STRUCTURE: Final = "878fa8651d42bb4edeadae7f1f9595b0"
"""The digest of the newest schema as SQLite tells it; a test says so when it must change."""

OBJECTS: Final = "SELECT type, name, tbl_name, COALESCE(sql, '') FROM sqlite_schema"
"""Asks a file what it is made of."""
_IF_NOT_EXISTS: Final = re.compile(r"\bIF NOT EXISTS\b", re.IGNORECASE)
_OF_SQLITE: Final = re.compile(r"sqlite_(sequence|stat\d|autoindex_.*)")

_WAY_OUT: Final = (
    "Do not use it if you did not do this: put a backup in its place, or copy its rows into a fresh"
    " database with `callboard doctor --salvage FILE`."
)
Objects = Mapping[str, str | None]
"""Names with their kind, such as `trigger t`, to the SQL behind them; None if any SQL will do."""


def check_structure(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database of the newest version that holds anything but what we made."""
    found = connection.execute(OBJECTS).fetchall()
    if structure_digest(found) != KNOWN_STRUCTURE:
        known = _expected()
        _refuse(_objects(found), known, list(known), path, _WAY_OUT)


def refuse_unknown(rows: Iterable[Sequence[str]], known: Objects, path: Path, way_out: str) -> None:
    """Refuse a file in which there is more than the known objects; `rows` are its `OBJECTS`."""
    _refuse(_objects(rows), known, [], path, way_out)


def _refuse(
    found: Objects, known: Objects, needed: Iterable[str], path: Path, way_out: str
) -> None:
    """Raise an error that names every object that is not as it should be."""
    strange = [name for name in found if name not in known]
    changed = [name for name in found if known.get(name) not in (None, found[name])]
    told = [f"{name} is unknown" for name in strange]
    told += [f"{name} is not as Callboard makes it" for name in changed]
    told += [f"{name} is missing" for name in needed if name not in found]
    if told:
        raise UnknownObjects(
            f"{path} was altered: {'; '.join(told[:8])}" + (" …" if told[8:] else ""),
            fix=way_out,
            path=str(path),
            objects=[*strange, *changed],
        )


def structure_digest(rows: Sequence[Iterable[str]]) -> str:
    """Return one text for everything a file is made of."""
    # Plain joins: this is done whenever a project is opened.
    text = "\x1e".join(sorted(["\x1f".join(row) for row in rows]))
    return hashlib.blake2b(f"{len(rows)}\x1e{text}".encode(), digest_size=16).hexdigest()


def _objects(rows: Iterable[Sequence[str]]) -> dict[str, str]:
    return {
        f"{kind} {name}": _plain(sql)
        for kind, name, _, sql in rows
        if not _OF_SQLITE.fullmatch(name)
    }


def _plain(sql: str) -> str:
    """Return SQL without what differs between two ways to write the same."""
    return " ".join(_IF_NOT_EXISTS.sub("", sql).split())


def _expected() -> Objects:
    """Make the newest schema in memory and look at it; only needed where something differs."""
    from callboard.store.sqlite.schema import create_schema

    connection = sqlite3.connect(":memory:")
    try:
        create_schema(connection)
        return _objects(connection.execute(OBJECTS))
    finally:
        connection.close()
