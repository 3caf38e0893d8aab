"""Secret: a text that does not show itself, wherever it ends up by accident."""

import hmac
import json
import re
from collections.abc import Iterable
from typing import Final, NoReturn
from urllib.parse import quote

HIDDEN: Final = "[key removed]"
_SHOWN_CHARS: Final = 4
_LEAST_HIDDEN_CHARS: Final = 8
_LEAST_CHARS: Final = 12
"""Of a key shorter than this not even the ending is shown."""

# Only with a digit: prose has long hyphenated words, but none with a number in them.
_SHAPES: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:sk-|rk-|pk-|csk-|pplx-|xai-|gsk_|hf_|fw_|AIza)"
    r"(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,}"
    r"|(?<=[Bb]earer )(?=[A-Za-z._~+/=-]*[0-9])[A-Za-z0-9._~+/=-]{12,}"
)


class Secret:
    """A key. Only `reveal` gives it away; everything that prints or stores shows a placeholder."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        """Take the key."""
        self._value = value

    def reveal(self) -> str:
        """Return the key itself, for the one place that sends it."""
        return self._value

    @property
    def ending(self) -> str:
        """The last characters of a key long enough that they give nothing away."""
        return self._value[-_SHOWN_CHARS:] if len(self._value) >= _LEAST_CHARS else ""

    def __repr__(self) -> str:
        """Show that there is a key, not which."""
        return "Secret(hidden)"

    def __str__(self) -> str:
        """Show that there is a key, not which."""
        return "(hidden)"

    def __format__(self, _spec: str) -> str:
        """Show that there is a key, not which."""
        return "(hidden)"

    def __eq__(self, other: object) -> bool:
        """Compare without telling by the time it takes how much agrees."""
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self._value.encode(), other.reveal().encode())

    def __hash__(self) -> int:
        """Return a hash that fits the comparison."""
        return hash(("secret", self._value))

    def __copy__(self) -> "Secret":
        """Return itself: a secret never changes."""
        return self

    def __deepcopy__(self, _memo: object) -> "Secret":
        """Return itself: a secret never changes."""
        return self

    def __reduce__(self) -> NoReturn:
        """Refuse to be written out."""
        raise TypeError("A secret is never stored with other data; keep it in the credentials.")


def _inner(value: str) -> set[str]:
    """Return what must not show either of a key that is a whole file: its private part."""
    if not value.startswith("{"):
        return set()
    try:
        private = str(json.loads(value).get("private_key", ""))
    except (ValueError, RecursionError):
        return set()
    return {private, json.dumps(private)[1:-1]} - {""}


class Scrubber:
    """Cuts known keys, and what looks like a key, out of texts."""

    def __init__(self, secrets: Iterable[Secret] = ()) -> None:
        """Take the keys that are known."""
        # Replaced and never changed: others may be reading them in their threads.
        self._spellings: frozenset[str] = frozenset()
        # Of known keys, those long enough that no ordinary word is meant; the longest first.
        self._unmistakable: tuple[str, ...] = ()
        for secret in secrets:
            self.add(secret)

    def add(self, secret: Secret) -> None:
        """Take another key."""
        value = secret.reveal()
        if value:
            # The ways a key may stand in what a server or a library says about a request.
            self._spellings |= {value, quote(value, safe=""), repr(value)[1:-1], *_inner(value)}
            self._spellings |= {
                json.dumps(value)[1:-1],
                json.dumps(value, ensure_ascii=False)[1:-1],
            }
            self._unmistakable = tuple(
                each for each in self._longest_first() if len(each) >= _LEAST_HIDDEN_CHARS
            )

    def scrub(self, text: str) -> str:
        """Return a text without any known key and without what looks like one."""
        for spelling in self._longest_first():
            text = text.replace(spelling, HIDDEN)
        return _SHAPES.sub(HIDDEN, text)

    @property
    def knows_any(self) -> bool:
        """Whether there is a key that `hide` would take out."""
        return bool(self._unmistakable)

    def hide(self, text: str) -> str:
        """Return a text without any known key; what only looks like one stays."""
        for spelling in self._unmistakable:
            if spelling in text:
                text = text.replace(spelling, HIDDEN)
        return text

    def beginning_at_end_of(self, text: str) -> int:
        """Return how many characters at the end of a text may be the beginning of a known key."""
        longest = 0
        for spelling in self._unmistakable:
            for length in range(min(len(spelling) - 1, len(text)), longest, -1):
                if text.endswith(spelling[:length]):
                    longest = length
                    break
        return longest

    def finds_in(self, text: str) -> bool:
        """Say whether a known key stands in a text."""
        return any(spelling in text for spelling in self._spellings)

    def _longest_first(self) -> list[str]:
        # A key that begins with another one must go first, or its rest would stay.
        return sorted(self._spellings, key=len, reverse=True)
