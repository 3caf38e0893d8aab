"""Who may come in: this machine alone, or whoever has the token. Web pages of others may not."""

import hmac
from typing import Final
from urllib.parse import urlsplit

from fastapi import Request
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from callboard.api.failure import error_body
from callboard.core.errors import InvalidInput

LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_OPEN_PATHS: Final = frozenset({"/api/health"})


def require_token_for(host: str, token: str | None) -> None:
    """Refuse to listen beyond this machine without a token."""
    if host not in LOOPBACK and not token:
        raise InvalidInput(
            f"Listening on {host} would let everybody on the network in",
            fix="Set CALLBOARD_API_TOKEN to a long random text, or listen on 127.0.0.1.",
            host=host,
        )


class Entrance:
    """Looks at every request before anything else does."""

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        """Take what lies behind, and the token callers must show; without one this machine only."""
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or say why not."""
        refusal = self._refusal(Request(scope)) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, request: Request) -> JSONResponse | None:
        if request.url.path in _OPEN_PATHS:
            return None
        if self._token is not None:
            shown = request.headers.get("authorization", "")
            if hmac.compare_digest(shown.encode(), f"Bearer {self._token}".encode()):
                return None
            return JSONResponse(
                error_body("unauthorized", "This server asks for its token", _TOKEN_FIX),
                401,
                headers={"WWW-Authenticate": "Bearer"},
            )
        # Without a token the browser is the way in for strangers: a page may send requests here, or
        # have its own name point here. Both show in these two headers.
        if _host_name(request.headers.get("host", "")) not in LOOPBACK:
            return _forbidden("The Host header does not name this machine")
        origin = request.headers.get("origin")
        if origin is not None and urlsplit(origin).hostname not in LOOPBACK:
            return _forbidden(f"Pages of {origin} may not use this server")
        return None


_TOKEN_FIX: Final = {"fix": "Send it as `Authorization: Bearer TOKEN`."}


def _host_name(header: str) -> str:
    return urlsplit(f"//{header}").hostname or ""


def _forbidden(message: str) -> JSONResponse:
    fix = "Use http://127.0.0.1 or http://localhost, or run the server with a token."
    return JSONResponse(error_body("forbidden", message, {"fix": fix}), 403)
