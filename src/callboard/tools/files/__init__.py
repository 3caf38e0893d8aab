"""The user's files, as far as tools may touch them."""

from callboard.tools.files.project import (
    TEXT_SUFFIXES,
    ListedFile,
    ProjectFiles,
    TextFile,
    WrittenFile,
)

__all__ = ["TEXT_SUFFIXES", "ListedFile", "ProjectFiles", "TextFile", "WrittenFile"]
