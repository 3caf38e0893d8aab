"""Doubts: what a line's words and preparations leave uncertain, and how that is told."""

import re
import unicodedata
from typing import Final

from callboard.packs.alfred.kitchen.food.foods import food_facts
from callboard.packs.alfred.kitchen.recipes.lines.lexicon import (
    find_unit,
    phrases,
    read_number,
    unit_pattern,
    words,
)
from callboard.packs.alfred.kitchen.recipes.recipe import IngredientLine, LineFlag
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


_NO_PARTICIPLES: Final = ("eed", "based", "flavored", "flavoured", "sized")
_LETTERS_DONE: Final = 5
_WORDS_DONE: Final = 2


def is_preparation(text: str) -> bool:
    """Say whether a part of a line is about what is done to the ingredient."""
    found = [word.casefold() for word in re.findall(r"[^\W\d_][\w'-]*", text)]
    if not found:
        return False
    if all(word in words("prepared") | words("adverbs") for word in found):
        return any(word in words("prepared") for word in found)
    lead = next((word for word in found if word not in words("adverbs")), "")
    if lead in words("prepared"):
        return not _names_food(found[found.index(lead) + 1 :])
    return _ends_prepared(found)


def is_participle(text: str) -> bool:
    """Say whether a part says what is done by its endings: `undiluted`, `pricked with a fork`."""
    found = text.casefold().split()
    if not found:
        return False
    if len(found) <= _WORDS_DONE and _ends_done(found[-1]):
        return True
    if all(is_done(word) or word in words("adverbs") for word in found):
        return any(_ends_done(word) for word in found)
    lead = next((at for at, word in enumerate(found) if word not in words("adverbs")), 0)
    return _ends_done(found[lead]) and bool(words("by").intersection(found[lead + 1 : lead + 2]))


def is_nameless(text: str) -> bool:
    """Say whether a text has no noun: `bone-in`, `frozen boned`."""
    return all(
        word in words("adjectives") or word in words("adverbs") or is_done(word)
        for word in text.casefold().split()
    )


def is_done(word: str) -> bool:
    """Say whether a word says what is done to something."""
    return word in words("prepared") or _ends_done(word)


def _names_food(found: list[str]) -> bool:
    """Say whether words name something to eat: `chopped` of `celery` is another ingredient."""
    if not found or any(word in words("adverbs") or word in words("by") for word in found):
        return False
    return food_facts(found[-1]).is_food


def _ends_prepared(found: list[str]) -> bool:
    """Say whether a part is of something done: `pulp cut into squares`, not `chopped celery`."""
    known = words("prepared") | words("adverbs")
    return any(
        word in words("prepared")
        and all(later in known or at == 0 for later in found[at + 1 : at + 2])
        for at, word in enumerate(found)
        if at
    )


def _ends_done(word: str) -> bool:
    is_long = len(word) >= _LETTERS_DONE
    return is_long and word.endswith("ed") and not word.endswith(_NO_PARTICIPLES)


_WORDS_OF_A_NAME: Final = 7
_WORD: Final = re.compile(r"[^\W\d_][\w'’-]*")
# Another thing goes in with this one: `dissolved in 2 tbsp water`.
_JOINED: Final = re.compile(
    r"(?:\b(?:with|in|to|and|plus)|\+)\s+(?:about\s+|approx\.?\s+)?", re.IGNORECASE
)
_SHAPES: Final = frozenset(["cm", "inch", "piece", "slice", "strip", "cube", "serving"])
_MEASURES: Final = frozenset(["tsp", "tbsp", "cup", "pinch", "handful", "ml", "oz", "kg", "lb"])
_SAME_THING: Final = frozenset(
    ["for", "each", "total", "in", "per", "to", "at", "if", "when", "or"]
)
_NUMBERED: Final = re.compile(
    r"(?<![\w.,/#-])(?<!type )(?<!no\. )\d+(?:[.,/]\d+)?(?![\d%°+]|\s*[%°])"
)


def find_doubts(line: IngredientLine, text: str) -> tuple[LineFlag, ...]:
    """Return what is doubtful about a line that was read from a plain text."""
    said = [part for part in (line.note, line.preparation) if part]
    checks = (
        (LineFlag.NO_FOOD, _is_tool(line.name)),
        (LineFlag.SEVERAL, any(_brings_another(part) for part in (*said, line.name))),
        (
            LineFlag.UNREAD_PART,
            line.quantity is None and any(_NUMBERED.search(part) for part in said),
        ),
        (LineFlag.UNREAD_PART, _is_cut_wrong(line.name) or _has_amount(line.name)),
        (LineFlag.UNREAD_PART, text.count("(") != text.count(")")),
        (LineFlag.UNIT_AS_NAME, line.unit is None and _holds_unit(line.name)),
        (LineFlag.UNREAD_PART, _holds_preparation(line.name) or _lacks_noun(line.name)),
        (LineFlag.UNKNOWN_UNIT, line.unit is None and _counts_measures(line)),
        (LineFlag.UNKNOWN_UNIT, line.quantity is None and _starts_with_measure(line.name)),
        (LineFlag.PROSE, line.quantity is None and _first(line.name) in words("orders")),
        (LineFlag.PROSE, len(_WORD.findall(line.name)) > _WORDS_OF_A_NAME),
    )
    return tuple(flag for flag, is_so in checks if is_so)


def _is_tool(name: str) -> bool:
    parts = name.casefold().split()
    return bool(parts) and (parts[-1] in words("tools") or " ".join(parts[-2:]) in words("tools"))


def _brings_another(part: str) -> bool:
    """Say whether a part measures out something else: an amount, a unit, and what it is of."""
    for joined in _JOINED.finditer(part):
        rest = part[joined.end() :]
        number = read_number(rest)
        if number is None:
            continue
        after = rest[number.length :].lstrip(" -")
        found = unit_pattern().match(after)
        unit = find_unit(found[0]) if found is not None else None
        if found is None or unit is None or unit.name in _SHAPES:
            continue
        what = _WORD.search(after, found.end())
        if what is not None and what[0].casefold() not in _SAME_THING:
            return True
    return False


def _is_cut_wrong(name: str) -> bool:
    # `ON` is a brand.
    parts = [part if part.isupper() else part.casefold() for part in name.split()]
    return len(parts) > 1 and (parts[0] in words("loose") or parts[-1] in words("loose"))


def _has_amount(name: str) -> bool:
    """Say whether an amount is left in a name."""
    for found in re.finditer(r"(?<![\w/])\d+(?:[.,/]\d+)?\s*-?", name):
        if unit_pattern().match(name, found.end()) is not None:
            return True
    return False


def _holds_unit(name: str) -> bool:
    """Say whether a unit stands before the last word of a name: `square pieces banana leaf`."""
    for word in name.split()[:-1]:
        unit = find_unit(word) if len(word) > 1 else None
        is_many = unit is not None and word.endswith("s") and unit.name != word.casefold()
        if is_many or (unit is not None and unit.name in _MEASURES):
            return True
    return False


def _lacks_noun(name: str) -> bool:
    """Say whether no word of a name is a thing; `half and half` is one."""
    return is_nameless(name) and name.casefold() not in phrases("together")


def _holds_preparation(name: str) -> bool:
    """Say whether what is done stands inside a name, where nobody can tell if it belongs to it."""
    parts = name.casefold().split()
    return any(
        part in words("prepared")
        and not any(" ".join(parts[at:]).startswith(known) for known in words("products"))
        for at, part in enumerate(parts[1:-1], 1)
    )


def _starts_with_measure(name: str) -> bool:
    """Say whether a name starts as `pot of water` does: with a measure nobody knows."""
    found = re.match(r"([^\W\d_]+) of \S", name)
    return found is not None and found[1].casefold() not in words("wholes")


def _counts_measures(line: IngredientLine) -> bool:
    """Say whether what is counted may be a measure nobody knows: `4 florets broccoli`."""
    first, _, behind = line.name.partition(" ")
    if line.quantity and behind and not unicodedata.name(first[0], "").startswith("LATIN"):
        # The units are known in Latin letters only.
        return first[0].isalpha()
    is_plural = re.fullmatch(r"[a-z]{3,}[^\Wsui]s", first) is not None
    return bool(line.quantity and behind) and is_plural and first not in words("owners")


def _first(text: str) -> str:
    found = _WORD.match(text)
    return found[0].casefold() if found is not None else ""
