"""Content-addressed blobs: the same bytes are stored once, whoever stores them."""

from callboard.core.canonical import digest_bytes
from callboard.core.errors import NotFound
from callboard.store.connection import Connection


def put_blob(connection: Connection, data: bytes) -> str:
    """Store bytes and return their SHA-256."""
    sha256 = digest_bytes(data)
    connection.execute(
        "INSERT INTO blobs (sha256, data) VALUES (:sha256, :data) ON CONFLICT DO NOTHING",
        {"sha256": sha256, "data": data},
    )
    return sha256


def get_blob(connection: Connection, sha256: str) -> bytes:
    """Return the bytes with that SHA-256."""
    row = connection.execute(
        "SELECT data FROM blobs WHERE sha256 = :sha256", {"sha256": sha256}
    ).fetchone()
    if row is None:
        raise NotFound(f"No blob {sha256} in this project", fix="Run `callboard doctor`.")
    return bytes(row["data"])
