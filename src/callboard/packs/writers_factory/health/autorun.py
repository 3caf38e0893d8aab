"""Autorun: a health check is started when a chapter is complete. Nobody waits for it."""

from typing import Any, Final

from callboard.core.canonical import digest
from callboard.packs.writers_factory.ground import Ground
from callboard.packs.writers_factory.manuscript import WRITTEN, Manuscript, parse_scene_id
from callboard.packs.writers_factory.model import PACK

KIND: Final = "health_autorun"
RUN: Final = f"{PACK}/health"


async def start_after_chapter(
    ground: Ground, scene_id: str, *, session_id: str | None = None
) -> str | None:
    """Start a health run if a scene completes its chapter, and return the id of the run.

    The same chapter with the same text starts it once, however often this is called.
    """
    place = parse_scene_id(scene_id)
    if place is None or not ground.settings.health.after_each_chapter:
        return None
    chapter = place[0]
    text = complete_chapter(Manuscript(ground), chapter)
    if text is None:
        return None
    known = ground.records.get(KIND, str(chapter))
    if known is not None and known["text"] == text:
        return str(known["run_id"])

    def together(connection: Any, run: Any) -> None:
        ground.records.store(connection, KIND, str(chapter), {"text": text, "run_id": run.id})

    # The whole manuscript: what a chapter does to the book is seen in the book, and the scenes
    # that were judged before cost nothing.
    run = await ground.studio.start(
        RUN,
        {"scope": "manuscript"},
        session_id=session_id,
        title=f"Health after chapter {chapter}",
        together=together,
    )
    return run.id


def complete_chapter(manuscript: Manuscript, chapter: int) -> str | None:
    """Return what a chapter's text is known by; None while a scene of it is not accepted."""
    scenes = [meta for meta in manuscript.scenes() if meta.chapter == chapter]
    if not scenes or any(meta.status not in WRITTEN for meta in scenes):
        return None
    return digest([[meta.scene_id, manuscript.text(meta.scene_id)] for meta in scenes])
