"""Identity: who is the same person or thing under another name, by what canon says of names."""

import re
from collections.abc import Sequence
from typing import Final

from callboard.library.story.contradiction import ConflictRules, key_form
from callboard.packs.questfoundry.book.model import CanonStatement

_ARTICLE: Final = re.compile(r"^(?:the|a|an)_(?=.)")
_APART: Final = re.compile(r"[,;]|\sand\s")


def name_key(name: str) -> str:
    """Return a name as it is compared: small letters, no article."""
    return _ARTICLE.sub("", key_form(name)) or name.strip()


class Identities:
    """Every name of a canon, and the one each bearer is known by."""

    def __init__(self, statements: Sequence[CanonStatement], rules: ConflictRules) -> None:
        """Take the statements; those that name another name make two bearers one."""
        self._above: dict[str, str] = {}
        self._shown: dict[str, str] = {}
        for each in statements:
            if each.kind in ("fact", "knowledge"):
                self._shown.setdefault(name_key(each.about), each.about)
        for each in statements:
            if each.kind == "fact" and rules.names_another(key_form(each.attribute)):
                for other in map(str.strip, _APART.split(each.text)):
                    self._shown.setdefault(name_key(other), other)
                    self._join(name_key(each.about), name_key(other))

    def of(self, name: str) -> str:
        """Return what a name's bearer is known by; a name nobody explained is its own."""
        return self._root(name_key(name))

    def names(self) -> dict[str, list[str]]:
        """Return all names of each bearer, as they were first written."""
        found: dict[str, list[str]] = {}
        for key, shown in self._shown.items():
            found.setdefault(self._root(key), []).append(shown)
        return found

    def _root(self, key: str) -> str:
        while (above := self._above.get(key, key)) != key:
            # Halve the way, so that no chain of names stays long.
            self._above[key] = self._above.get(above, above)
            key = above
        return key

    def _join(self, one: str, other: str) -> None:
        first, second = self._root(one), self._root(other)
        if first != second:
            self._above[second] = first
