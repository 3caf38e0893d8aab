"""Who may come in: this machine alone, or whoever has the token. Web pages of others may not.

Browsers show the token once, in a form, and keep a cookie.

Whatever changes something over the API carries a header of ours. A page of another address cannot
send it unasked: the browser asks this server first, and no answer allows it.

The cookie is not the token and opens pages only; the API still asks for the token itself.

A browser tells the truth in these headers, whatever page it shows. What cannot be read as the
plain form of its header is nobody's address; there is no second guess at what it might mean.
"""

import hmac
import re
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import Final
from urllib.parse import parse_qs

from fastapi import Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from callboard.api.bodies import PATIENCE, Bodies, Patience
from callboard.api.failure import error_body
from callboard.core.errors import InvalidInput

ENTER: Final = "/enter"
COOKIE: Final = "callboard_page"
_MOST_BYTES: Final = 4096
_WEEK_SECONDS: Final = 7 * 24 * 3600
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
}


def is_admitted(caller: HTTPConnection, token: str) -> bool:
    """Say whether a browser has shown the token before."""
    shown = caller.cookies.get(COOKIE, "")
    return hmac.compare_digest(shown.encode(), _pass_for(token).encode())


def ask_for_token(caller: HTTPConnection) -> Response:
    """Answer with the form that asks for the token; to anything but a page with an error."""
    if "text/html" in caller.headers.get("accept", ""):
        return _form("", 401)
    fix = {"fix": "Open the page in a browser and give it the token."}
    return JSONResponse(error_body("unauthorized", "This page asks for the token", fix), 401)


async def admit(request: Request, token: str) -> Response:
    """Take the token from the form; the right one is answered with the cookie."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _MOST_BYTES:
            return _form("That is not the token.", 413)
    told = parse_qs(body.decode("utf-8", "replace")).get("token", [""])[0]
    if not hmac.compare_digest(told.strip().encode(), token.encode()):
        return _form("That is not the token.", 401)
    answer = RedirectResponse("/", 303)
    answer.set_cookie(
        COOKIE,
        _pass_for(token),
        max_age=_WEEK_SECONDS,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer


def _pass_for(token: str) -> str:
    return hmac.new(token.encode(), b"callboard page", sha256).hexdigest()


def _form(note: str, status: int) -> HTMLResponse:
    page = files("callboard.api").joinpath("enter.html").read_text("utf-8")
    return HTMLResponse(page.replace("<!-- note -->", note), status, headers=_HEADERS)


LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_SOCKET_SCHEMES: Final = {"ws": "http", "wss": "https"}
_HOST: Final = re.compile(
    r"(?:\[(?P<six>[0-9a-f:.]{2,45})\]|(?P<name>[a-z0-9._-]{1,253}))(?::(?P<port>[0-9]{1,5}))?"
)
_OWN_SITE: Final = frozenset({"same-origin", "none"})


@dataclass(frozen=True, slots=True)
class HostAddress:
    """A scheme, a host and a port: two are the same only if all three are."""

    scheme: str
    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether it names this machine."""
        return self.host in LOOPBACK

    @property
    def netloc(self) -> str:
        """Host and port as an address bar shows them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


def own_address(caller: HTTPConnection) -> HostAddress | None:
    """Return the address a request is sent to, or None if its Host header is not one."""
    told = caller.headers.getlist("host")
    scheme = str(caller.scope.get("scheme", "http"))
    return _read(_SOCKET_SCHEMES.get(scheme, scheme), told[0]) if len(told) == 1 else None


def is_from_elsewhere(caller: HTTPConnection, own: HostAddress) -> bool:
    """Say whether a browser sends this for a page that is not of this very server."""
    origins = caller.headers.getlist("origin")
    if any(_read_origin(each) != own for each in origins) or len(origins) > 1:
        return True
    return any(each not in _OWN_SITE for each in caller.headers.getlist("sec-fetch-site"))


def is_opened(caller: HTTPConnection) -> bool:
    """Say whether a browser opens this itself, as a link does; no page gets to see it."""
    told = caller.headers
    is_document = told.get("sec-fetch-dest") == "document" and "origin" not in told
    return caller.scope.get("method") in ("GET", "HEAD") and is_document


def _read_origin(text: str) -> HostAddress | None:
    scheme, separator, rest = text.partition("://")
    return _read(scheme, rest) if separator else None


def _read(scheme: str, text: str) -> HostAddress | None:
    found = _HOST.fullmatch(text.lower())
    if found is None or scheme not in _DEFAULT_PORTS:
        return None
    port = int(found["port"]) if found["port"] else _DEFAULT_PORTS[scheme]
    return HostAddress(scheme, found["six"] or found["name"], port)


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
