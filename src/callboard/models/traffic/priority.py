"""Priorities: five steps from the user's own work down to what can wait. Knows no queue.

A request carries a plain number, larger first. Everything above `PLANNING` is the interactive
class: a human is waiting, so it is served before all other work and may take another call's place.
"""

from enum import IntEnum
from typing import Final


class Priority(IntEnum):
    """How much a human is waiting for an answer."""

    USER = 100
    PLANNING = 80
    EXECUTION = 60
    VALIDATION = 40
    BACKGROUND = 20


_BY_AGENT: Final = {
    "architect": Priority.PLANNING,
    "engineer": Priority.EXECUTION,
    "designer": Priority.EXECUTION,
    "inspector": Priority.VALIDATION,
    "tester": Priority.VALIDATION,
    "archivalist": Priority.BACKGROUND,
    "librarian": Priority.BACKGROUND,
}
_STANDALONE: Final = frozenset(
    {"guide", "architect", "orchestrator", "librarian", "archivalist", "academic"}
)
"""Agents that talk with the user themselves, outside of any pipeline."""


def priority_of(agent_type: str, *, user_invoked: bool = False) -> Priority:
    """Return the step an agent's work stands on; what the user asked for is always `USER`."""
    if user_invoked:
        return Priority.USER
    return _BY_AGENT.get(agent_type.lower(), Priority.EXECUTION)


def queue_priority(
    agent_type: str, *, user_invoked: bool = False, is_background: bool = False
) -> int:
    """Return the number a request of this agent should carry.

    A standalone agent's work is interactive unless it runs in the background; within the
    interactive class the order of the steps is kept.
    """
    step = priority_of(agent_type, user_invoked=user_invoked)
    is_standalone = agent_type.lower() in _STANDALONE
    if user_invoked or (is_standalone and not is_background):
        # The five steps, pressed into the numbers above PLANNING: 100, 96, 92, 88, 84.
        return Priority.PLANNING + step // 5
    return step


def effective(priority: int) -> int:
    """Return the priority of a request that may not have named one."""
    return priority or Priority.EXECUTION


def is_interactive(priority: int) -> bool:
    """Say whether a human is waiting for work of this priority."""
    return priority > Priority.PLANNING
