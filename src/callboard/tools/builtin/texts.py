"""The project's texts, as the built-in tools go through them."""

import io
from typing import Final

from callboard.tools.errors import FileMissing, Unreadable
from callboard.tools.files import TEXT_SUFFIXES, ListedFile, ProjectFiles, TextFile

MAX_TEXT_BYTES: Final = 1_000_000


def selected(files: ProjectFiles, glob: str) -> tuple[ListedFile, ...]:
    """Return the text files that match, sorted by path; very large ones are left out."""
    return tuple(
        listed
        for listed in files.list_files(glob, suffixes=TEXT_SUFFIXES)
        if listed.size_bytes <= MAX_TEXT_BYTES
    )


def read_texts(files: ProjectFiles, glob: str) -> list[TextFile]:
    """Read the text files that match; what is no text, or is gone by now, is left out."""
    texts: list[TextFile] = []
    for listed in selected(files, glob):
        try:
            texts.append(files.read_text(listed.path))
        except (FileMissing, Unreadable):
            continue
    return texts


def lines_of(text: str) -> list[str]:
    """Split a text into lines with their ends, counting the way editors do."""
    return list(io.StringIO(text, newline=""))


def title_of(file: TextFile) -> str:
    """Return the first heading, else the first line that says something, else the file's name."""
    lines = [line.strip() for line in lines_of(file.text)]
    for line in lines:
        if line.startswith("#") and line.lstrip("#").strip():
            return line.lstrip("#").strip()[:120]
    spoken = (line for line in lines if any(char.isalnum() for char in line))
    return next(spoken, file.path.rpartition("/")[2])[:120]
