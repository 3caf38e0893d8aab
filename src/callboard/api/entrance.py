"""Who may come in: this machine alone, or whoever has the token. Web pages of others may not.

Whatever changes something over the API carries a header of ours. A page of another address cannot
send it unasked: the browser asks this server first, and no answer allows it.
"""

import hmac
from typing import Final

from fastapi import Request
from fastapi.responses import JSONResponse, Response
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from callboard.api.admittance import ENTER, admit, ask_for_token, is_admitted
from callboard.api.bodies import Bodies
from callboard.api.failure import error_body
from callboard.api.origins import LOOPBACK, is_from_elsewhere, is_opened, own_address
from callboard.api.patience import PATIENCE, Patience
from callboard.core.errors import InvalidInput

HOST: Final = "callboard.host"
CHANGE_HEADER: Final = "X-Callboard"
READING_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
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

    def __init__(self, app: ASGIApp, token: str | None, patience: Patience = PATIENCE) -> None:
        """Take what lies behind, and the token callers must show; without one this machine only."""
        self._app = app
        self._token = token
        self._door = Bodies(self._admit, patience)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or say why not."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(HTTPConnection(scope))
        if refusal is None:
            behind = self._door if self._is_entering(scope) else self._app
            await behind(scope, receive, send)
        elif scope["type"] == "http":
            await refusal(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": _POLICY_VIOLATED})

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = await admit(Request(scope, receive), str(self._token))
        await answer(scope, receive, send)

    def _is_entering(self, scope: Scope) -> bool:
        is_post = scope["type"] == "http" and scope["method"] == "POST"
        return self._token is not None and is_post and scope["path"] == ENTER

    def _refusal(self, caller: HTTPConnection) -> Response | None:
        path = caller.scope["path"]
        if path in _OPEN_PATHS:
            return None
        is_page = path != "/api" and not path.startswith("/api/")
        stranger = self._stranger(caller, is_page=is_page)
        if stranger is not None:
            return stranger
        if is_page:
            return self._page_refusal(caller)
        return self._api_refusal(caller)

    def _stranger(self, caller: HTTPConnection, *, is_page: bool) -> Response | None:
        # A browser is the way in for strangers: a page may send requests here, or have its own
        # name point here. Both show in headers that no page can change.
        own = own_address(caller)
        if own is None or (self._token is None and not own.is_loopback):
            return _forbidden("The Host header does not name this machine")
        if is_from_elsewhere(caller, own) and not (is_page and is_opened(caller)):
            told = caller.headers.get("origin") or "another address"
            return _forbidden(f"Pages of {told} may not use this server")
        # Pages name it to the browser as the only one they talk to.
        caller.scope[HOST] = own.netloc
        return None

    def _page_refusal(self, caller: HTTPConnection) -> Response | None:
        if self._token is None:
            return None
        # A browser cannot put the token into a link or a socket: it shows a cookie instead.
        is_in = is_admitted(caller, self._token) or self._is_entering(caller.scope)
        return None if is_in else ask_for_token(caller)

    def _api_refusal(self, caller: HTTPConnection) -> Response | None:
        if self._token is None:
            return _unasked_change(caller)
        # Who shows the token needs no header of ours: no page can send this one unasked either.
        shown = caller.headers.get("authorization", "")
        if hmac.compare_digest(shown.encode(), f"Bearer {self._token}".encode()):
            return None
        return JSONResponse(
            error_body("unauthorized", "This server asks for its token", _TOKEN_FIX),
            401,
            headers={"WWW-Authenticate": "Bearer"},
        )


_TOKEN_FIX: Final = {"fix": "Send it as `Authorization: Bearer TOKEN`."}


def _unasked_change(caller: HTTPConnection) -> Response | None:
    method = caller.scope.get("method", "GET")
    if method in READING_METHODS or caller.headers.get(CHANGE_HEADER):
        return None
    message = f"{method} changes something, and the header {CHANGE_HEADER} is missing"
    fix = f"Add the header `{CHANGE_HEADER}: 1`, with curl: -H '{CHANGE_HEADER}: 1'."
    return JSONResponse(error_body("header_missing", message, {"fix": fix}), 403)


def _forbidden(message: str) -> JSONResponse:
    fix = "Use http://127.0.0.1 or http://localhost, or run the server with a token."
    return JSONResponse(error_body("forbidden", message, {"fix": fix}), 403)
