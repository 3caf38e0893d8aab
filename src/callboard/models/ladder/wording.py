"""What the ladder says to models: the Markdown files beside it, filled in."""

import re
from functools import cache
from importlib.resources import files
from typing import Final

_PLACE: Final = re.compile(r"\{\{(\w+)\}\}")


def wording(name: str, **values: str) -> str:
    """Return a text with its places filled once; what is filled in is never read again."""
    return _PLACE.sub(lambda found: values[found[1]], _text(name)).strip()


@cache
def _text(name: str) -> str:
    return files("callboard.models.ladder").joinpath("wording", f"{name}.md").read_text("utf-8")
