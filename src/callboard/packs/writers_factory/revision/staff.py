"""Who judges and who writes: the model each is played by, and how much it can be trusted with."""

from typing import Final

from callboard.choreography.staffing import find_agent
from callboard.choreography.stage import Stage
from callboard.core.vocabulary import ModelTier
from callboard.packs.writers_factory.ground import Ground
from callboard.packs.writers_factory.model import JUDGE, PACK, WRITER

# What each of the two does, as the writer's model routes name it.
_INTENTS: Final = {JUDGE: "judging", WRITER: "prose"}


def model_of(stage: Stage, agent_id: str, wanted: str | None = None) -> str:
    """Return the model an agent is played by: the one wanted, the route, its own, the default."""
    routes = Ground(stage.studio).settings.models.routes
    agent = find_agent(stage.studio, agent_id, PACK)
    route = routes.get(_INTENTS.get(agent_id, "default"))
    return wanted or route or agent.model or stage.studio.settings.models.default


def is_small(stage: Stage, agent_id: str, wanted: str | None = None) -> bool:
    """Say whether an agent's model is held to choices instead of trusted to write."""
    model = model_of(stage, agent_id, wanted)
    return stage.studio.catalog.facts(model).tier is ModelTier.MINIMAL
