"""Admittance of browsers: they show the token once, in a form, and keep a cookie.

The cookie is not the token and opens pages only; the API still asks for the token itself.
"""

import hmac
from hashlib import sha256
from importlib.resources import files
from typing import Final
from urllib.parse import parse_qs

from fastapi import Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.requests import HTTPConnection

from callboard.api.failure import error_body

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
