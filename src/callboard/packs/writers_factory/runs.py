"""The run that ends a book, for the writer and nobody else."""

from typing import Any, cast

from callboard.choreography.definition import choreography
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.library.binding.volume import FORMATS
from callboard.packs.writers_factory.modes.operations import mark_complete
from callboard.packs.writers_factory.operations import in_run
from callboard.packs.writers_factory.revision import performing


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

    marked = await in_run(stage, "mark/complete", mark_complete)
    warnings = [*done["warnings"], *(f"not met: {each}" for each in marked.unmet)]
    return {**done, "mode": marked.mode, "warnings": warnings}
