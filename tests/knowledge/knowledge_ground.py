"""A knowledge room on a real database, with a clock that moves when it is told to."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from callboard.core.ids import IdMaker
from callboard.knowledge import Indexing, Knowledge
from callboard.store.database import Database, Durability
from callboard.store.faults import FaultPoints
from stores import open_store


class HandClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1_000

    def now_ms(self) -> int:
        return self.now

    def monotonic(self) -> float:
        return self.now / 1000


class LetterEmbedder:
    """Counts letters: the simplest meaning a text can have, computed at once."""

    def __init__(self, name: str = "letters", *, is_broken: bool = False) -> None:
        self.name = name
        self.dimensions = 26
        self.asked: list[str] = []
        self.is_broken = is_broken

    def embed(self, texts):
        if self.is_broken:
            raise ConnectionError("no answer")
        self.asked += texts
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for number, text in enumerate(texts):
            for letter in text.casefold():
                if "a" <= letter <= "z":
                    rows[number, ord(letter) - ord("a")] += 1
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.divide(rows, lengths, out=rows, where=lengths > 0)


@contextmanager
def open_knowledge(
    folder: Path,
    *,
    embedder: LetterEmbedder | None = None,
    clock: HandClock | None = None,
    indexing: Indexing | None = None,
    faults: FaultPoints | None = None,
) -> Iterator[tuple[Knowledge, Database]]:
    """Open the knowledge of a folder, as another process would."""
    database = open_store(folder / "callboard.db", durability=Durability.NORMAL, faults=faults)
    chosen = clock or HandClock()
    try:
        yield (
            Knowledge(database, IdMaker(chosen), chosen, embedder or LetterEmbedder(), indexing),
            database,
        )
    finally:
        database.close()
