"""An agent asks for operations."""

from typing import Any

from callboard.choreography import Stage, choreography
from callboard.choreography.operating import operate
from callboard.engine.errors import StepFailed


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
