"""A line taken apart before it is read: plain characters, what stands in brackets, sentences.

Cuts and cleans; decides nothing about what the parts mean.
"""

import re
import unicodedata
from typing import Final

from callboard.packs.alfred.kitchen.recipes.text import one_line, without_emoji, without_markup

MOST_READ: Final = 2_000
"""How much of a line is read; the line itself is kept whole."""
_BULLET: Final = re.compile(r"^(?:[-*+•‣▪◦·–—]\s+|\[[ xX]?\]\s*|☐\s*|\d{1,3}[.)]\s+(?=\D)){1,9}")
_DASHES: Final = re.compile("[\u2010-\u2015\u2212]")
_SENTENCE: Final = re.compile(
    r"(?<=[\w)])(?:\.\s+(?=[A-Z])|\s*;\s+|\s+--\s+|\s+\|\s+|!\s+(?=[A-Z]))"
)
# `optionally essence` is about the essence; alone, the word is about the ingredient.
_OPTIONAL: Final = re.compile(
    r"\b(?:optional|optionally(?=\W*$)|optionnal|optionnel(?:le)?|opcional)\b", re.IGNORECASE
)
_PLURAL: Final = re.compile(r"(?<=\w)\((?:s|es)\)")
_SLASH: Final = "\u2044"
_CROSS: Final = "\u00d7"
_EDGES: Final = " \t,;:.-–—"


def plain_line(raw: str) -> str:
    """Return a line as plain words: no bullets, markup, emoji, and numbers in plain digits."""
    text = _PLURAL.sub("", without_markup(one_line(raw[:MOST_READ])))
    text = without_emoji("".join(_plain_char(char) for char in text))
    text = _DASHES.sub("-", text).replace(_SLASH, "/")
    text = _BULLET.sub("", " ".join(text.split()))
    return text.strip(" \t,;").removesuffix(".").strip()


def split_brackets(text: str) -> tuple[str, list[str]]:
    """Return a line without what stands in brackets, and that, outermost first."""
    outside: list[str] = []
    inside: list[str] = []
    depth = 0
    for char in text:
        if char in "([{":
            depth += 1
            if depth == 1:
                inside.append("")
                outside.append(" ")
                continue
        elif char in ")]}":
            if depth == 0:
                continue
            depth -= 1
            if depth == 0:
                continue
        (inside.append(inside.pop() + char) if depth else outside.append(char))
    main = re.sub(r"\s+([,;.:])", r"\1", " ".join("".join(outside).split()))
    return main.strip(), [part.strip(_EDGES) for part in inside if part.strip(_EDGES)]


def split_sentences(text: str) -> tuple[str, str]:
    """Return the first statement of a line, and what is said after it."""
    found = _SENTENCE.search(text)
    if found is None:
        return text, ""
    return text[: found.start()], text[found.end() :].strip(_EDGES)


def split_commas(text: str) -> list[str]:
    """Return the parts of a text between its commas; a decimal comma parts nothing."""
    parts = re.split(r",(?!\d)|(?<!\d),", text)
    return [part.strip(_EDGES) for part in parts if part.strip(_EDGES)]


def take_optional(text: str) -> tuple[str, bool]:
    """Return a text without the word that makes it optional, and whether it was there."""
    if _OPTIONAL.search(text) is None:
        return text, False
    return " ".join(_OPTIONAL.sub(" ", text).split()).strip(" ,;:-"), True


def _plain_char(char: str) -> str:
    category = unicodedata.category(char)
    if category == "No":
        spelled = unicodedata.normalize("NFKC", char)
        return f" {spelled.replace(_SLASH, '/')} " if _SLASH in spelled else char
    if category == "Nd" and not char.isascii():
        return str(unicodedata.decimal(char))
    return "x" if char == _CROSS else char
