"""The server at the command line: opened, announced, closed in good order."""

import os
import socket
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from callboard.api.app import create_app
from callboard.api.entrance import require_token_for
from callboard.cli import exits
from callboard.cli.acting.opening import Choices
from callboard.cli.output import echo_json_line, remark
from callboard.core.errors import InvalidInput
from callboard.studio.project import Project

TOKEN_VARIABLE: Final = "CALLBOARD_API_TOKEN"  # noqa: S105 - the name of a variable
_BACKLOG: Final = 256


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens."""

    host: str
    port: int


def serve_project(choices: Choices, address: Address) -> int:
    """Serve a project until the user stops it."""
    import uvicorn

    token = os.environ.get(TOKEN_VARIABLE) or None
    require_token_for(address.host, token)
    root = Project.find(Path.cwd() if choices.project is None else choices.project).root
    listening = _listen(address)
    opening = replace(choices.opening(), recover=True)
    app = create_app(root, opening, token=token)
    port = listening.getsockname()[1]
    shown = f"[{address.host}]" if ":" in address.host else address.host
    url = f"http://{shown}:{port}/api"
    if choices.as_json:
        echo_json_line({"url": url, "project": str(root)})
    else:
        remark(f"Serving {root} at {url} (Ctrl-C stops).")
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=5)
    uvicorn.Server(config).run(sockets=[listening])
    return exits.OK


def _listen(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((address.host, address.port))
    except OSError as error:
        listening.close()
        raise InvalidInput(
            f"Cannot listen on {address.host}:{address.port}: {error.strerror}",
            fix="Choose another port with --port, or 0 for a free one.",
        ) from error
    listening.listen(_BACKLOG)
    return listening
