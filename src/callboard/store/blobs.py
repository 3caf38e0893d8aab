"""Content-addressed blobs: the same bytes are stored once, whoever stores them."""

from callboard.core.canonical import digest_bytes
from callboard.core.errors import NotFound
from callboard.store.connection import Connection, StoreCorrupt


def put_blob(connection: Connection, data: bytes) -> str:
    """Store bytes and return their SHA-256."""
    sha256 = digest_bytes(data)
    connection.execute(
        "INSERT INTO blobs (sha256, data) VALUES (:sha256, :data) ON CONFLICT DO NOTHING",
        {"sha256": sha256, "data": data},
    )
    return sha256


def get_blob(connection: Connection, sha256: str) -> bytes:
    """Return the bytes with that SHA-256; others under that name are an error."""
    row = connection.execute(
        "SELECT data FROM blobs WHERE sha256 = :sha256", {"sha256": sha256}
    ).fetchone()
    if row is None:
        raise NotFound(f"No blob {sha256} in this project", fix="Run `callboard doctor`.")
    data = row["data"]
    if not isinstance(data, bytes) or digest_bytes(data) != sha256:
        raise StoreCorrupt(
            f"The blob {sha256} does not hold what its name says",
            fix="Put the database back from a backup; `callboard doctor` names what was altered.",
        )
    return data
