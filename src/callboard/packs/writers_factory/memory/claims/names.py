"""Names: which thing of the story a word or the beginning of a key means. Matches, never guesses.

A name that two things share means neither, unless only one of them is of the wanted type.
"""

import re
from collections.abc import Iterable
from typing import Final

from callboard.core.words import folded
from callboard.knowledge.graph import Node

_APART: Final = re.compile(r"[^\w]+|_+")
_POSSESSIVE: Final = re.compile(r"['\u2019]s\b")


def key_form(name: str) -> str:
    """Return a name as it stands in a key: `Mickey O'Dea` is `mickey_o_dea`."""
    plain = _POSSESSIVE.sub("", folded(name))
    return "_".join(part for part in _APART.split(plain) if part)


class Names:
    """Every name and alias known, and what it means."""

    def __init__(self, nodes: Iterable[Node] = ()) -> None:
        """Take what is known already."""
        self._meant: dict[str, dict[str, str]] = {}
        for node in nodes:
            self.add(node.id, node.type, (node.name, *node.aliases))

    def add(self, node_id: str, node_type: str, names: Iterable[str]) -> None:
        """Learn what a thing is called; its id's own slug counts as a name too."""
        for name in (*names, node_id.partition(":")[2]):
            form = key_form(name)
            if form:
                self._meant.setdefault(form, {})[node_id] = node_type

    def find(self, name: str, node_type: str | None = None) -> str | None:
        """Return the id of what a name means, whatever its case."""
        return self._one(key_form(name), node_type)

    def split_key(self, key: str, node_type: str | None = None) -> tuple[str | None, str]:
        """Split `<entity>_<attribute>` behind the longest name that is known."""
        words = key_form(key).split("_")
        for count in range(len(words), 0, -1):
            found = self._one("_".join(words[:count]), node_type)
            if found is not None:
                return found, "_".join(words[count:])
        return None, "_".join(words)

    def _one(self, form: str, node_type: str | None) -> str | None:
        meant = self._meant.get(form)
        if not meant:
            return None
        if len(meant) == 1:
            return next(iter(meant))
        fitting = [node_id for node_id, each in meant.items() if each == node_type]
        return fitting[0] if len(fitting) == 1 else None
