"""What was put away stays out of prompts: its rows, and its name in what was said before."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from callboard.core.vocabulary import EntityState
from callboard.knowledge.entities import Registry

_PLACEHOLDER: Final = "something put away"


@dataclass(frozen=True, slots=True)
class Hidden:
    """The names and ids that no prompt may show."""

    ids: frozenset[str] = frozenset()
    labels: tuple[str, ...] = ()

    @classmethod
    def of(cls, registry: Registry, gone: Iterable[str] = ()) -> "Hidden":
        """Return what is put away now, and the names of what was put away before."""
        inactive = registry.in_state(EntityState.INACTIVE)
        shown = {each.label.casefold() for each in registry.in_play()}
        labels = {each.label for each in inactive} | set(gone)
        # A name that something in play also has must stay readable.
        hidden = sorted((e for e in labels if e and e.casefold() not in shown), key=len)
        return cls(frozenset(each.id for each in inactive), tuple(reversed(hidden)))

    def scrub(self, text: str) -> str:
        """Return a text without the names."""
        for label in self.labels:
            text = re.sub(_whole(label), _PLACEHOLDER, text, flags=re.IGNORECASE)
        return text

    def keep_shown(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the rows that are not put away."""
        names = {label.casefold() for label in self.labels}
        return [
            dict(row)
            for row in rows
            if str(row.get("id", "")) not in self.ids
            and not any(isinstance(v, str) and v.casefold() in names for v in row.values())
        ]


def _whole(label: str) -> str:
    """Return the pattern of a name by itself: "Tea" is not in "steak".

    Scripts without case write no spaces between words; there a name may stand anywhere.
    """
    start = r"(?<!\w)" if _is_spaced(label[0]) else ""
    end = r"(?:e?s)?(?!\w)" if _is_spaced(label[-1]) else ""
    return f"{start}{re.escape(label)}{end}"


def _is_spaced(sign: str) -> bool:
    return sign.isdigit() or sign.upper() != sign.lower()
