"""The schema in Postgres' words: tables, full text, what SQLite has built in, who tells of rows.

Every change of a protected row is told to the connection that makes it, by a trigger: what the
ledger writes down does not depend on which statement changed a row.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

from callboard.store.connection import Connection
from callboard.store.ledger.rows import TableShape, is_protected, quoted

NOTICE: Final = "CB001"
"""The code of a notice that tells of a row."""
IDENTITY: Final = "identity"
"""Whose schema this is, and what it is made of; no row of a project."""
_OWN_COLUMNS: Final = ("rowid", "words")
# In these tables the order of coming counts, which SQLite knows by itself.
WITH_ROWID: Final = ("records", "entity_content")

_BUILT_IN: Final = (
    "CREATE FUNCTION json_extract(document text, path text) RETURNS text IMMUTABLE LANGUAGE sql AS"
    " $$ SELECT document::json #>> string_to_array(substr(path, 3), '.') $$",
    "CREATE FUNCTION json_valid(document text) RETURNS boolean IMMUTABLE LANGUAGE sql AS"
    " $$ SELECT document IS JSON $$",
    "CREATE FUNCTION json_each(document text) RETURNS TABLE (value text) IMMUTABLE LANGUAGE sql AS"
    " $$ SELECT json_array_elements_text(document::json) $$",
    "CREATE FUNCTION instr(whole bytea, part bytea) RETURNS boolean IMMUTABLE LANGUAGE sql AS"
    " $$ SELECT position(part IN whole) > 0 $$",
)
_FULL_TEXT: Final = (
    "CREATE TEXT SEARCH DICTIONARY stems (TEMPLATE = pg_catalog.snowball, Language = porter)",
    "CREATE TEXT SEARCH CONFIGURATION words (COPY = pg_catalog.simple)",
    "ALTER TEXT SEARCH CONFIGURATION words ALTER MAPPING FOR asciiword, word, hword, hword_part,"
    " asciihword, hword_asciipart, numword, hword_numpart WITH stems",
    "CREATE FUNCTION plain_words(told text) RETURNS text IMMUTABLE LANGUAGE sql AS"
    " $$ SELECT regexp_replace(normalize(told, NFD), '[\u0300-\u036f]', '', 'g') $$",
    "ALTER TABLE library_passages ADD COLUMN words tsvector GENERATED ALWAYS AS ("
    " setweight(to_tsvector('{schema}.words', plain_words(text)), 'A') ||"
    " setweight(to_tsvector('{schema}.words', plain_words(heading)), 'B')) STORED",
    "CREATE INDEX library_text ON library_passages USING gin (words)",
)
_IDENTITY: Final = f"CREATE TABLE {IDENTITY} (project_id text PRIMARY KEY, structure text NOT NULL)"

_SHAPES: Final = """
SELECT c.relname, a.attname, t.typname, array_position(i.indkey::int2[], a.attnum) AS key
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
WHERE c.relnamespace = to_regnamespace(?) AND c.relkind = 'r' ORDER BY c.relname, a.attnum
"""
_OBJECTS: Final = """
WITH ours AS (SELECT oid FROM pg_namespace WHERE nspname = ?)
SELECT 'relation', relname::text, relkind::text || relhasrules::text FROM pg_class
WHERE relnamespace IN (SELECT oid FROM ours)
UNION ALL SELECT 'column', c.relname || '.' || a.attname,
 format_type(a.atttypid, a.atttypmod) || a.attnotnull::text || COALESCE(d.adbin IS NOT NULL, false)
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE c.relnamespace IN (SELECT oid FROM ours) AND a.attnum > 0 AND NOT a.attisdropped
UNION ALL SELECT 'function', proname::text, prosrc FROM pg_proc
WHERE pronamespace IN (SELECT oid FROM ours)
UNION ALL SELECT 'trigger', c.relname || '.' || t.tgname,
 t.tgtype::text || t.tgenabled::text || p.proname
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
WHERE c.relnamespace IN (SELECT oid FROM ours) AND NOT t.tgisinternal
ORDER BY 1, 2, 3
"""


class PostgresFullText:
    """Asks the index of words."""

    def match(
        self, connection: Connection, collection: str, words: Sequence[str], count: int
    ) -> list[tuple[int, float]]:
        """Return the passages in which any of the words stand, with how well; more is better."""
        # Each word is data: it passes the same steps as the passages did, and no operator.
        each = " || ".join(["plainto_tsquery('words', plain_words(?))"] * len(words))
        rows = connection.execute(
            f"SELECT id, ts_rank('{{0,0,0.5,1}}', words, sought, 1) AS score"  # noqa: S608 - only marks
            f" FROM library_passages, (SELECT {each} AS sought) AS query"
            " WHERE collection = ? AND words @@ sought ORDER BY score DESC, id LIMIT ?",
            (*words, collection, count),
        )
        return [(row["id"], row["score"]) for row in rows]


def create_schema(connection: Connection, schema: str) -> None:
    """Make the schema of a project with everything in it."""
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(schema)}")
    # At once: a hundred statements one by one would be a hundred ways there and back.
    script = ";\n".join([*_tables(), *_BUILT_IN, *_FULL_TEXT, _IDENTITY])
    connection.execute(script.replace("{schema}", schema))
    told = [text for shape in read_shapes(connection, schema).values() for text in _tellers(shape)]
    connection.execute(";\n".join(told))


def read_shapes(connection: Connection, schema: str) -> dict[str, TableShape]:
    """Return the shapes of the protected tables by name."""
    found: defaultdict[str, list[Any]] = defaultdict(list)
    for row in connection.execute(_SHAPES, (schema,)):
        table, column = row[0], row[1]
        if table != IDENTITY and is_protected(table) and column not in _OWN_COLUMNS:
            found[table].append(row)
    return {table: _shape(table, columns) for table, columns in found.items()}


def _shape(table: str, columns: list[Any]) -> TableShape:
    keys = sorted((row[3], at) for at, row in enumerate(columns) if row[3] is not None)
    has_blobs = any(row[2] == "bytea" for row in columns)
    return TableShape.of(table, [row[1] for row in columns], [at for _, at in keys], has_blobs)


def structure_of(connection: Connection, schema: str) -> str:
    """Return one text for everything a schema is made of."""
    rows = connection.execute(_OBJECTS, (schema,)).fetchall()
    text = "\x1e".join("\x1f".join(map(str, row)) for row in rows)
    return hashlib.blake2b(f"{len(rows)}\x1e{text}".encode(), digest_size=16).hexdigest()


def _tellers(shape: TableShape) -> Iterator[str]:
    """Give what tells of the rows of a table."""
    name, function = quoted(shape.name), quoted(f"tell_{shape.name}")

    def tell(side: str) -> str:
        values = ", ".join(f"{side}.{quoted(each)}" for each in shape.key_columns)
        told = f"json_build_array('{shape.name}', {values})::text"
        return f"RAISE NOTICE USING ERRCODE = '{NOTICE}', MESSAGE = {told};"

    moved = " OR ".join(
        f"OLD.{quoted(each)} IS DISTINCT FROM NEW.{quoted(each)}" for each in shape.key_columns
    )
    yield (
        f"CREATE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        f" IF TG_OP = 'DELETE' THEN {tell('OLD')} RETURN NULL; END IF;"
        f" IF TG_OP = 'UPDATE' THEN IF {moved} THEN {tell('OLD')} END IF; END IF;"
        f" {tell('NEW')} RETURN NULL; END $$"
    )
    yield (
        f"CREATE TRIGGER tell AFTER INSERT OR UPDATE OR DELETE ON {name}"
        f" FOR EACH ROW EXECUTE FUNCTION {function}()"
    )


@cache
def _tables() -> tuple[str, ...]:
    """Return the newest tables in SQL; they do not change while the process lives."""
    from sqlalchemy import Text
    from sqlalchemy.dialects import postgresql
    from sqlalchemy.schema import CreateIndex, CreateTable

    from callboard.store.schema import metadata

    dialect = postgresql.dialect()
    made: list[str] = []
    for table in metadata.sorted_tables:
        text = str(CreateTable(table).compile(dialect=dialect))
        for column in table.columns:
            if isinstance(column.type, Text):
                # Sorted and compared by their bytes, as SQLite does.
                name = dialect.identifier_preparer.quote(column.name)
                text = text.replace(f"\n\t{name} TEXT", f'\n\t{name} TEXT COLLATE "C"', 1)
        made.append(text.strip())
        if table.name in WITH_ROWID:
            made.append(f"ALTER TABLE {table.name} ADD COLUMN rowid bigserial")
        for index in sorted(table.indexes, key=lambda each: str(each.name)):
            made.append(str(CreateIndex(index).compile(dialect=dialect)))
    return tuple(made)
