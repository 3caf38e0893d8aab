"""Scene and chapter numbers as people write them: 3, III, three. Guesses no further."""

import re
from typing import Final

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
    rf"^(?P<label>scene|sc|chapter|ch|part|szene|scène|escena|scena|cena|kapitel|chapitre|capítulo|capitolo)\.?\s*+(?:#\s*+)?+(?P<number>{_NUMBER})\b"
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
