"""How agents are called: plain async functions over a `Stage`."""

from callboard.choreography.conversation import agent_turn, user_turn
from callboard.choreography.dag import Node, NodeState, perform_dag
from callboard.choreography.definition import choreography
from callboard.choreography.stage import Stage
from callboard.choreography.values import NotDone, Reply, ToolOutcome
from callboard.models.traffic.priority import Priority

__all__ = [
    "Node",
    "NodeState",
    "NotDone",
    "Priority",
    "Reply",
    "Stage",
    "ToolOutcome",
    "agent_turn",
    "choreography",
    "perform_dag",
    "user_turn",
]
