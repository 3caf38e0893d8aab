"""Whatever is written through the writer verifies; whatever is written past it is named."""

# ruff: noqa: S608 - names of our own schema

import random
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ledgerlab import behind_its_back, opened, tables, write

from callboard.store.connection import Connection
from callboard.store.database import Database

Write = Callable[[Connection], Any]

texts = st.sampled_from(["a", "b", "é\u2028", 'it\'s "quoted"', "", "nul\x00l", "日本"])
numbers = st.sampled_from([0, 1, -1, 2**40, 7])
reals = st.sampled_from([0.0, -0.0, 1.5, 3.0, 1e300])
blobs = st.sampled_from([b"", b"\x00\xff", b"x" * 5000])

SHAPES: dict[str, list[tuple[str, str, int, int]]] = {}


def shapes() -> dict[str, list[tuple[str, str, int, int]]]:
    """Return name, type, not null and key position of every column of every protected table."""
    if not SHAPES:
        with (
            tempfile.TemporaryDirectory() as folder,
            opened(Path(folder)),
            behind_its_back(Path(folder)) as connection,
        ):
            for name, columns in tables(connection).items():
                SHAPES[name] = [(c["name"], c["type"], c["notnull"], c["pk"]) for c in columns]
    return SHAPES


def value_for(kind: str) -> st.SearchStrategy[Any]:
    if kind == "BLOB":
        return blobs
    if kind == "FLOAT":
        return st.one_of(reals, numbers)
    # SQLite takes anything anywhere, except in what stands for the row's own number.
    return numbers if kind == "INTEGER" else st.one_of(texts, numbers)


@st.composite
def statements(draw: st.DrawFn) -> tuple[str, tuple[Any, ...]]:
    table = draw(st.sampled_from(sorted(shapes())))
    columns = shapes()[table]
    names = [column[0] for column in columns]
    keys = [column[0] for column in columns if column[3]]
    row = tuple(draw(value_for(column[1])) for column in columns)
    marks = ", ".join("?" * len(columns))
    listed = ", ".join(f'"{name}"' for name in names)
    changed = draw(st.sampled_from(names))
    value = draw(value_for(next(c[1] for c in columns if c[0] == changed)))
    match draw(
        st.sampled_from(
            ["insert", "replace", "ignore", "upsert", "update", "move", "delete", "two"]
        )
    ):
        case "insert":
            return f"INSERT INTO {table} ({listed}) VALUES ({marks})", row
        case "replace":
            return f"INSERT OR REPLACE INTO {table} ({listed}) VALUES ({marks})", row
        case "ignore":
            return f"INSERT OR IGNORE INTO {table} ({listed}) VALUES ({marks})", row
        case "upsert":
            target = ", ".join(keys)
            sql = f"INSERT INTO {table} ({listed}) VALUES ({marks}) ON CONFLICT ({target})"
            return f'{sql} DO UPDATE SET "{changed}" = ?', (*row, value)
        case "update":
            return f'UPDATE {table} SET "{changed}" = ?', (value,)
        case "move":
            # A statement over many rows that may fail half-way.
            return f'UPDATE OR REPLACE {table} SET "{keys[0]}" = ?', (row[names.index(keys[0])],)
        case "two":
            # The second row repeats the first: all of it is undone, after the first was noted.
            return f"INSERT INTO {table} ({listed}) VALUES ({marks}), ({marks})", (*row, *row)
        case _:
            return f"DELETE FROM {table}", ()


units = st.lists(
    st.tuples(st.lists(statements(), min_size=1, max_size=5), st.booleans()), max_size=8
)


def unit(listed: list[tuple[str, tuple[Any, ...]]], fails: bool) -> Write:
    def work(connection: Connection) -> None:
        # Rows that others must be able to refer to.
        connection.execute("INSERT OR IGNORE INTO sessions VALUES ('a',1,'','','','',1,1,1,1,1)")
        connection.execute(
            "INSERT OR IGNORE INTO knowledge_nodes VALUES ('a','b','','','','','','','',1,'',1,1,1)"
        )
        connection.execute("INSERT OR IGNORE INTO library_documents VALUES ('a','b','','','',1,1)")
        for sql, values in listed:
            try:
                connection.execute(sql, values)
            except (sqlite3.IntegrityError, sqlite3.OperationalError, OverflowError):
                # A unit may go on after a statement that was refused.
                continue
        if fails:
            raise RuntimeError("the whole unit is undone")

    return work


def carry_out(database: Database, program: list[tuple[list[Any], bool]]) -> None:
    futures = [database.submit(unit(listed, fails)) for listed, fails in program]
    for future in futures:
        future.exception()


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(program=units, seed=st.integers(0, 2**32))
def test_every_write_verifies_and_every_edit_past_it_is_named(
    program: list[tuple[list[Any], bool]], seed: int
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with opened(folder) as database:
            carry_out(database, program)
            report = database.verify()
            assert report.flaws == ()
            assert report.is_sound
        # Another process goes on, and finds what it must go on from.
        with opened(folder) as database:
            carry_out(database, program)
            write(database, "INSERT OR REPLACE INTO records VALUES ('p', 'k', 'last', '{}', 1, 1)")
            assert database.verify().is_sound
        with behind_its_back(folder) as connection:
            table, key = edit(connection, random.Random(seed))
        with opened(folder) as database:
            flaws = database.verify().flaws
        assert [(flaw.table, flaw.key) for flaw in flaws] == [(table, key)]


def edit(connection: sqlite3.Connection, choice: random.Random) -> tuple[str, str]:
    """Change or remove one row of some table and return its name."""
    filled = [
        name
        for name in sorted(tables(connection))
        if connection.execute(f"SELECT 1 FROM {name}").fetchone()
    ]
    table = choice.choice(filled)
    columns = tables(connection)[table]
    keys = [c["name"] for c in sorted(columns, key=lambda c: c["pk"]) if c["pk"]]
    row = choice.choice(connection.execute(f"SELECT * FROM {table}").fetchall())
    where = " AND ".join(f'"{key}" IS ?' for key in keys)
    values = [row[key] for key in keys]
    plain = [c["name"] for c in columns if not c["pk"]]
    if plain and choice.random() < 0.7:
        changed = f"{row[plain[-1]]!r} and more"
        connection.execute(
            f'UPDATE {table} SET "{plain[-1]}" = ? WHERE {where}', (changed, *values)
        )
    else:
        connection.execute(f"DELETE FROM {table} WHERE {where}", values)
    return table, ", ".join(str(each) for each in values)
