"""Nodes: who is asked at each point of a turn, with which texts, and how much it may cost."""

from dataclasses import dataclass
from typing import Final

from callboard.choreography.turn.shapes import StepType


@dataclass(frozen=True, slots=True)
class Node:
    """One kind of model call: its name, its agent's archetype, its prompt files, its budget."""

    name: str
    agent: str
    prompts: tuple[str, ...]
    input_tokens: int
    output_tokens: int


UNDERSTAND: Final = Node("understand", "listener", ("understand",), 1500, 300)
QUICK: Final = Node("quick", "listener", ("quick",), 2000, 600)
THINK: Final = Node("think", "planner", ("think",), 2000, 800)
REPLY: Final = Node("reply", "host", ("reply",), 2000, 1000)
SUMMARIZE: Final = Node("summarize", "scribe", ("summarize",), 3000, 500)
ACT: Final = {
    kind: Node(f"act_{kind.value}", "hand", ("act/base", f"act/{kind.value}"), 3000, 1000)
    for kind in StepType
}
