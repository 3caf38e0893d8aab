"""The words of turns that code leads, read from `prompts/guided.yaml`. Data only."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from callboard.core.bundled import bundled_yaml

_PACKAGE: Final = "callboard.packs.writers_factory"


@dataclass(frozen=True, slots=True)
class GapWords:
    """How one gap is spoken of."""

    title: str
    why: str
    ask: str
    examples: tuple[str, ...]


class _Known(dict[str, str]):
    """Values for a text; a name nobody gave stays as it is."""

    def __missing__(self, key: str) -> str:
        return f"{{{key}}}"


@dataclass(frozen=True)
class Wording:
    """Everything that is said without a model."""

    gaps: Mapping[str, GapWords]
    beats: Mapping[int, str]
    says: Mapping[str, str]
    sentences: Mapping[str, str]

    def say(self, name: str, **values: str) -> str:
        """Return one of the sentences with its values in place."""
        return fill(self.says[name], values)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put values into a text in one pass; what they contain is not read again."""
    return text.format_map(_Known(values))


@cache
def load_wording() -> Wording:
    """Read the words that come with the pack."""
    loaded: dict[str, Any] = bundled_yaml(_PACKAGE, "prompts/guided.yaml")
    gaps = {
        name: GapWords(each["title"], each["why"], each["ask"], tuple(map(str, each["examples"])))
        for name, each in loaded["gaps"].items()
    }
    beats = {int(number): str(role) for number, role in loaded["beats"].items()}
    return Wording(gaps, beats, loaded["says"], loaded["sentences"])
