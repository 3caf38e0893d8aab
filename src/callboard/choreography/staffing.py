"""Staffing: who of a pack's agents takes part, and how much each can be given."""

from collections.abc import Sequence
from typing import Final

from callboard.core.errors import InvalidInput
from callboard.core.vocabulary import Agent, ModelTier
from callboard.studio.studio import Studio

CHIEF: Final = "chief"


class AgentUnavailable(InvalidInput):
    """Nobody who is enabled can play a role that is needed."""

    code = "agent_unavailable"


def tier_of(studio: Studio, agent: Agent) -> ModelTier:
    """Return how much an agent's model can be trusted with: its own word, else the catalog's."""
    model = agent.model or studio.settings.models.default
    return agent.tier or studio.catalog.facts(model).tier


def is_constrained(studio: Studio, agent: Agent) -> bool:
    """Say whether an agent's model is held to choices instead of trusted to follow."""
    model = agent.model or studio.settings.models.default
    return studio.catalog.facts(model).tier is ModelTier.MINIMAL


def find_agent(studio: Studio, name: str, pack: str) -> Agent:
    """Return one of a pack's staff by id, or the first of an archetype."""
    staff = studio.repertoire.staff(pack)
    for agent in staff:
        if agent.id == name:
            return agent
    for agent in staff:
        if agent.contract.archetype == name:
            return agent
    names = ", ".join(agent.id for agent in staff) or "none"
    raise AgentUnavailable(
        f"There is no enabled agent {name!r}", fix=f"Agents here: {names}.", agent=name
    )


def find_attendees(studio: Studio, names: Sequence[str], pack: str) -> tuple[Agent, ...]:
    """Return who is invited, each once and in the order named; nobody named means everybody.

    The Chief is always there, named or not.
    """
    staff = studio.repertoire.staff(pack)
    chief = next((agent for agent in staff if agent.contract.archetype == CHIEF), None)
    if chief is None:
        raise AgentUnavailable(
            "A conference needs an enabled agent of archetype 'chief', and there is none",
            fix="Enable one in .callboard/agents.yaml.",
            archetype=CHIEF,
        )
    invited = [find_agent(studio, name, pack) for name in names] if names else list(staff)
    if all(agent.contract.archetype != CHIEF for agent in invited):
        invited.insert(0, chief)
    return tuple({agent.id: agent for agent in invited}.values())


def chief_of(attendees: Sequence[Agent]) -> Agent:
    """Return who leads: the first Chief among those invited."""
    return next(agent for agent in attendees if agent.contract.archetype == CHIEF)
