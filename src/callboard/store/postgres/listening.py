"""Listening: wakes whoever waits when any process commits, by the server's own notifications.

A channel that is lost is opened again; until then commits of others are noticed by asking.
"""

import logging
import select
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from callboard.store.connection import StoreError
from callboard.store.postgres.address import StoreAddress

if TYPE_CHECKING:
    import psycopg

_log = logging.getLogger(__name__)
_LOOK_SECONDS: Final = 0.5


class Listening:
    """One channel of a project, on a thread and a connection of its own."""

    def __init__(self, address: StoreAddress, wake: Callable[[], None]) -> None:
        """Begin to listen; `wake` is called on the thread, after every commit of any process."""
        self._address = address
        self._wake = wake
        self._stopped = threading.Event()
        # Its end is what the thread waits for beside notifications.
        self._ending, self._end = socket.socketpair()
        self.is_open = False
        self._thread = threading.Thread(target=self._serve, name="callboard-listener", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        self._stopped.set()
        self._end.close()
        self._thread.join()
        self._ending.close()

    def _serve(self) -> None:
        import psycopg

        while not self._stopped.is_set():
            try:
                with self._address.connect() as raw:
                    raw.execute(f'LISTEN "{self._address.schema}"'.encode())
                    self.is_open = True
                    # Whatever was told before is known by looking.
                    self._wake()
                    self._hear(raw)
            except (StoreError, psycopg.Error, OSError) as error:
                if self.is_open:
                    _log.warning("notifications of the store are lost, asking instead: %s", error)
            finally:
                self.is_open = False
            self._stopped.wait(_LOOK_SECONDS)

    def _hear(self, raw: "psycopg.Connection[Any]") -> None:
        while not self._stopped.is_set():
            select.select([raw, self._ending], [], [], _LOOK_SECONDS)
            if not self._stopped.is_set() and any(True for _ in raw.notifies(timeout=0)):
                self._wake()
