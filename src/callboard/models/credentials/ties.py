"""Ties: to which address a key may go besides its provider's own. Only the user makes them.

A file in the user's configuration folder, readable, without any key in it. An address is compared
whole: scheme, host and port.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from callboard.core.errors import InvalidInput
from callboard.core.places import without_user
from callboard.store.files import locked_folder, write_atomically
from callboard.store.reading import FileRefused, read_bounded

FILE_NAME: Final = "ties.json"
_LARGEST_BYTES: Final = 1_000_000
_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Tie:
    """A key that may go to an address: the provider's usual one, or the one in a variable.

    An empty address is the provider's own.
    """

    account: str
    address: str
    variable: str | None = None


class Ties:
    """The ties of one user; without a file there are those given, and no more can be made."""

    def __init__(self, folder: Path | None = None, given: Iterable[Tie] = ()) -> None:
        """Take the user's configuration folder."""
        self._path = None if folder is None else folder / FILE_NAME
        self._given = frozenset(given)

    def all(self) -> frozenset[Tie]:
        """Return every tie; a file that cannot be read ties nothing."""
        return self._given | self._read()

    def add(self, tie: Tie) -> None:
        """Remember a tie."""
        self._write(lambda ties: ties | {tie})

    def remove(self, account: str) -> frozenset[Tie]:
        """Forget the ties of a provider, and return them."""
        gone = frozenset(each for each in self._read() if each.account == account)
        if gone:
            self._write(lambda ties: ties - gone)
        return gone

    def _read(self) -> frozenset[Tie]:
        if self._path is None:
            return frozenset()
        try:
            listed: Any = json.loads(read_bounded(self._path, limit_bytes=_LARGEST_BYTES))
            return frozenset(Tie(**each) for each in listed)
        except FileNotFoundError:
            return frozenset()
        except (FileRefused, OSError, ValueError, TypeError) as error:
            raise InvalidInput(
                f"{self._path} cannot be read: {error}",
                fix="Remove it, and tie your keys again with `callboard auth tie`.",
            ) from error

    def _write(self, change: Callable[[frozenset[Tie]], frozenset[Tie]]) -> None:
        if self._path is None:
            raise InvalidInput("There is no folder to keep ties in", fix="Open them with one.")
        with locked_folder(self._path.parent):
            ties = sorted(change(self._read()), key=lambda each: json.dumps(asdict(each)))
            text = json.dumps([asdict(each) for each in ties], indent=2) + "\n"
            write_atomically(self._path, text.encode())


def address_of(url: str) -> str:
    """Return scheme, host and port of a URL; one that holds a name or password is refused."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
        host = parts.hostname
    except ValueError:
        port = host = None
        parts = urlsplit("")
    if parts.scheme not in _PORTS or not host or port is None:
        raise InvalidInput(
            f"{without_user(url)!r} is no address of a provider",
            fix="Write one like https://models.example.org/v1.",
        )
    if "@" in parts.netloc:
        raise InvalidInput(
            f"{without_user(url)!r} holds a user name or a password",
            fix="Take it out of the address; keep the key with `callboard auth PROVIDER`.",
        )
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}:{port}"
