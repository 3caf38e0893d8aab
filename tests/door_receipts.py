"""Every request that changes something leaves a receipt: held at the door, whatever is tried."""

import re

import httpx

from callboard.studio.studio import Studio

# Requests that change nothing, though they have a body.
LOOKS = frozenset(
    {
        "POST /api/alfred/preview",
        "POST /api/alfred/read",
        "POST /api/alfred/recipes/import",
        "POST /api/factory/export/preview",
        "POST /api/factory/import/preview",
        "POST /api/factory/import/upload/preview",
        "POST /api/factory/notebooks/{notebook_id}/query",
        "POST /api/factory/prompts/preview",
        "POST /api/factory/scenes/{scene_id}/analyze",
        "POST /api/factory/scenes/{scene_id}/compare",
        "POST /api/factory/tournaments/check",
        "POST /api/route",
    }
)
# Requests that begin a run, or say something in one: its journal is the record, and what the run
# changes leaves receipts of its own.
RUNS = frozenset(
    {
        "POST /api/ai/chat",
        "POST /api/alfred/sessions/{session_id}/messages",
        "POST /api/conferences/{conference_id}/rounds",
        "POST /api/conferences/{conference_id}/rounds/{round_id}/ask-again",
        "POST /api/plans",
        "POST /api/quest/next-loop",
        "POST /api/quest/runs",
        "POST /api/runs",
        "POST /api/runs/{run_id}/retry",
    }
)
_PLACE = re.compile(r"\\\{[^/]+\\\}")


def count_receipts(studio: Studio) -> int:
    """Return how many receipts there are."""
    return _count(studio, "SELECT count(*) FROM receipts")


def watch_receipts(client: httpx.AsyncClient, studio: Studio) -> None:
    """Fail a successful request that changed something and is on no record."""

    async def asked(request: httpx.Request) -> None:
        request.extensions["receipts"] = count_receipts(studio)
        request.extensions["journal"] = _last_event(studio)

    async def answered(response: httpx.Response) -> None:
        request = response.request
        if response.status_code >= 400 or request.method == "GET":
            return
        asked_for = f"{request.method} {request.url.path}"
        # Only a run that was started answers 202; what is made up at once is not kept.
        if _is_among(LOOKS, asked_for) and response.status_code != 202:
            return
        if _is_among(RUNS, asked_for):
            # A message that was sent before is answered again, and nothing else happens.
            is_again = b"client_message_id" in request.content
            assert is_again or _last_event(studio) > request.extensions["journal"], asked_for
            return
        assert count_receipts(studio) > request.extensions["receipts"], asked_for

    client.event_hooks = {"request": [asked], "response": [answered]}


def _is_among(routes: frozenset[str], asked_for: str) -> bool:
    return any(re.fullmatch(_PLACE.sub("[^/]+", re.escape(each)), asked_for) for each in routes)


def _last_event(studio: Studio) -> int:
    return _count(studio, "SELECT coalesce(max(seq), 0) FROM events")


def _count(studio: Studio, asked: str) -> int:
    return studio.database.read(lambda connection: next(iter(connection.execute(asked)))[0])
