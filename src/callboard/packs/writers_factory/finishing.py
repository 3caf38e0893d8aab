"""Finishing: the run that ends a book, for the writer and nobody else."""

from typing import Any, cast

from callboard.choreography.definition import choreography
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.vocabulary import Effect
from callboard.packs.writers_factory.ground import Ground
from callboard.packs.writers_factory.modes import ModeGated
from callboard.packs.writers_factory.modes.modes import WRITER
from callboard.packs.writers_factory.revision import performing
from callboard.packs.writers_factory.revision.completion.binding import FORMATS
from callboard.packs.writers_factory.rooms import Rooms


@choreography
async def finish(
    stage: Stage,
    by: str,
    author: str = "",
    formats: list[str] | None = None,
    note: str = "",
) -> Json:
    """Mark the manuscript complete for the writer and export it; open errors are told."""
    chosen = list(FORMATS) if formats is None else formats
    told = await performing.finish(stage, by=by, author=author, formats=chosen, note=note)
    done = cast("dict[str, Any]", told)

    async def mark() -> Json:
        modes = Rooms.open(Ground(stage.studio)).modes
        try:
            return {"mode": (await modes.mark_complete(by=WRITER)).to_mode, "unmet": []}
        except ModeGated as gated:
            # What is missing was told; the writer's word is final.
            moved = await modes.mark_complete(by=WRITER, override=True)
            return {"mode": moved.to_mode, "unmet": list(gated.unmet)}

    marked = cast("dict[str, Any]", await stage.step("mark", mark, effect=Effect.IDEMPOTENT))
    warnings = [*done["warnings"], *(f"not met: {each}" for each in marked["unmet"])]
    return {**done, "mode": marked["mode"], "warnings": warnings}
