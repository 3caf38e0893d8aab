"""Rows of processes: who may own runs of this project."""

from dataclasses import dataclass

from callboard.store.connection import Connection


@dataclass(frozen=True, slots=True)
class ProcessRecord:
    """A process that opened the project."""

    id: str
    pid: int
    host: str
    started_at: int


def insert_process(connection: Connection, process: ProcessRecord) -> None:
    """Store a process before it may own anything."""
    connection.execute(
        "INSERT INTO processes (id, pid, host, started_at) VALUES (:id, :pid, :host, :started_at)",
        {
            "id": process.id,
            "pid": process.pid,
            "host": process.host,
            "started_at": process.started_at,
        },
    )


def find_process(connection: Connection, process_id: str) -> ProcessRecord | None:
    """Return a process, or None."""
    row = connection.execute(
        "SELECT * FROM processes WHERE id = :id", {"id": process_id}
    ).fetchone()
    if row is None:
        return None
    return ProcessRecord(row["id"], row["pid"], row["host"], row["started_at"])


def list_processes(connection: Connection) -> list[ProcessRecord]:
    """Return every process that has not been forgotten, dead ones included."""
    rows = connection.execute("SELECT * FROM processes ORDER BY id")
    return [ProcessRecord(row["id"], row["pid"], row["host"], row["started_at"]) for row in rows]


def forget_process(connection: Connection, process_id: str) -> bool:
    """Remove a process that owns nothing any more; say whether there was one."""
    cursor = connection.execute(
        "DELETE FROM processes WHERE id = :id"
        " AND NOT EXISTS (SELECT 1 FROM runs WHERE owner = :id)",
        {"id": process_id},
    )
    return cursor.rowcount == 1
