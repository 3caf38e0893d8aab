"""What a reply quotes: decisions and notebooks near some words, what is filed, on one line."""

import re
from typing import Final

from callboard.core.words import shorten
from callboard.packs.writers_factory.rooms import Rooms

_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_MOST_NOTEBOOKS: Final = 5
_SEARCHED: Final = 400
_TAG: Final = re.compile(r"</?[A-Za-z_!][^<>]*>?")
_SHOWN_CHARS: Final = 400


async def recall(rooms: Rooms, words: str) -> list[tuple[str, str]]:
    """Return what is near some words and where it is from, decisions first."""
    wanted = {word.lower() for word in _WORD.findall(words)}
    found: list[tuple[int, str, str]] = []
    for each in rooms.memory.decisions(limit=_SEARCHED):
        text = f"{each.key.replace('_', ' ')}: {each.value}"
        near = len(wanted & {word.lower() for word in _WORD.findall(text)})
        if near:
            found.append((near, text, each.source or "decided"))
    found.sort(key=lambda row: -row[0])
    told = [(text, where) for _, text, where in found[:2]]
    for notebook in rooms.notebooks.list()[:_MOST_NOTEBOOKS]:
        passages = await rooms.notebooks.query(notebook.id, words, k=1)
        told += [(each.text, f"{notebook.id}, {each.place}") for each in passages]
    return told


def filed_lines(rooms: Rooms) -> list[str]:
    """Return what the Story Bible holds, a line for each field."""
    return [
        f"- {each.title}, {name.replace('_', ' ')}: {short(str(value))}"
        for each in rooms.bible.work_order().templates
        for name, value in each.fields.items()
    ]


def short(text: str) -> str:
    """Return a text on one line, no longer than a reply may quote."""
    return shorten(plain(text), _SHOWN_CHARS, on_top=True, strip=True)


def plain(text: str) -> str:
    """Return a text on one line without anything that looks like a tag."""
    bare = text
    while (stripped := _TAG.sub(" ", bare)) != bare:
        bare = stripped
    return " ".join(bare.split())
