"""The templates as files of the writer: found, taken apart, put together, kept."""

from callboard.packs.writers_factory.bible.files.documents import Document, FileProblem
from callboard.packs.writers_factory.bible.files.shelf import BibleShelf, Saved

__all__ = ["BibleShelf", "Document", "FileProblem", "Saved"]
