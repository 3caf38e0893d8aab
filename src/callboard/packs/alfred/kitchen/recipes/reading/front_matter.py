"""The front matter of a Markdown file: a few plain fields, and nothing else YAML can do.

Anchors and aliases are refused, so no small file becomes a huge value; tags that would build
objects are refused by the safe loader.
"""

from collections.abc import Mapping
from typing import Any, Final, cast

from callboard.core.parsing import load_yaml
from callboard.packs.alfred.kitchen.recipes.reading.limits import RecipeUnreadable

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
