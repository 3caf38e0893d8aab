"""Everything a writer can do with a book over HTTP, in the order in which a book is made."""

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
)
