"""The ground Alfred stands on in an open project: one kitchen, opened when it is first needed."""

from typing import TYPE_CHECKING, Final

from callboard.core.clock import iso
from callboard.packs.alfred.settings import read_settings
from callboard.store.records import Records
from callboard.studio.database import claim
from callboard.studio.studio import Studio

if TYPE_CHECKING:
    from callboard.packs.alfred.kitchen.domain import Kitchen

PACK: Final = "alfred"


def kitchen_of(studio: Studio) -> "Kitchen":
    """Return the project's kitchen; it stays open as long as the studio does."""
    from callboard.packs.alfred.kitchen.domain import Kitchen

    return studio.keep(Kitchen, _open)


def _open(studio: Studio) -> "Kitchen":
    import uuid

    from callboard.library.relational.rules import WriteLimits
    from callboard.packs.alfred.kitchen.cooking import CookSessions
    from callboard.packs.alfred.kitchen.domain import Kitchen
    from callboard.packs.alfred.kitchen.opening import (
        FILE_NAME,
        add_person,
        kitchen_url,
        open_kitchen,
    )

    settings = read_settings(studio.project.folder).values
    if not settings.database.url:
        claim(studio.project, FILE_NAME)
    base = open_kitchen(kitchen_url(studio.project.folder, settings.database.url))
    kitchen = Kitchen(
        base,
        studio.clock,
        lambda: str(uuid.uuid4()),
        WriteLimits(**settings.writes.model_dump()),
        CookSessions(Records(studio.database, PACK, studio.clock)),
    )
    someone = settings.people
    now = iso(studio.clock.now_ms())
    base.write_now(lambda c: add_person(c, someone.default, someone.name, now, someone.timezone))
    return kitchen
