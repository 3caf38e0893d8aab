"""Host: the one application NiceGUI has in a process, with our pages on it."""

from functools import cache
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from nicegui import ui

from callboard.ui.kitchen.page import show_kitchen

_FAVICON: Final = Path(__file__).parent / "kitchen" / "favicon.svg"
_RECONNECT_SECONDS: Final = 30.0
# Who comes first waits until the kitchen itself is open.
_FIRST_LOOK_SECONDS: Final = 60.0


@cache
def open_host() -> FastAPI:
    """Return it; NiceGUI can be set up once in a process, so every project is shown by the same."""
    host = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    ui.page("/", title="Alfred's kitchen", response_timeout=_FIRST_LOOK_SECONDS)(show_kitchen)
    ui.run_with(  # pyright: ignore[reportUnknownMemberType]
        host,
        mount_path="/",
        favicon=_FAVICON,
        language="en-US",
        tailwind=False,
        binding_refresh_interval=None,
        reconnect_timeout=_RECONNECT_SECONDS,
        show_welcome_message=False,
    )
    return host
