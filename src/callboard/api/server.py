"""The server as every door of ours runs it: which protocols, which limits, which patience.

Whoever keeps a connection and sends or takes nothing loses it.

The server waits for a request line by line and for an answer to be taken; nobody can make it wait
for ever. Streams and sockets, which are quiet by nature, are kept alive by what they send.
"""

import asyncio
import socket
from collections.abc import Callable
from typing import ClassVar, Final

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from callboard.api.bodies import PATIENCE, Patience


class PatientConnection(H11Protocol):
    """A connection with a limit on how long its client may take for anything.

    One wait at a time: for the whole head of a request, whatever trickles in meanwhile, or for
    what is left of a body that was answered without being read.
    """

    patience: ClassVar[Patience] = PATIENCE
    _waiting: asyncio.TimerHandle | None = None
    _waits_for_rest = False
    _taking: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Expect a first request."""
        super().connection_made(transport)
        # An answer goes out in two parts: the second must not wait until the first is confirmed.
        # asyncio sees to that only for sockets that name their protocol; an accepted one may not.
        accepted: socket.socket | None = transport.get_extra_info("socket")
        if accepted is not None and accepted.family in (socket.AF_INET, socket.AF_INET6):
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._waiting = self._after(self.patience.head_seconds, self._give_up)

    def data_received(self, data: bytes) -> None:
        """Go on with what has come."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Expect the next request, or what is left of this one."""
        super().on_response_complete()
        self._look()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Leave the connection to the socket, which looks after itself."""
        self._stop_waiting()
        super().handle_websocket_upgrade(event)

    def pause_writing(self) -> None:
        """Wait for a client that is slow to take its answer, but not for ever."""
        super().pause_writing()
        self._taking = self._after(self.patience.taking_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on answering."""
        super().resume_writing()
        self._stop_taking()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._stop_waiting()
        self._stop_taking()
        super().connection_lost(exc)

    def _look(self) -> None:
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            self._stop_waiting()
            return
        their_state = self.conn.their_state
        is_resting = their_state is h11.SEND_BODY and self.cycle.response_complete
        has_begun = their_state is h11.IDLE and bool(self.conn.trailing_data[0])
        if not (is_resting or has_begun) or is_resting != self._waits_for_rest:
            self._stop_waiting()
        if (is_resting or has_begun) and self._waiting is None:
            self._waits_for_rest = is_resting
            patience = self.patience
            seconds = patience.rest_seconds if is_resting else patience.head_seconds
            self._waiting = self._after(seconds, self._give_up)

    def _give_up(self) -> None:
        self._waiting = None
        self.transport.close()

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting, self._waits_for_rest = None, False

    def _stop_taking(self) -> None:
        if self._taking is not None:
            self._taking.cancel()
        self._taking = None

    @classmethod
    def with_patience(cls, patience: Patience) -> "type[PatientConnection]":
        """Return the same connection with other limits."""
        return type("PatientConnection", (cls,), {"patience": patience})

    def _after(self, seconds: float, act: Callable[[], None]) -> asyncio.TimerHandle:
        return self.loop.call_later(seconds, act)


BACKLOG: Final = 2048
MOST_SOCKET_BYTES: Final = 1_000_000
_STOP_SECONDS: Final = 3


def server_config(
    app: FastAPI,
    *,
    lifespan: bool = True,
    stop_seconds: int = _STOP_SECONDS,
    patience: Patience = PATIENCE,
) -> uvicorn.Config:
    """Return how an application is served, the same everywhere, whatever else is installed."""
    return uvicorn.Config(
        app,
        lifespan="on" if lifespan else "off",
        log_level="warning",
        loop="asyncio",
        http=PatientConnection.with_patience(patience),
        ws="websockets-sansio",
        ws_max_size=MOST_SOCKET_BYTES,
        backlog=BACKLOG,
        timeout_keep_alive=patience.keep_alive_seconds,
        timeout_graceful_shutdown=stop_seconds,
    )
