"""Staff: the model each agent of the factory is played by, and how much it can be trusted with.

The model somebody asked for goes first, then the route of what is done, the default route, the
agent's own model, and the default of the project.
"""

from typing import Final

from callboard.choreography.questions import Answers, Judge
from callboard.choreography.staffing import find_agent
from callboard.choreography.stage import Stage
from callboard.core.vocabulary import ModelTier
from callboard.packs.writers_factory.ground import Ground
from callboard.packs.writers_factory.model import FOREMAN, JUDGE, PACK, WRITER

EXTRACTION: Final = "extraction"
_DEFAULT: Final = "default"
# What each of them does when nothing else is said, as the writer's model routes name it.
_INTENTS: Final = {FOREMAN: "structure", WRITER: "prose", JUDGE: "judging"}


def route_of(
    ground: Ground, agent_id: str, wanted: str | None = None, *, intent: str = ""
) -> str | None:
    """Return the model that is asked in place of an agent's own, if there is one."""
    routes = ground.settings.models.routes
    routed = routes.get(intent or _INTENTS[agent_id]) or routes.get(_DEFAULT)
    return wanted or routed or None


def model_of(ground: Ground, agent_id: str, wanted: str | None = None, *, intent: str = "") -> str:
    """Return the model an agent is played by."""
    own = find_agent(ground.studio, agent_id, PACK).model
    routed = route_of(ground, agent_id, wanted, intent=intent)
    return routed or own or ground.studio.settings.models.default


def is_small(ground: Ground, model: str) -> bool:
    """Say whether a model is held to choices and forms instead of trusted to write."""
    return ground.studio.catalog.facts(model).tier is ModelTier.MINIMAL


def judge_on(stage: Stage, wanted: str | None = None) -> Judge:
    """Return the judge of a run: who is asked, how, and where the answers are kept."""
    ground = Ground(stage.studio)
    model = model_of(ground, JUDGE, wanted)
    return Judge(
        stage,
        JUDGE,
        Answers(stage.studio, PACK),
        model,
        route_of(ground, JUDGE, wanted),
        is_small(ground, model),
    )
