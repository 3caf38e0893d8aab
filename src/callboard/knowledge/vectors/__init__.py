"""Vectors: how they are stored and how the nearest ones are found."""

from callboard.knowledge.vectors.encoding import embed_texts, stack
from callboard.knowledge.vectors.shelf import Indexing, Searchable, Shelf
from callboard.knowledge.vectors.space import Space

__all__ = ["Indexing", "Searchable", "Shelf", "Space", "embed_texts", "stack"]
