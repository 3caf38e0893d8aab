"""The run that looks at the health of the manuscript, and its start when a chapter is complete."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json, digest
from callboard.core.errors import InvalidInput
from callboard.engine.run import Run
from callboard.packs.writers_factory.health.checkup import Checkup
from callboard.packs.writers_factory.health.examination import GRAMMAR, parse_checks, parse_scope
from callboard.packs.writers_factory.manuscript import WRITTEN, Manuscript, parse_scene_id
from callboard.packs.writers_factory.model import PACK
from callboard.packs.writers_factory.workspace import Workspace
from callboard.studio.runnable import Prepared
from callboard.studio.studio import Studio

_PARAMETERS: Final = {
    "scope": f"str, default manuscript: {GRAMMAR}",
    "checks": "list of checks such as A1 or B1_flaw_challenge, default: all seven",
}


class HealthOffer:
    """The choreography of a health check."""

    summary = "Look at the health of the manuscript: seven checks, each finding with its evidence."

    @property
    def parameters(self) -> Mapping[str, str]:
        """The arguments it takes."""
        return _PARAMETERS

    async def prepare(self, _studio: Studio, raw: Mapping[str, Json]) -> Prepared:
        """Check the scope and the checks that are named."""
        unknown = sorted(raw.keys() - _PARAMETERS.keys())
        if unknown:
            takes = ", ".join(f"{name} ({kind})" for name, kind in _PARAMETERS.items())
            raise InvalidInput(
                f"A health check takes no {', '.join(unknown)}", fix=f"It takes: {takes}."
            )
        scope = parse_scope(str(raw.get("scope") or ""))
        checks = parse_checks(_named(raw.get("checks")))
        args: dict[str, Json] = {"scope": str(scope), "checks": [each.value for each in checks]}
        return Prepared(args, title=f"Health of {scope}")

    async def perform(self, studio: Studio, run: Run) -> Json:
        """Perform one health check."""
        checks = parse_checks(cast("list[str]", run.args["checks"]))
        return await Checkup(
            Stage(studio, run), parse_scope(str(run.args["scope"])), checks
        ).perform()


def _named(given: Any) -> Sequence[str]:
    if not given:
        return ()
    if isinstance(given, str):
        return [name for name in given.replace(",", " ").split() if name]
    return [str(name) for name in given]


health: Final = HealthOffer()


_STARTED_KIND: Final = "health_autorun"
_RUN: Final = f"{PACK}/health"


async def start_after_chapter(
    workspace: Workspace, scene_id: str, *, session_id: str | None = None
) -> str | None:
    """Start a health run if a scene completes its chapter, and return the id of the run.

    The same chapter with the same text starts it once, however often this is called.
    """
    place = parse_scene_id(scene_id)
    if place is None or not workspace.settings.health.after_each_chapter:
        return None
    chapter = place[0]
    text = complete_chapter(Manuscript(workspace), chapter)
    if text is None:
        return None
    known = workspace.records.get(_STARTED_KIND, str(chapter))
    if known is not None and known["text"] == text:
        return str(known["run_id"])

    def together(connection: Any, run: Any) -> None:
        workspace.records.store(
            connection, _STARTED_KIND, str(chapter), {"text": text, "run_id": run.id}
        )

    # The whole manuscript: what a chapter does to the book is seen in the book, and the scenes
    # that were judged before cost nothing.
    run = await workspace.studio.start(
        _RUN,
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
