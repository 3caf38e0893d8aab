"""Host: the one application NiceGUI has in a process, with the pages of packs on it."""

from functools import cache
from typing import Final

from fastapi import FastAPI
from nicegui import ui

from callboard.studio.packs import Pack

_RECONNECT_SECONDS: Final = 30.0
# Who comes first waits until what the page shows is open.
_FIRST_LOOK_SECONDS: Final = 60.0


@cache
def open_host() -> FastAPI:
    """Return it; NiceGUI can be set up once in a process, so every project is shown by the same."""
    host = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    host.state.shown = set[str]()
    ui.run_with(  # pyright: ignore[reportUnknownMemberType]
        host,
        mount_path="/",
        language="en-US",
        tailwind=False,
        binding_refresh_interval=None,
        reconnect_timeout=_RECONNECT_SECONDS,
        show_welcome_message=False,
    )
    return host


def show_page(pack: Pack) -> FastAPI:
    """Return the host with a pack's page on it, at the path of the pack's name."""
    host, entry = open_host(), pack.described.page
    shown: set[str] = host.state.shown
    if entry is not None and pack.name not in shown:
        show = pack.page()
        shown.add(pack.name)
        favicon = pack.root / entry.favicon if entry.favicon else None
        page = ui.page(
            f"/{pack.name}",
            title=entry.title,
            favicon=favicon,
            response_timeout=_FIRST_LOOK_SECONDS,
        )
        page(show)
    return host
