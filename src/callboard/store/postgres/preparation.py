"""Preparing a project's schema: made anew, brought up to date, or refused as somebody else's."""

from collections.abc import Callable, Sequence

from callboard.store.connection import UnknownObjects
from callboard.store.ledger.entries import Seal
from callboard.store.migrations import MIGRATIONS, Migration, UnknownSchema
from callboard.store.postgres.address import StoreAddress
from callboard.store.postgres.connection import PostgresConnection
from callboard.store.postgres.schema import create_schema, structure_of

Sealing = Callable[[PostgresConnection, int | None], None]
"""Is told the version a schema had, before its change is committed; may object by raising."""
_PURPOSE = b"structure"
_COUNTED = """
SELECT quote_ident(c.relname), quote_ident(a.attname),
 pg_get_serial_sequence(quote_ident(n.nspname) || '.' || quote_ident(c.relname), a.attname)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND a.atthasdef
WHERE n.nspname = ? AND c.relkind = 'r'
 AND pg_get_serial_sequence(quote_ident(n.nspname) || '.' || quote_ident(c.relname), a.attname)
 IS NOT NULL
"""


class OtherProject(UnknownSchema):
    """A schema on the server belongs to another project, or to nobody any more."""

    code = "other_project"


def version_of(connection: PostgresConnection) -> int | None:
    """Return the version of the schema; None if there is none."""
    if not _has_tables(connection):
        return None
    row = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    return int(row[0]) if row is not None and str(row[0]).isdecimal() else 0


def prepare(
    connection: PostgresConnection,
    seal: Seal | None,
    sealing: Sealing,
    migrations: Sequence[Migration] = MIGRATIONS,
) -> None:
    """Create an empty schema at the newest version, or bring an older one up to it."""
    address, newest = connection.address, migrations[-1].number
    if version_of(connection) != newest:
        with connection.transaction():
            version = version_of(connection)
            if version is None:
                create_schema(connection, address.schema)
            elif version > newest or version < 1:
                raise UnknownSchema(
                    f"{address} has schema version {version}; this Callboard knows 1 to {newest}",
                    fix="Install a newer Callboard.",
                    found=version,
                    known=newest,
                )
            else:
                check_structure(connection, seal)
                for step in migrations[version:]:
                    step.apply(connection, lambda _: None)
            connection.execute(
                "INSERT INTO meta (key, value) VALUES ('schema_version', :version)"
                " ON CONFLICT (key) DO UPDATE SET value = :version",
                {"version": str(newest)},
            )
            _sign(connection, seal)
            if version != newest:
                sealing(connection, version)
    check_structure(connection, seal)


def make_within(connection: PostgresConnection, seal: Seal | None) -> None:
    """Make an empty schema within the caller's transaction."""
    create_schema(connection, connection.address.schema)
    _sign(connection, seal)


def follow_numbers(connection: PostgresConnection) -> None:
    """Have numbers that the server gives go on after those that were copied."""
    rows = connection.execute(_COUNTED, (connection.address.schema,)).fetchall()
    for table, column, sequence in rows:
        connection.execute(
            f"SELECT setval(?, COALESCE((SELECT MAX({column}) FROM {table}), 0) + 1, false)",  # noqa: S608 - names of our own schema
            (sequence,),
        )


def check_structure(connection: PostgresConnection, seal: Seal | None) -> None:
    """Refuse a schema that holds anything but what we made, or that is another project's."""
    row = connection.execute("SELECT project_id, structure FROM identity").fetchone()
    check_identity(connection.address, None if row is None else row[0], None)
    if row is None or row[1] != _signed(connection, seal):
        raise UnknownObjects(
            f"{connection.address} was altered: its tables, triggers or functions are not the ones"
            " Callboard made, or another key made them",
            fix="Do not use it if you did not do this: restore a backup of the server.",
        )


def check_identity(address: StoreAddress, project_id: object, version: object) -> None:
    """Refuse a schema that is not this project's or was brought to another version."""
    if project_id != address.project_id:
        raise OtherProject(
            f"{address} holds {'nothing' if project_id is None else 'another project'}: the server"
            " may have been replaced by an empty one or another one",
            fix="Name the right server in `store.url`, or restore its backup. Nothing was changed.",
        )
    newest = str(MIGRATIONS[-1].number)
    if version not in (None, newest):
        raise UnknownSchema(
            f"{address} was brought from schema version {newest} to {version} by another Callboard"
            " while this one had it open",
            fix="Start this one again, with the newer Callboard.",
            found=version,
            known=newest,
        )


def _has_tables(connection: PostgresConnection) -> bool:
    schema = connection.address.schema
    row = connection.execute("SELECT to_regclass(?)", (f"{schema}.meta",)).fetchone()
    return row is not None and row[0] is not None


def _sign(connection: PostgresConnection, seal: Seal | None) -> None:
    connection.execute(
        "INSERT INTO identity (project_id, structure) VALUES (:project, :signed)"
        " ON CONFLICT (project_id) DO UPDATE SET structure = :signed",
        {"project": connection.address.project_id, "signed": _signed(connection, seal)},
    )


def _signed(connection: PostgresConnection, seal: Seal | None) -> str:
    """Return what only the holder of the key can make of what the schema is made of."""
    told = structure_of(connection, connection.address.schema).encode()
    return told.decode() if seal is None else seal.mac(_PURPOSE, told).hex()
