"""Staffing: who of a pack's agents takes part, how much each can be given, what each is doing.

An agent executes while a tool runs on its behalf, processes while its model writes, and is idle
otherwise. What a dead process left behind is not believed.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput
from callboard.core.events import AgentState, body_from_json
from callboard.core.vocabulary import UNFINISHED, Agent, ModelTier, RunRecord
from callboard.engine.run import Run
from callboard.store.connection import Connection
from callboard.store.journal.encoding import decode
from callboard.store.journal.events import event_row
from callboard.store.journal.runs import list_runs
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


class CardState(StrEnum):
    """What an agent's card shows."""

    EXECUTING = "executing"
    PROCESSING = "processing"
    IDLE = "idle"


PROCESSING: Final = CardState.PROCESSING
EXECUTING: Final = CardState.EXECUTING
_BUSIEST_FIRST: Final = (CardState.EXECUTING, CardState.PROCESSING)


@contextmanager
def showing(studio: Studio, run: Run, agent_id: str, state: CardState, key: str) -> Generator[None]:
    """Show a state on an agent's card for as long as the context lasts."""
    _tell(studio, run, AgentState(agent_id, state.value), key)
    try:
        yield
    finally:
        _tell(studio, run, AgentState(agent_id, CardState.IDLE.value), key)


def agents_now(studio: Studio, pack: str = "") -> dict[str, CardState]:
    """Return what every enabled agent is doing at this moment, in the order of the staff."""
    busy: dict[str, set[str]] = {}
    runs = studio.database.read(lambda connection: list_runs(connection, states=UNFINISHED))
    for run in runs:
        if studio.engine.is_executed(run):
            for agent_id, state in _open_cards(studio, run):
                busy.setdefault(agent_id, set()).add(state)
    return {
        agent.id: next(
            (state for state in _BUSIEST_FIRST if state.value in busy.get(agent.id, ())),
            CardState.IDLE,
        )
        for agent in studio.repertoire.agents(pack)
    }


def staff_now(studio: Studio) -> list[dict[str, Json]]:
    """Return the enabled staff in order, each with its contract, its model and what it is doing."""
    pack = studio.settings.pack
    now = agents_now(studio, pack)
    return [
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
            "state": now.get(agent.id, CardState.IDLE).value,
        }
        for agent in studio.repertoire.staff(pack)
    ]


def _open_cards(studio: Studio, run: RunRecord) -> list[tuple[str, str]]:
    """Return the agents of a run with the state that each of their open steps shows."""

    def work(connection: Connection) -> dict[tuple[str, str], str]:
        rows: Any = connection.execute(
            "SELECT step_key, data FROM events"
            " WHERE run_id = :run_id AND type = :type ORDER BY seq",
            {"run_id": run.id, "type": AgentState.type},
        )
        latest: dict[tuple[str, str], str] = {}
        for row in rows:
            body = body_from_json(AgentState.type, decode(row["data"]))
            if isinstance(body, AgentState):
                latest[body.agent_id, row["step_key"]] = body.state
        return latest

    latest = studio.database.read(work)
    return [(agent, state) for (agent, _), state in latest.items() if state != CardState.IDLE.value]


def _tell(studio: Studio, run: Run, body: AgentState, key: str) -> None:
    # Noted, not waited for: a card must not slow down the step it tells of.
    row = event_row(body, studio.clock.now_ms(), run.session_id, run.id, run.key(key))
    studio.database.note(lambda connection: connection.execute(*row))
