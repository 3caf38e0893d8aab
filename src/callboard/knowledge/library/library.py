"""Library: collections of documents, found by their words and by their meaning.

It is handed texts and hands back passages; it opens no file and trusts no text it holds.
"""

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from callboard.core.canonical import digest_bytes
from callboard.core.clock import Clock
from callboard.core.errors import InvalidInput
from callboard.knowledge.embedding import Embedder
from callboard.knowledge.library import rows
from callboard.knowledge.library.passages import (
    METHOD,
    DocumentInfo,
    Passage,
    PutReport,
    SearchMode,
    SourceText,
    cut,
)
from callboard.knowledge.rows import KnowledgePart, next_version, read_version, storable
from callboard.knowledge.vector_index import Indexing, Searchable, VectorSpaces
from callboard.knowledge.vectors import embed_texts, stack
from callboard.store.connection import Connection
from callboard.store.database import Database

if TYPE_CHECKING:
    from callboard.knowledge.embedding import Matrix


_SMOOTHING: Final = 60


def fuse(orders: Sequence[Sequence[int]]) -> dict[int, float]:
    """Return a score for everything that stands in any order; high places count most."""
    scores: dict[int, float] = {}
    for order in orders:
        for place, each in enumerate(order, start=1):
            scores[each] = scores.get(each, 0.0) + 1 / (_SMOOTHING + place)
    return scores


_WORD: Final = re.compile(r"\w+")
_MAX_WORDS: Final = 64


def words_of(query: str) -> list[str]:
    """Return the words of a query that are looked for, each once."""
    found = dict.fromkeys(word.casefold() for word in _WORD.findall(query.replace("_", " ")))
    return list(found)[:_MAX_WORDS]


_CANDIDATES: Final = 50


class Library:
    """Every collection of a project."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        embedder: Embedder,
        indexing: Indexing | None = None,
    ) -> None:
        """Read nothing yet."""
        self._database = database
        self._clock = clock
        self._embedder = embedder
        self._shelf: VectorSpaces[int] = VectorSpaces(
            KnowledgePart.LIBRARY.value, indexing or Indexing()
        )

    @property
    def _method(self) -> str:
        return f"{METHOD} {self._embedder.name}"

    async def put(self, collection: str, documents: Iterable[SourceText]) -> PutReport:
        """Put documents in, each in place of what its path held; unchanged ones cost nothing."""
        given = [_clean(each) for each in documents]
        prepared = await asyncio.to_thread(self.prepare, collection, given)
        report = await self._database.write(
            lambda connection: self.put_in(connection, collection, prepared, len(given))
        )
        if prepared:
            await asyncio.to_thread(self.update_index, collection)
        return report

    def update_index(self, collection: str) -> None:
        """Bring the index of a large collection up to date; a small one needs none."""
        found = self._database.read(lambda connection: self._searchable(connection, collection))
        if found.approximate is not None:
            found.approximate.update()

    def prepare(
        self, collection: str, documents: Iterable[SourceText]
    ) -> list[rows.PreparedDocument]:
        """Cut and embed those documents that are new or changed, for `put_in`; slow."""
        _require_name(collection)
        known = self._database.read(
            lambda connection: rows.load_hashes(connection, collection, self._method)
        )
        latest = {each.path: each for each in map(_clean, documents)}
        changed = [each for each in latest.values() if known.get(each.path) != each.sha256]
        cuts = [cut(each.path, each.text) for each in changed]
        texts = [f"{chunk.heading}\n{chunk.text}" for chunks in cuts for chunk in chunks]
        vectors = iter(embed_texts(self._embedder, texts))
        return [
            rows.PreparedDocument(source, chunks, [next(vectors) for _ in chunks])
            for source, chunks in zip(changed, cuts, strict=True)
        ]

    def put_in(
        self,
        connection: Connection,
        collection: str,
        prepared: Iterable[rows.PreparedDocument],
        given: int | None = None,
    ) -> PutReport:
        """Store what `prepare` made within a caller's unit of work."""
        now = self._clock.now_ms()
        replaced = [
            (rows.replace_document(connection, collection, each, self._method, now), each)
            for each in prepared
        ]
        if replaced:
            next_version(connection, KnowledgePart.LIBRARY, collection)
        updated = sum(was_there for was_there, _each in replaced)
        return PutReport(
            added=len(replaced) - updated,
            updated=updated,
            unchanged=0 if given is None else given - len(replaced),
            passages=sum(len(each.chunks) for _was_there, each in replaced),
        )

    async def remove(self, collection: str, path: str | None = None) -> int:
        """Take a document out, or all of them without a path; return how many there were."""
        return await self._database.write(
            lambda connection: self.remove_in(connection, collection, path)
        )

    def remove_in(self, connection: Connection, collection: str, path: str | None = None) -> int:
        """Take a document, or all, out within a caller's unit of work; return how many."""
        paths = (
            [each.path for each in rows.load_documents(connection, collection)]
            if path is None
            else [path]
        )
        removed = sum(rows.remove_document(connection, collection, each) for each in paths)
        if removed:
            next_version(connection, KnowledgePart.LIBRARY, collection, has_removed=True)
        return removed

    def collections(self) -> tuple[str, ...]:
        """Return the names of the collections that hold anything."""
        return self._database.read(rows.load_collections)

    def documents(self, collection: str) -> tuple[DocumentInfo, ...]:
        """Return the documents of a collection by path."""
        return self._database.read(lambda connection: rows.load_documents(connection, collection))

    def search(
        self, collection: str, query: str, k: int = 8, mode: SearchMode | str = SearchMode.HYBRID
    ) -> list[Passage]:
        """Return the k passages that fit a query best, the best first.

        The query is data: no word or sign in it is an operator.
        """
        chosen = SearchMode(mode)
        if k <= 0:
            return []
        vector = None if chosen is SearchMode.TEXT else self._vector(query)
        sought = [] if chosen is SearchMode.VECTOR else words_of(query)
        count = max(k, _CANDIDATES) if chosen is SearchMode.HYBRID else k

        def look(connection: Connection) -> list[Passage]:
            by_words = (
                self._database.full_text.match(connection, collection, sought, count)
                if sought
                else []
            )
            by_meaning = (
                self._searchable(connection, collection).nearest(vector, count)
                if vector is not None
                else []
            )
            return self._passages(connection, collection, by_words, by_meaning, k)

        return self._database.read(look)

    def _passages(
        self,
        connection: Connection,
        collection: str,
        by_words: list[tuple[int, float]],
        by_meaning: list[tuple[int, float]],
        k: int,
    ) -> list[Passage]:
        words, meanings = dict(by_words), dict(by_meaning)
        scores = fuse([list(words), list(meanings)])
        # Of equals, what was put in first.
        best = sorted(scores, key=lambda each: (-scores[each], each))[:k]
        found = rows.load_passages(connection, best)
        order = [found[each] for each in best]
        return [
            Passage(
                collection=collection,
                path=each.path,
                text=each.text,
                line_start=each.line_start,
                line_end=each.line_end,
                score=scores[each.id],
                heading=each.heading,
                title=each.title,
                bm25=words.get(each.id, 0.0),
                similarity=meanings.get(each.id),
            )
            for each in order
        ]

    def _vector(self, query: str) -> "Matrix | None":
        row = stack(embed_texts(self._embedder, [storable(query)]), self._embedder.dimensions)[0]
        # A query without words means nothing, so nothing is near it.
        return row if row.any() else None

    def _searchable(self, connection: Connection, collection: str) -> Searchable[int]:
        version = read_version(connection, KnowledgePart.LIBRARY, collection).number
        return self._shelf.get(
            collection, version, lambda: rows.load_space(connection, collection, self._embedder)
        )


def _clean(document: SourceText) -> SourceText:
    if not document.path.strip():
        raise InvalidInput("A document needs a path.", fix="Name where its text comes from.")
    text = storable(document.text)
    return replace(
        document,
        path=storable(document.path),
        text=text,
        title=storable(document.title),
        sha256=document.sha256 or digest_bytes(text.encode()),
    )


def _require_name(collection: str) -> None:
    if not collection.strip():
        raise InvalidInput("A collection needs a name.", fix="Name the collection.")
