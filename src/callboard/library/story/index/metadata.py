"""Metadata: what a file says about itself, from front matter, heading, fields and name."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.core.canonical import Json
from callboard.library.story.index.kinds import kind_of
from callboard.library.story.index.numbers import number_in_filename, numbered_title, read_number
from callboard.library.story.model import Kind, StoryFile
from callboard.library.story.text import Document

_KEYS: Final = {
    "pov": ("pov", "point of view"),
    "location": ("location", "place", "setting"),
    "when": ("when", "date", "time"),
    "characters": ("characters", "cast"),
    "aliases": ("aliases", "alias", "also known as", "aka"),
    "stakes": ("stakes",),
    "flashback": ("flashback",),
    "target_words": ("target_words", "target words", "target word count"),
}
_PREFIX: Final = re.compile(
    r"^(?:scn|char|loc|item|fac|lore|ch|chapter|scene)[\-_ ]+", re.IGNORECASE
)
_LEADING_DIGITS: Final = re.compile(r"^\d+[\-_ .]+")
_DIGITS: Final = re.compile(r"\d[\d,.]*")
_SEPARATORS: Final = re.compile(r"[,;/]|\band\b")


def describe(document: Document, sha256: str) -> StoryFile:
    """Return a file's description; its place in the story is decided elsewhere."""
    kind = kind_of(document)
    # The lines near the top of an outline describe its first scene.
    fields: Mapping[str, str] = {} if kind is Kind.OUTLINE else document.fields
    told = _Told(document.front, fields)
    return StoryFile(
        path=document.path,
        kind=kind,
        title=_title(document),
        sha256=sha256,
        word_count=document.word_count,
        scene_number=_scene_number(document) if kind is Kind.SCENE else None,
        pov=told.text("pov"),
        location=told.text("location"),
        when=told.text("when"),
        characters=_names(told.value("characters")),
        aliases=_names(told.value("aliases")),
        stakes=told.text("stakes"),
        is_flashback=_is_true(told.value("flashback")),
        target_words=_count(told.value("target_words")),
    )


def name_from_path(path: str) -> str:
    """Return the name a file's own name holds: `CHAR-kael-arden.md` is `kael arden`."""
    stem = path.rpartition("/")[2].rpartition(".")[0]
    bare = _LEADING_DIGITS.sub("", _PREFIX.sub("", stem))
    return " ".join(re.split(r"[\-_\s]+", bare or stem)).strip()


def split_names(text: str) -> tuple[str, ...]:
    """Return the names of a comma-separated line."""
    return tuple(name for part in _SEPARATORS.split(text) if (name := _bare(part)))


@dataclass(frozen=True, slots=True)
class _Told:
    """What a file says about itself, under any of the names a thing goes by."""

    front: Mapping[str, Json]
    fields: Mapping[str, str]

    def value(self, name: str) -> Json:
        for key in _KEYS[name]:
            if self.front.get(key) not in (None, "", []):
                return self.front[key]
        return next((self.fields[key] for key in _KEYS[name] if key in self.fields), None)

    def text(self, name: str) -> str | None:
        value = self.value(name)
        told = ", ".join(_flat(value)) if isinstance(value, list) else value
        return None if told is None or isinstance(told, dict) else _bare(str(told)) or None


def _names(value: Json) -> tuple[str, ...]:
    if isinstance(value, str):
        return split_names(value)
    return tuple(name for each in _flat(value) if (name := _bare(each)))


def _flat(value: Json) -> list[str]:
    # `[[Kael]]` is a link to authors and a list in a list to YAML.
    if isinstance(value, list):
        return [name for each in cast("list[Any]", value) for name in _flat(each)]
    return [] if value is None or isinstance(value, dict) else [str(value)]


def _bare(text: str) -> str:
    return text.strip().strip("[]*_\"'“”").rpartition("|")[2].strip()


def _is_true(value: Json) -> bool:
    return value is True or str(value).strip().lower() in ("true", "yes", "1")


def _count(value: Json) -> int | None:
    hit = _DIGITS.search(str(value)) if value is not None else None
    return int(re.sub(r"\D", "", hit[0])[:9]) if hit else None


def _title(document: Document) -> str:
    told = document.front.get("title")
    if isinstance(told, str | int) and str(told).strip():
        return str(told).strip()
    top = next((heading.text for heading in document.headings if heading.level == 1), None)
    return top or document.fields.get("title") or name_from_path(document.path)


def _scene_number(document: Document) -> int | None:
    for key in ("scene", "scene_number", "chapter"):
        told = document.front.get(key, document.fields.get(key))
        number = read_number(str(told)) if told is not None else None
        if number is not None:
            return number
    stem = document.path.rpartition("/")[2].rpartition(".")[0]
    number = number_in_filename(stem)
    if number is not None:
        return number
    return next(
        (found for heading in document.headings[:2] if (found := numbered_title(heading.text)[0])),
        None,
    )
