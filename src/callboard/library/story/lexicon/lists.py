"""Word lists: plain text files beside this module, one or more words a line, `#` for remarks."""

from functools import cache
from importlib.resources import files


@cache
def word_list(name: str) -> frozenset[str]:
    """Return the lower-cased entries of `<name>.txt`; one line may hold several single words.

    A line that starts with `=` is one entry of several words.
    """
    return frozenset(entry.lower() for entry in _entries(name))


@cache
def word_list_as_written(name: str) -> frozenset[str]:
    """Return the entries of `<name>.txt` with their capitals."""
    return frozenset(_entries(name))


def _entries(name: str) -> list[str]:
    folder = files("callboard.library.story.lexicon")
    text = folder.joinpath(f"{name}.txt").read_text(encoding="utf-8")
    entries: list[str] = []
    for line in text.splitlines():
        told = line.partition("#")[0].strip()
        entries.extend([told[1:].strip()] if told.startswith("=") else told.split())
    return entries
