"""Everything a writer can do with a book over HTTP, in the order in which a book is made."""

from typing import Any

from fastapi import APIRouter

from callboard.api.operations import operation_router
from callboard.operations import Operation
from callboard.packs.writers_factory.doors.routes.bible import router as bible
from callboard.packs.writers_factory.doors.routes.book import router as book
from callboard.packs.writers_factory.doors.routes.chat import router as chat
from callboard.packs.writers_factory.doors.routes.completion import router as completion
from callboard.packs.writers_factory.doors.routes.editing import router as editing
from callboard.packs.writers_factory.doors.routes.graph import router as graph
from callboard.packs.writers_factory.doors.routes.health import router as health
from callboard.packs.writers_factory.doors.routes.memory import router as memory
from callboard.packs.writers_factory.doors.routes.modes import router as modes
from callboard.packs.writers_factory.doors.routes.planning import router as planning
from callboard.packs.writers_factory.doors.routes.revision import router as revision
from callboard.packs.writers_factory.doors.routes.scenes import router as scenes
from callboard.packs.writers_factory.doors.routes.transparency import router as transparency
from callboard.packs.writers_factory.doors.routes.voice import router as voice
from callboard.packs.writers_factory.operations import declared, operations_in

# Where the routes of a noun are listed, if not under its own name.
_LISTED = {"manuscript": "scenes", "revision": "editing"}


def _generated() -> tuple[APIRouter, ...]:
    """Return the routes that are read off operations, by noun."""
    nouns: dict[str, list[Operation[..., Any]]] = {}
    for each in declared().values():
        if each.route is not None:
            nouns.setdefault(each.function.__module__.split(".")[-2], []).append(each)
    return tuple(
        operation_router(
            found, operations_in, prefix="/factory", tag=f"factory: {_LISTED.get(noun, noun)}"
        )
        for noun, found in nouns.items()
    )


ROUTERS = (
    book,
    chat,
    modes,
    bible,
    memory,
    graph,
    voice,
    planning,
    scenes,
    revision,
    editing,
    health,
    completion,
    transparency,
    *_generated(),
)
