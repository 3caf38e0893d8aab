"""Every request that changes something leaves a receipt: held at the door, whatever is tried."""

import re

import httpx

from callboard.studio.studio import Studio


def count_receipts(studio: Studio) -> int:
    """Return how many receipts there are."""
    return studio.database.read(
        lambda connection: next(iter(connection.execute("SELECT count(*) FROM receipts")))[0]
    )


def watch_receipts(
    client: httpx.AsyncClient, studio: Studio, below: str, looks: re.Pattern[str]
) -> None:
    """Fail a successful request below a path that changed something and left no receipt.

    `looks` are the paths whose requests change nothing, whatever their method.
    """

    async def asked(request: httpx.Request) -> None:
        request.extensions["receipts"] = count_receipts(studio)

    async def answered(response: httpx.Response) -> None:
        request = response.request
        is_look = request.method == "GET" or not request.url.path.startswith(below)
        # Only a run that was started answers 202; what is made up at once is not kept.
        is_look |= bool(looks.fullmatch(request.url.path)) and response.status_code != 202
        if response.status_code < 400 and not is_look:
            before = request.extensions["receipts"]
            assert count_receipts(studio) > before, f"{request.method} {request.url.path}"

    client.event_hooks = {"request": [asked], "response": [answered]}
