"""Where a request says it comes from and goes to: read strictly, compared whole.

A browser tells the truth in these headers, whatever page it shows. What cannot be read as the
plain form of its header is nobody's address; there is no second guess at what it might mean.
"""

import re
from dataclasses import dataclass
from typing import Final

from starlette.requests import HTTPConnection

LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_SOCKET_SCHEMES: Final = {"ws": "http", "wss": "https"}
_HOST: Final = re.compile(
    r"(?:\[(?P<six>[0-9a-f:.]{2,45})\]|(?P<name>[a-z0-9._-]{1,253}))(?::(?P<port>[0-9]{1,5}))?"
)
_OWN_SITE: Final = frozenset({"same-origin", "none"})


@dataclass(frozen=True, slots=True)
class Address:
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


def own_address(caller: HTTPConnection) -> Address | None:
    """Return the address a request is sent to, or None if its Host header is not one."""
    told = caller.headers.getlist("host")
    scheme = str(caller.scope.get("scheme", "http"))
    return _read(_SOCKET_SCHEMES.get(scheme, scheme), told[0]) if len(told) == 1 else None


def is_from_elsewhere(caller: HTTPConnection, own: Address) -> bool:
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


def _read_origin(text: str) -> Address | None:
    scheme, separator, rest = text.partition("://")
    return _read(scheme, rest) if separator else None


def _read(scheme: str, text: str) -> Address | None:
    found = _HOST.fullmatch(text.lower())
    if found is None or scheme not in _DEFAULT_PORTS:
        return None
    port = int(found["port"]) if found["port"] else _DEFAULT_PORTS[scheme]
    return Address(scheme, found["six"] or found["name"], port)
