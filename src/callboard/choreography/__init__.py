"""How agents are called: plain async functions over a `Stage`."""

from callboard.choreography.dag import Node, NodeState, perform_dag
from callboard.choreography.definition import choreography
from callboard.choreography.stage import Stage
from callboard.choreography.values import NotDone, Reply, ToolOutcome

__all__ = [
    "Node",
    "NodeState",
    "NotDone",
    "Reply",
    "Stage",
    "ToolOutcome",
    "choreography",
    "perform_dag",
]
