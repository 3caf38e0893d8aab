"""Addresses: which server a project's rows lie on, under which name, and how both are told.

A password is part of an address and of nothing that is told: messages pass `without_user`.
"""

import contextlib
import hashlib
import os
import re
import weakref
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from callboard.core.errors import ErrorTier
from callboard.core.places import without_user
from callboard.store.connection import Durability, StoreBusy, StoreError

if TYPE_CHECKING:
    import psycopg

SCHEMES: Final = ("postgresql://", "postgres://")
_PLAIN: Final = re.compile(r"[0-9a-z_]{1,40}")
PATIENCE_SECONDS: Final = 10.0
# A peer that is gone without a word is noticed within half a minute, by either side.
_ALIVE: Final[dict[str, Any]] = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}


class StoreUnreachable(StoreBusy):
    """The server cannot be reached or does not let us in."""

    code = "store_unreachable"
    tier = ErrorTier.USER_FIXABLE


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """A server and the schema of one project on it."""

    url: str
    project_id: str

    def __repr__(self) -> str:
        """Say it without its password."""
        return f"StoreAddress({self})"

    def __str__(self) -> str:
        """Say where the rows lie, for a reader."""
        return f"{without_user(self.url)} ({self.schema})"

    @property
    def schema(self) -> str:
        """The schema that holds the project's tables."""
        name = self.project_id
        if not _PLAIN.fullmatch(name):
            name = hashlib.blake2b(name.encode(), digest_size=16).hexdigest()
        return f"callboard_{name}"

    def number(self, purpose: str) -> int:
        """Return a number for a lock that nobody else on the server uses."""
        told = f"{self.schema} {purpose}".encode()
        return int.from_bytes(hashlib.blake2b(told, digest_size=8).digest(), signed=True)

    def connect(self, durability: Durability = Durability.FULL) -> "psycopg.Connection[Any]":
        """Open a connection whose names are those of the project's schema."""
        try:
            import psycopg
        except ImportError as error:
            raise StoreError(
                "A store on Postgres needs psycopg", fix="pip install 'callboard[postgres]'"
            ) from error
        settings = {
            "search_path": f'"{self.schema}"',
            "synchronous_commit": "on" if durability is Durability.FULL else "off",
            "lock_timeout": f"{PATIENCE_SECONDS * 1000:.0f}ms",
            "client_min_messages": "notice",
            "tcp_keepalives_idle": "10",
            "tcp_keepalives_interval": "5",
            "tcp_keepalives_count": "3",
            "idle_in_transaction_session_timeout": "60s",
            # Words and numbers are written as they are read, whatever the server prefers.
            "client_encoding": "UTF8",
            "bytea_output": "hex",
        }
        options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        try:
            raw = psycopg.connect(
                self.url,
                autocommit=True,
                options=options,
                connect_timeout=10,
                application_name=self.schema,
                **_ALIVE,
            )
        except psycopg.Error as error:
            raise self.unreachable(error) from None
        _open_connections().add(raw)
        return raw

    def unreachable(self, error: Exception) -> StoreUnreachable:
        """Return what the user is told when the server does not let us in."""
        told = " ".join(without_user(str(error)).split())
        place = without_user(self.url)
        if "password" in told or "authentication" in told:
            fix = "Correct the user or password in `store.url` of your own settings."
        elif "does not exist" in told:
            fix = "Make the database on the server, or correct its name in `store.url`."
        else:
            fix = "Start the server, or correct `store.url` in your own settings. Nothing is lost."
        return StoreUnreachable(f"The store {place} cannot be reached: {told}", fix=fix, url=place)


def is_address(text: str) -> bool:
    """Say whether a text names a server and not a file."""
    return text.startswith(SCHEMES)


@cache
def _open_connections() -> "weakref.WeakSet[psycopg.Connection[Any]]":
    """Return the connections of this process; a child that a tool forks lets go of them at once.

    A session lasts as long as anybody has its socket: a child would keep a dead parent's locks.
    """
    opened: weakref.WeakSet[psycopg.Connection[Any]] = weakref.WeakSet()

    def let_go() -> None:
        for raw in list(opened):
            # Without a word to the server: the session is the parent's.
            with contextlib.suppress(OSError, _psycopg_error()):
                os.close(raw.fileno())

    os.register_at_fork(after_in_child=let_go)
    return opened


def _psycopg_error() -> type[Exception]:
    """Return what psycopg raises."""
    import psycopg

    return psycopg.Error
