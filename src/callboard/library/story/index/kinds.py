"""Kinds: whether a file is a scene, an outline, canon or something else, by its first sign."""

import re
from typing import Final

from callboard.library.story.index.numbers import numbered_title
from callboard.library.story.model import Kind
from callboard.library.story.text import Document

_SCENE_FOLDERS: Final = frozenset({"scenes", "chapters", "manuscript"})
_CANON_FOLDER: Final = re.compile(r"compendium|characters?|chars|locations?|lore|world.*")
_CANON_PREFIX: Final = re.compile(r"(?:char|loc|item|fac|lore)-")
_DECLARED: Final = {
    **dict.fromkeys(("scene", "chapter"), Kind.SCENE),
    **dict.fromkeys(("outline", "plot"), Kind.OUTLINE),
    **dict.fromkeys(
        ("canon", "character", "location", "place", "item", "faction", "lore", "world"), Kind.CANON
    ),
    **dict.fromkeys(("other", "note", "notes"), Kind.OTHER),
}
_CARD_KINDS: Final = (
    ("character", re.compile(r"(?:^|/)(?:characters?|chars)/|(?:^|/)char-")),
    ("location", re.compile(r"(?:^|/)(?:locations?|places)/|(?:^|/)loc-")),
    ("item", re.compile(r"(?:^|/)(?:items?|objects|artifacts)/|(?:^|/)item-")),
    ("faction", re.compile(r"(?:^|/)(?:factions?|groups)/|(?:^|/)fac-")),
)
_ENTITY_TYPES: Final = frozenset({"character", "location", "item", "faction", "lore"})


def kind_of(document: Document) -> Kind:
    """Return what a file is to the story."""
    declared = document.front.get("type")
    if isinstance(declared, str) and declared.strip().lower() in _DECLARED:
        return _DECLARED[declared.strip().lower()]
    *folders, name = document.path.lower().split("/")
    stem = name.rpartition(".")[0]
    if "outline" in stem:
        return Kind.OUTLINE
    if _SCENE_FOLDERS.intersection(folders) or stem.startswith("scn-") or _says_scene(document):
        return Kind.SCENE
    in_canon = any(_CANON_FOLDER.fullmatch(folder) for folder in folders)
    if in_canon or _CANON_PREFIX.match(stem) or stem == "canon":
        return Kind.CANON
    return Kind.OTHER


def card_kind(document: Document) -> str:
    """Return what a canon card is about: character, location, item, faction or lore."""
    for key in ("kind", "category", "type"):
        told = str(document.front.get(key, "")).strip().lower()
        if told in _ENTITY_TYPES:
            return told
    path = document.path.lower()
    return next((kind for kind, sign in _CARD_KINDS if sign.search(path)), "lore")


def _says_scene(document: Document) -> bool:
    top = next((heading for heading in document.headings if heading.level == 1), None)
    return top is not None and numbered_title(top.text)[2] in ("scene", "chapter")
