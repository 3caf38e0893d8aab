"""Versions of a scene: which one stands there, and going back to another."""

from callboard.packs.writers_factory.doors.tell.revision import edit_report
from callboard.packs.writers_factory.doors.tell.scenes import version_report
from callboard.packs.writers_factory.factory import Factory
from callboard.packs.writers_factory.manuscript.operations import restore_scene
from callboard.packs.writers_factory.revision.operations import undo_edit


def latest_version(factory: Factory, scene: str) -> int | None:
    """Return the number of the version a scene has now, if it has a text."""
    versions = factory.rooms.manuscript.versions(scene)
    return versions[-1].number if versions else None


async def go_back(factory: Factory, scene: str, number: int | None, *, as_json: bool) -> None:
    """Bring a version back; without a number, take the last edit back."""
    if number is None:
        undone = await factory.perform(undo_edit, scene)
        edit_report(undone, as_json=as_json, is_undo=True)
        return
    before = latest_version(factory, scene)
    restored = await factory.perform(restore_scene, scene, number)
    version_report(restored, before, as_json=as_json)
