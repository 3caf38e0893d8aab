"""Formats: the book as files for readers and for other tools, and such files as a book."""
