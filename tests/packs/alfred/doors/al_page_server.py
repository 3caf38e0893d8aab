"""A kitchen with its page in a process of its own; what is typed to it releases held replies.

NiceGUI can be set up once in a process, and its imports are not the other tests' business.
"""

import asyncio
import socket
import sys
import threading
from pathlib import Path

import uvicorn
from al_door_stage import Household, pick

from callboard.api.app import create_app
from callboard.api.server import server_config
from callboard.models import Line, ModelRequest, Script
from callboard.ui.mounting import hang_up_pages


def answer(request: ModelRequest) -> Line:
    """Pick what is offered; a wish for something slow waits until it is released."""
    line = pick(request)
    is_slow = "slow" in request.prompt_text
    return Line(json=line.json, hold="slow") if is_slow else line


async def serve(root: Path, token: str | None) -> None:
    script = Script(answer)
    app = create_app(root, Household.build(root).opening(script), token=token)
    hang_up_pages(app)
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    server = uvicorn.Server(server_config(app, stop_seconds=1))
    loop = asyncio.get_running_loop()

    def obey() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(script.release, line.strip())
        # Whoever started it is gone.
        server.should_exit = True

    threading.Thread(target=obey, daemon=True).start()
    sys.stdout.write(f"{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve(sockets=[listening])


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None))
