"""Research: what the notebooks a scaffold was asked to draw from say about its scene."""

from typing import Any, Final, cast

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError
from callboard.packs.writers_factory.ground import Ground
from callboard.packs.writers_factory.memory.notebooks import Notebooks
from callboard.packs.writers_factory.scenes.scaffolds.derivation import NOTEBOOK

_PASSAGES: Final = 3
_PASSAGE_CHARS: Final = 600


async def look_up(
    stage: Stage, sources: tuple[str, ...], question: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return passages of the named notebooks, and a warning for each that cannot be asked."""
    wanted = [source for source in sources if source.startswith(NOTEBOOK)]
    if not wanted:
        return (), ()

    async def ask() -> Json:
        notebooks = Notebooks(Ground(stage.studio))
        found: list[str] = []
        warnings: list[str] = []
        for source in wanted:
            try:
                passages = await notebooks.query(
                    source.removeprefix(NOTEBOOK), question, k=_PASSAGES
                )
            except CallboardError as error:
                warnings.append(f"{source} was not asked: {error.message}")
                continue
            found += [f"{source}: {' '.join(each.text.split())}" for each in passages]
        return {"found": [each[:_PASSAGE_CHARS] for each in found], "warnings": warnings}

    told = cast("dict[str, Any]", await stage.step("research", ask))
    return tuple(told["found"]), tuple(told["warnings"])
