"""What tools derive from single documents, kept for as long as the document lives."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from callboard.library.story.text.document import Document

T = TypeVar("T")


class PerDocument(Generic[T]):
    """A function of a document, computed once for each; a changed file is a new document."""

    def __init__(self, make: Callable[[Document], T]) -> None:
        """Take the function; it must depend on nothing but the document."""
        self._make = make
        self._lock = threading.Lock()
        self._made: WeakKeyDictionary[Document, T] = WeakKeyDictionary()

    def of(self, document: Document) -> T:
        """Return the function's value for a document."""
        with self._lock:
            if document in self._made:
                return self._made[document]
        # Two threads may both compute it; the value is the same and neither waits.
        value = self._make(document)
        with self._lock:
            return self._made.setdefault(document, value)
