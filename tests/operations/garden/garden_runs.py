"""An agent asks for operations."""

from typing import Any

from callboard.choreography import Stage, choreography
from callboard.choreography.operating import attempt, carry_out, operate, refuse
from callboard.engine.errors import StepFailed
from callboard.operations import lending


@choreography
async def ask(stage: Stage, name: str, args: dict[str, Any], mode: str = "SPRING") -> Any:
    """Have an operation done as an agent asks for it."""
    from garden_doors import ALL, opened

    try:
        return str(
            await operate(
                stage, "do", opened(stage.studio), ALL[name], args, agent="gardener", mode=mode
            )
        )
    except StepFailed as failed:
        return failed.error.code


@choreography
async def hear(stage: Stage, name: str, args: dict[str, Any], mode: str = "SPRING") -> Any:
    """Have an operation done as an agent asks for it; whatever comes of it is an answer."""
    from garden_doors import ALL, opened

    if name not in ALL:
        why = "nobody knows how"
        left = await refuse(stage, "do", f"garden.{name}", args, agent="gardener", why=why)
        return [left.outcome.value, left.error and left.error.code]
    tried = await attempt(
        stage, "do", opened(stage.studio), ALL[name], args, agent="gardener", mode=mode
    )
    error = tried.receipt.error
    return [tried.receipt.outcome.value, error.code if error else tried.result.plants]


@choreography
async def tend(stage: Stage, plant: str) -> Any:
    """Plant what the user wants, in a garden that is there only while this goes on."""
    from garden_doors import ALL, opened

    pot = ALL["plant"].context()
    with lending(pot):
        bed = await carry_out(stage, "pot", opened(stage.studio), ALL["plant"], "north", plant)
    return [list(bed.plants), list(pot.beds["north"].plants)]
