"""Metadata: what a file says about itself, from front matter, heading, fields and name.

Its number, as people write them (3, III, three), and whether it is a scene, an outline or canon.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.core.canonical import Json
from callboard.library.story.model import FileKind, StoryFile
from callboard.library.story.text import Document

_ROMAN: Final = re.compile(r"(?=[ivxlc])(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})", re.IGNORECASE)
_ROMAN_VALUES: Final = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_ONES: Final = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
)
_TENS: Final = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60}
_NUMBER: Final = r"\d{1,4}|[ivxlcIVXLC]{1,7}|[A-Za-z]+(?:[\- ](?:" + "|".join(_ONES[1:10]) + r"))?"
_LABELLED: Final = re.compile(
    rf"^(?P<label>scene|sc|chapter|ch|part|szene|scène|escena|scena|cena|kapitel|chapitre"
    rf"|capítulo|capitolo)\.?\s*+(?:#\s*+)?+(?P<number>{_NUMBER})\b"
    r"\s*+(?:[:.)\-–—|]++\s*+(?P<title>.*))?$",
    re.IGNORECASE,
)
_LABELS: Final = {
    **dict.fromkeys(("scene", "sc", "szene", "scène", "escena", "scena", "cena"), "scene"),
    **dict.fromkeys(("chapter", "ch", "kapitel", "chapitre", "capítulo", "capitolo"), "chapter"),
    "part": "part",
}
_BARE: Final = re.compile(
    r"^(?P<number>\d{1,4}|[IVXLC]{1,7})\s*(?:[:.)–—|]\s*|\s-\s|$)(?P<title>.*)$"
)
_FILE_PAIR: Final = re.compile(
    r"(?:ch|chapter|part|act)[\W_]*+\d++.{0,200}?(?:sc|scn|scene)[\W_]*+\d+"
)
_FILE_LABELLED: Final = re.compile(r"(?:scn|scene|sc|chapter|ch)[\W_]*(\d{1,4})(?!\d)")
_DIGITS: Final = re.compile(r"(?<!\d)\d{1,4}(?!\d)")
_CHAPTER_FOLDER: Final = re.compile(r"(?:chapter|ch)[\W_]*(\d{1,4})")
_SCENE_FILE: Final = re.compile(r"(?:scene|sc)[\W_]*(\d{1,4})(?!\d).*")
_SCENE_FOLDERS: Final = frozenset({"scenes", "chapters", "manuscript"})
_CANON_FOLDER: Final = re.compile(
    r"compendium|characters?|chars|cards|cast|locations?|lore|world.*"
)
_CANON_PREFIX: Final = re.compile(r"(?:char|loc|item|fac|lore)-")
_DECLARED: Final = {
    **dict.fromkeys(("scene", "chapter"), FileKind.SCENE),
    **dict.fromkeys(("outline", "plot"), FileKind.OUTLINE),
    **dict.fromkeys(
        ("canon", "character", "location", "place", "item", "faction", "lore", "world"),
        FileKind.CANON,
    ),
    **dict.fromkeys(("other", "note", "notes"), FileKind.OTHER),
}
_CARD_KINDS: Final = (
    ("character", re.compile(r"(?:^|/)(?:characters?|chars)/|(?:^|/)char-")),
    ("location", re.compile(r"(?:^|/)(?:locations?|places)/|(?:^|/)loc-")),
    ("item", re.compile(r"(?:^|/)(?:items?|objects|artifacts)/|(?:^|/)item-")),
    ("faction", re.compile(r"(?:^|/)(?:factions?|groups)/|(?:^|/)fac-")),
)
_PERSONAL_KEYS: Final = frozenset(
    {"age", "eyes", "hair", "gender", "pronouns", "occupation", "profession", "job", "born"}
)
_ENTITY_TYPES: Final = frozenset({"character", "location", "item", "faction", "lore"})
_KEYS: Final = {
    "pov": ("pov", "point of view"),
    "location": ("location", "place", "setting"),
    "when": ("when", "story_time", "story time", "date", "time"),
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
_AMOUNT: Final = re.compile(r"\d[\d,.]*")
_SEPARATORS: Final = re.compile(r"[,;/]|\band\b")


def read_number(text: str) -> int | None:
    """Return the number a word stands for, or None."""
    word = text.strip().lower()
    if word.isdecimal():
        return int(word)
    if word in _ONES:
        return _ONES.index(word)
    tens, _, ones = word.replace("-", " ").partition(" ")
    if tens in _TENS and (not ones or ones in _ONES[1:10]):
        return _TENS[tens] + (_ONES.index(ones) if ones else 0)
    return _roman(word)


def numbered_title(text: str) -> tuple[int | None, str, str]:
    """Return number, title and label of a heading such as `Scene 3: Ashes` or `III: The Problem`.

    What has no number keeps its whole text as the title and has an empty label.
    """
    hit = _LABELLED.match(text)
    if hit is not None and (number := read_number(hit["number"])) is not None:
        return number, (hit["title"] or "").strip(), _LABELS[hit["label"].lower()]
    hit = _BARE.match(text)
    if hit is not None and (number := read_number(hit["number"])) is not None:
        return number, hit["title"].strip(), ""
    return None, text.strip(), ""


def number_in_filename(stem: str) -> int | None:
    """Return the scene number a file name holds; `ch02-sc03` holds two and therefore none."""
    name = stem.lower()
    if _FILE_PAIR.search(name):
        return None
    hit = _FILE_LABELLED.search(name)
    if hit is not None:
        return int(hit[1])
    digits = _DIGITS.search(name)
    return int(digits[0]) if digits else None


def _roman(word: str) -> int | None:
    if not word or not _ROMAN.fullmatch(word):
        return None
    total = 0
    for char, following in zip(word, [*word[1:], ""], strict=True):
        value = _ROMAN_VALUES[char]
        total += -value if following and _ROMAN_VALUES[following] > value else value
    return total


def kind_of(document: Document) -> FileKind:
    """Return what a file is to the story."""
    declared = document.front.get("type")
    if isinstance(declared, str) and declared.strip().lower() in _DECLARED:
        return _DECLARED[declared.strip().lower()]
    *folders, name = document.path.lower().split("/")
    stem = name.rpartition(".")[0]
    if "outline" in stem:
        return FileKind.OUTLINE
    if _SCENE_FOLDERS.intersection(folders) or stem.startswith("scn-") or _says_scene(document):
        return FileKind.SCENE
    in_canon = any(_CANON_FOLDER.fullmatch(folder) for folder in folders)
    if in_canon or _CANON_PREFIX.match(stem) or stem == "canon":
        return FileKind.CANON
    return FileKind.OTHER


def card_kind(document: Document) -> str:
    """Return what a canon card is about: character, location, item, faction or lore."""
    for key in ("kind", "category", "type"):
        told = str(document.front.get(key, "")).strip().lower()
        if told in _ENTITY_TYPES:
            return told
    path = document.path.lower()
    told = next((kind for kind, sign in _CARD_KINDS if sign.search(path)), None)
    # Only people have an age or eyes.
    is_person = bool(_PERSONAL_KEYS.intersection((*document.front, *document.fields)))
    return told or ("character" if is_person else "lore")


def _says_scene(document: Document) -> bool:
    top = next((heading for heading in document.headings if heading.level == 1), None)
    return top is not None and numbered_title(top.text)[2] in ("scene", "chapter")


def describe(document: Document, sha256: str) -> StoryFile:
    """Return a file's description; its place in the story is decided elsewhere."""
    kind = kind_of(document)
    # The lines near the top of an outline describe its first scene.
    fields: Mapping[str, str] = {} if kind is FileKind.OUTLINE else document.fields
    told = _Told(document.front, fields)
    chapter, number = _place(document) if kind is FileKind.SCENE else (None, None)
    return StoryFile(
        path=document.path,
        kind=kind,
        title=_title(document),
        sha256=sha256,
        word_count=document.word_count,
        scene_number=number,
        chapter=chapter,
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
    hit = _AMOUNT.search(str(value)) if value is not None else None
    return int(re.sub(r"\D", "", hit[0])[:9]) if hit else None


def _title(document: Document) -> str:
    told = document.front.get("title")
    if isinstance(told, str | int) and str(told).strip():
        return str(told).strip()
    top = next((heading.text for heading in document.headings if heading.level == 1), None)
    named = document.front.get("name") if top is None else None
    if isinstance(named, str) and named.strip():
        return named.strip()
    told = top or document.fields.get("title") or document.fields.get("name")
    return told or name_from_path(document.path)


def place_in_path(path: str) -> tuple[int, int] | None:
    """Return chapter and scene of a file like `Chapter_02/Scene_01.md`; None of any other."""
    *folders, name = path.lower().split("/")
    chapter = _CHAPTER_FOLDER.fullmatch(folders[-1]) if folders else None
    scene = _SCENE_FILE.fullmatch(name.rpartition(".")[0])
    return None if chapter is None or scene is None else (int(chapter[1]), int(scene[1]))


def _place(document: Document) -> tuple[int | None, int | None]:
    """Return the chapter of a scene, if it has one of its own, and the scene's number."""
    if (placed := place_in_path(document.path)) is not None:
        return placed
    told = (document.front.get(key, document.fields.get(key)) for key in ("chapter", "scene"))
    chapter, scene = (None if each is None else read_number(str(each)) for each in told)
    if chapter is not None and scene is not None:
        return chapter, scene
    return None, _scene_number(document)


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
