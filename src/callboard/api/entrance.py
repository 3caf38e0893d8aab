"""Who may come in: this machine alone, or whoever has the token. Web pages of others may not."""

import hmac
from typing import Final
from urllib.parse import urlsplit

from fastapi import Request
from fastapi.responses import JSONResponse, Response
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from callboard.api.admittance import ENTER, admit, ask_for_token, is_admitted
from callboard.api.failure import error_body
from callboard.core.errors import InvalidInput

LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_OPEN_PATHS: Final = frozenset({"/api/health"})
_POLICY_VIOLATED: Final = 1008


def require_token_for(host: str, token: str | None) -> None:
    """Refuse to listen beyond this machine without a token."""
    if host not in LOOPBACK and not token:
        raise InvalidInput(
            f"Listening on {host} would let everybody on the network in",
            fix="Set CALLBOARD_API_TOKEN to a long random text, or listen on 127.0.0.1.",
            host=host,
        )


class Entrance:
    """Looks at every request and every socket before anything else does."""

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        """Take what lies behind, and the token callers must show; without one this machine only."""
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or say why not."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(HTTPConnection(scope))
        if refusal is None and self._is_entering(scope):
            refusal = await admit(Request(scope, receive), str(self._token))
        if refusal is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await refusal(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": _POLICY_VIOLATED})

    def _is_entering(self, scope: Scope) -> bool:
        is_post = scope["type"] == "http" and scope["method"] == "POST"
        return self._token is not None and is_post and scope["path"] == ENTER

    def _refusal(self, caller: HTTPConnection) -> Response | None:
        path = caller.url.path
        if path in _OPEN_PATHS:
            return None
        is_page = path != "/api" and not path.startswith("/api/")
        if is_page and not _is_own_page(caller):
            return _forbidden("Pages of others may not use this page")
        if self._token is None:
            return _stranger(caller)
        if is_page:
            # A browser cannot put the token into a link or a socket: it shows a cookie instead.
            is_in = is_admitted(caller, self._token) or self._is_entering(caller.scope)
            return None if is_in else ask_for_token(caller)
        shown = caller.headers.get("authorization", "")
        if hmac.compare_digest(shown.encode(), f"Bearer {self._token}".encode()):
            return None
        return JSONResponse(
            error_body("unauthorized", "This server asks for its token", _TOKEN_FIX),
            401,
            headers={"WWW-Authenticate": "Bearer"},
        )


_TOKEN_FIX: Final = {"fix": "Send it as `Authorization: Bearer TOKEN`."}


def _stranger(caller: HTTPConnection) -> Response | None:
    # Without a token the browser is the way in for strangers: a page may send requests here, or
    # have its own name point here. Both show in these two headers.
    if _host_name(caller.headers.get("host", "")) not in LOOPBACK:
        return _forbidden("The Host header does not name this machine")
    origin = caller.headers.get("origin")
    if origin is not None and urlsplit(origin).hostname not in LOOPBACK:
        return _forbidden(f"Pages of {origin} may not use this server")
    return None


def _is_own_page(caller: HTTPConnection) -> bool:
    """Say whether a page's own files and sockets are asked for by it, or it is opened itself."""
    origin = caller.headers.get("origin")
    if origin is not None:
        return urlsplit(origin).netloc == caller.headers.get("host", "")
    is_opened = caller.headers.get("sec-fetch-dest", "document") == "document"
    return is_opened or caller.headers.get("sec-fetch-site", "none") in ("same-origin", "none")


def _host_name(header: str) -> str:
    return urlsplit(f"//{header}").hostname or ""


def _forbidden(message: str) -> JSONResponse:
    fix = "Use http://127.0.0.1 or http://localhost, or run the server with a token."
    return JSONResponse(error_body("forbidden", message, {"fix": fix}), 403)
