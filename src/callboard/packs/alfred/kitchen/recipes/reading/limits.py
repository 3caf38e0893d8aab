"""Limits: how much is read, the words for headings and facts, and what front matter may hold."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, cast

from callboard.core.bundled import bundled_yaml
from callboard.core.errors import InvalidInput
from callboard.core.parsing import load_yaml
from callboard.packs.alfred.kitchen.recipes.recipe import Warned
from callboard.packs.alfred.kitchen.recipes.text import without_emoji, without_markup

MOST_BYTES: Final = 2_000_000
MOST_TEXT_BYTES: Final = 300_000
"""How long a recipe people wrote may be; files of machines may be longer."""
MOST_LINES: Final = 20_000
MOST_INGREDIENTS: Final = 300
MOST_STEPS: Final = 300
MOST_TAGS: Final = 40
MOST_RECIPES: Final = 50
MOST_LINES_OF_ALL: Final = 1_500
MOST_CHARACTERS_OF_ALL: Final = 300_000
"""How much the ingredients of all recipes of a file may be: understanding a line takes far longer
than reading it."""
LONGEST_NAME: Final = 200
LONGEST_TEXT: Final = 4_000
LONGEST_BLOCK: Final = 20_000
DEEPEST: Final = 30


class RecipeUnreadable(InvalidInput):
    """A file holds no recipe that can be read."""

    code = "recipe_unreadable"


def cut_short(count: int | str, most: int, what: str) -> Warned:
    """Return the warning that not all of something is taken."""
    return Warned("too_many", f"Only the first {most} of {count} {what} are taken.")


def decode(data: bytes) -> str:
    """Return the text of a file, or say why it is none."""
    if len(data) > MOST_BYTES:
        raise RecipeUnreadable(
            f"The file has {len(data):,} bytes; a recipe file may have {MOST_BYTES:,}.",
            fix="Split it into smaller files.",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RecipeUnreadable(
            f"The file is not UTF-8 text: byte {error.start} is 0x{data[error.start]:02x}.",
            fix="Save it again as UTF-8.",
        ) from error


def check_text(text: str, most: int = MOST_BYTES) -> str:
    """Return a text within the limits, its lines ended alike."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > most:
        raise RecipeUnreadable(
            f"The text has {size:,} bytes; a recipe may have {most:,}.",
            fix="Paste one recipe at a time.",
        )
    if "\x00" in text:
        raise RecipeUnreadable(
            "The file holds zero bytes, so it is no text.", fix="Export it as Markdown or JSON-LD."
        )
    ended = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if ended.count("\n") > MOST_LINES:
        raise RecipeUnreadable(
            f"The file has more than {MOST_LINES:,} lines.", fix="Split it into smaller files."
        )
    if not ended.strip():
        raise RecipeUnreadable("The file is empty.", fix="Give a file that holds a recipe.")
    return ended


def check_depth(value: Any) -> None:
    """Refuse data that is nested deeper than any recipe."""
    layer: list[Any] = [value]
    for _ in range(DEEPEST):
        layer = [inner for held in layer for inner in _inside(held)]
        if not layer:
            return
    raise RecipeUnreadable(
        f"The data is nested deeper than {DEEPEST} levels.", fix="Give plain schema.org JSON-LD."
    )


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return list(value) if isinstance(value, list) else []  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


# No heading of a part is longer.
_LONGEST: Final = 200


def part_named(title: str) -> str | None:
    """Return which part of a recipe a heading opens, or None if it names none."""
    if len(title) > _LONGEST:
        return None
    plain = re.sub(r"\([^()]*\)", "", without_emoji(without_markup(title))).strip(" :.-").casefold()
    for part, names in _parts().items():
        if plain in names:
            return part
    # `Prep Directions`, `Ingredients for the dough`; but a whole sentence opens nothing.
    found = plain.split()
    if not 0 < len(found) <= 5:
        return None
    for part in ("ingredients", "steps", "notes"):
        names = _parts()[part]
        if found[0] in names or (found[-1] in names and part == "steps" and found[-1] != "cooking"):
            return part
    return None


def is_bare_heading(line: str) -> bool:
    """Say whether a line is a heading though it is not marked as one."""
    if len(line) > _LONGEST:
        return False
    plain = without_emoji(without_markup(line)).strip()
    is_bold = re.fullmatch(r"\s*(\*\*|__)[^*_]+\1:?\s*", line) is not None
    is_named = plain.rstrip(" :").casefold() in {
        name for names in _parts().values() for name in names
    }
    return is_named and (is_bold or plain.endswith(":"))


def is_part_alone(line: str) -> bool:
    """Say whether a line of plain text is the name of a part and nothing else."""
    if len(line) > _LONGEST:
        return False
    plain = without_emoji(line).strip(" :*#=-").casefold()
    return any(plain in _parts()[part] for part in ("ingredients", "steps", "notes"))


def fact_named(key: str) -> str | None:
    """Return which fact a key stands for, or None."""
    plain = without_emoji(key).strip(" :*_").casefold()
    return next((fact for fact, names in _facts().items() if plain in names), None)


@cache
def _parts() -> Mapping[str, frozenset[str]]:
    book = _book()
    return {
        part: frozenset(str(name).casefold() for name in book[part])
        for part in ("ingredients", "steps", "notes", "description")
    }


@cache
def _facts() -> Mapping[str, frozenset[str]]:
    listed: Mapping[str, list[str]] = _book()["facts"]
    return {
        fact: frozenset(str(name).casefold() for name in names) for fact, names in listed.items()
    }


def _book() -> Mapping[str, Any]:
    return bundled_yaml("callboard.packs.alfred.kitchen.recipes.reading", "headings.yaml")


MOST_CHARACTERS: Final = 16_000
_DEEPEST_FLOW: Final = 12
_FENCE: Final = "---"


def split_front_matter(text: str) -> tuple[Mapping[str, Any], str]:
    """Return the fields a file starts with, and the text behind them."""
    lines = text.split("\n")
    if lines[0].strip() != _FENCE:
        return {}, text
    end = next(
        (at for at, line in enumerate(lines[1:], 1) if line.strip() in (_FENCE, "...")), None
    )
    if end is None:
        return {}, text
    return _fields("\n".join(lines[1:end])), "\n".join(lines[end + 1 :])


def _fields(written: str) -> Mapping[str, Any]:
    import yaml

    if len(written) > MOST_CHARACTERS:
        raise RecipeUnreadable(
            f"The front matter has {len(written):,} characters; {MOST_CHARACTERS:,} are allowed.",
            fix="Keep title, tags, date and author there, and the rest below.",
        )
    try:
        _refuse_references(written)
        loaded: object = load_yaml(written)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise RecipeUnreadable(
            f"The front matter is no valid YAML: {_first_line(error)}",
            fix="Correct it, or remove the lines between the two ---.",
        ) from error
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise RecipeUnreadable(
            f"The front matter is a {type(loaded).__name__}, not fields.",
            fix="Write it as `title: …`, one field per line.",
        )
    return {str(key).casefold(): value for key, value in cast("dict[Any, Any]", loaded).items()}


def _refuse_references(written: str) -> None:
    import yaml

    depth = 0
    events: Any = cast("Any", yaml).parse(written, Loader=yaml.SafeLoader)
    for event in events:
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise RecipeUnreadable(
                "The front matter refers to itself with anchors or aliases.",
                fix="Write the values out.",
            )
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _DEEPEST_FLOW:
            raise RecipeUnreadable("The front matter is nested too deeply.", fix="Flatten it.")


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]
