"""Grounds: whether the writer said what a reply would file, so that nothing is filed unsaid.

What a writer did not say may be what the Foreman proposed; then a yes makes it the writer's.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.core.canonical import Json
from callboard.library.story.text import content_stems
from callboard.packs.writers_factory.foreman.hearing.reading import is_agreement, statements_in

FILING: Final = {"write_template": ("content",), "save_decision": ("value",)}
_LEAST_SHARE: Final = 0.6


@dataclass(frozen=True, slots=True)
class WriterWords:
    """What the writer has said of the book in a conversation."""

    stems: frozenset[str] = frozenset()
    # Whether the writer was shown exactly what is to be filed, and said yes.
    is_confirmed: bool = False

    @classmethod
    def of_turn(
        cls,
        messages: Iterable[str],
        proposed: str = "",
        *,
        standing: str = "",
        is_confirmed: bool = False,
    ) -> "WriterWords":
        """Take what was said, the newest last, and what is `standing` already.

        On a yes also what the Foreman had `proposed`.
        """
        said = list(messages)
        stems = content_stems(" ".join([standing, *map(statements_in, said)]))
        if said and is_agreement(said[-1]):
            stems |= content_stems(proposed)
        return cls(stems, is_confirmed)

    def has(self, text: str) -> bool:
        """Say whether the words that matter in a text were said."""
        wanted = content_stems(text)
        return not wanted or len(wanted & self.stems) / len(wanted) >= _LEAST_SHARE


def unsaid(action: str, values: Mapping[str, Json], words: WriterWords) -> tuple[str, ...]:
    """Return what an action would file that the writer did not say."""
    if words.is_confirmed or action not in FILING:
        return ()
    texts = [text for name in FILING[action] for text in _texts(values.get(name))]
    return tuple(text for text in texts if not words.has(text))


def _texts(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [text for each in cast("Mapping[str, Any]", value).values() for text in _texts(each)]
    if isinstance(value, list | tuple):
        return [text for each in cast("list[Any]", value) for text in _texts(each)]
    return [] if value is None else [str(value)]
