"""What a file may be before anybody reads it: its size, its characters, its depth.

A file outside these limits is refused with a reason; nothing of it is read.
"""

from typing import Any, Final

from callboard.core.errors import InvalidInput

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
