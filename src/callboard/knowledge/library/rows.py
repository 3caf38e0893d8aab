"""Documents and passages as rows. Reads and writes them; decides nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from callboard.knowledge.library.passages import Chunk, DocumentInfo, SourceText
from callboard.knowledge.vectors import Space, stack
from callboard.store.connection import Connection

if TYPE_CHECKING:
    from callboard.knowledge.embedding import Embedder


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document ready to be stored: cut into passages, with the vector of each."""

    source: SourceText
    chunks: Sequence[Chunk]
    vectors: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """A passage as it is kept."""

    id: int
    path: str
    title: str
    heading: str
    text: str
    line_start: int
    line_end: int


def load_hashes(connection: Connection, collection: str, method: str) -> dict[str, str]:
    """Return the hash of every document that was cut and embedded by a method, by path."""
    rows: Any = connection.execute(
        "SELECT path, sha256 FROM library_documents WHERE collection = ? AND method = ?",
        (collection, method),
    )
    return {row["path"]: row["sha256"] for row in rows}


def load_documents(connection: Connection, collection: str) -> tuple[DocumentInfo, ...]:
    """Return the documents of a collection by path."""
    rows: Any = connection.execute(
        "SELECT d.path, d.title, d.sha256, d.characters, d.updated_at, COUNT(p.id) AS passages"
        " FROM library_documents d LEFT JOIN library_passages p"
        " ON p.collection = d.collection AND p.path = d.path"
        " WHERE d.collection = ? GROUP BY d.path, d.title, d.sha256, d.characters, d.updated_at"
        " ORDER BY d.path",
        (collection,),
    )
    return tuple(
        DocumentInfo(
            row["path"],
            row["title"],
            row["sha256"],
            row["characters"],
            row["passages"],
            row["updated_at"],
        )
        for row in rows
    )


def load_collections(connection: Connection) -> tuple[str, ...]:
    """Return the names of the collections that hold anything."""
    rows: Any = connection.execute(
        "SELECT DISTINCT collection FROM library_documents ORDER BY collection"
    )
    return tuple(row["collection"] for row in rows)


def replace_document(
    connection: Connection, collection: str, document: PreparedDocument, method: str, now: int
) -> bool:
    """Store a document in place of what its path held; say whether it held anything."""
    was_there = remove_document(connection, collection, document.source.path)
    connection.execute(
        "INSERT INTO library_documents (collection, path, title, sha256, method, characters,"
        " updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            collection,
            document.source.path,
            document.source.title,
            document.source.sha256,
            method,
            len(document.source.text),
            now,
        ),
    )
    pairs = zip(document.chunks, document.vectors, strict=True)
    connection.executemany(
        "INSERT INTO library_passages (collection, path, position, heading, text, line_start,"
        " line_end, embedding) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                collection,
                document.source.path,
                position,
                chunk.heading,
                chunk.text,
                chunk.line_start,
                chunk.line_end,
                vector,
            )
            for position, (chunk, vector) in enumerate(pairs)
        ],
    )
    return was_there


def remove_document(connection: Connection, collection: str, path: str) -> bool:
    """Remove a document with its passages; say whether there was one."""
    removed = connection.execute(
        "DELETE FROM library_documents WHERE collection = ? AND path = ?", (collection, path)
    )
    return removed.rowcount > 0


def load_passages(connection: Connection, ids: Iterable[int]) -> dict[int, StoredPassage]:
    """Return passages by id."""
    wanted = sorted(set(ids))
    marks = ", ".join("?" for _ in wanted)
    rows: Any = connection.execute(
        "SELECT p.id, p.path, d.title, p.heading, p.text, p.line_start, p.line_end"  # noqa: S608 - only marks
        " FROM library_passages p JOIN library_documents d"
        f" ON d.collection = p.collection AND d.path = p.path WHERE p.id IN ({marks})",
        wanted,
    )
    return {
        row["id"]: StoredPassage(
            row["id"],
            row["path"],
            row["title"],
            row["heading"],
            row["text"],
            row["line_start"],
            row["line_end"],
        )
        for row in rows
    }


def load_space(connection: Connection, collection: str, embedder: "Embedder") -> Space[int]:
    """Return the vectors of a collection's passages, in the order of the documents."""
    length = embedder.dimensions * 4
    rows: list[Any] = connection.execute(
        "SELECT id, embedding FROM library_passages"
        " WHERE collection = ? AND length(embedding) = ? ORDER BY path, position",
        (collection, length),
    ).fetchall()
    matrix = stack([row["embedding"] for row in rows], embedder.dimensions)
    return Space([int(row["id"]) for row in rows], matrix)
