"""How many requests are answered at a time: one too many is told to come again, never cut off."""

from typing import Final

from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from callboard.api.failure import error_body

MOST_REQUESTS: Final = 1000
_RETRY_SECONDS: Final = 2
# Whoever watches over the server must hear from it when it is busiest.
_ALWAYS: Final = "/api/health"


class Capacity:
    """Counts what is being answered, streams and sockets included."""

    def __init__(self, app: ASGIApp, most: int = MOST_REQUESTS) -> None:
        """Take what lies behind, and how many may be there at once."""
        self._app = app
        self._most = most
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in while there is room."""
        if scope["type"] not in ("http", "websocket") or scope["path"] == _ALWAYS:
            await self._app(scope, receive, send)
        elif self._inside >= self._most:
            await self._refuse(scope, receive, send)
        else:
            self._inside += 1
            try:
                await self._app(scope, receive, send)
            finally:
                self._inside -= 1

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1013})
            return
        message = f"{self._most} requests are being answered already"
        fix = f"Try again in {_RETRY_SECONDS} seconds."
        told = error_body("too_busy", message, {"fix": fix, "limit_requests": self._most})
        headers = {"Retry-After": str(_RETRY_SECONDS)}
        await JSONResponse(told, 503, headers=headers)(scope, receive, send)
