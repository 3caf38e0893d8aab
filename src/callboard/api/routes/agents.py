"""Agents: who is on the staff and what each is doing."""

from fastapi import APIRouter

from callboard.api.project import OpenStudio, Shown
from callboard.choreography.staffing import agents_now, tier_of

router = APIRouter(prefix="/agents", tags=["agents"])


class AgentShape(Shown):
    """One agent with its contract, its model and what its card shows."""

    id: str
    name: str
    archetype: str
    tier: str
    model: str
    order: int
    state: str


@router.get("")
async def list_agents(studio: OpenStudio) -> list[AgentShape]:
    """List the enabled staff in order."""
    states = agents_now(studio, studio.settings.pack)
    return [
        AgentShape.model_validate(
            {
                "id": agent.id,
                "name": agent.name,
                "archetype": agent.contract.archetype,
                "owns": agent.contract.owns,
                "must_not": agent.contract.must_not,
                "abstains_when": agent.contract.abstains_when,
                "tier": tier_of(studio, agent).value,
                "model": agent.model or studio.settings.models.default,
                "order": agent.order,
                "state": states[agent.id].value if agent.id in states else "idle",
            }
        )
        for agent in studio.repertoire.staff(studio.settings.pack)
    ]
