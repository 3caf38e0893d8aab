"""Prompting: what each node of a turn is shown, in named sections, within its budget."""

from callboard.choreography.turn.prompting.asker import Asker, Said, compose_prompt
from callboard.choreography.turn.prompting.hiding import Hidden
from callboard.choreography.turn.prompting.nodes import (
    ACT,
    QUICK,
    REPLY,
    SUMMARIZE,
    THINK,
    UNDERSTAND,
    Node,
)
from callboard.choreography.turn.prompting.sections import (
    Section,
    entity_lines,
    entity_section,
    rows_section,
)

__all__ = [
    "ACT",
    "QUICK",
    "REPLY",
    "SUMMARIZE",
    "THINK",
    "UNDERSTAND",
    "Asker",
    "Hidden",
    "Node",
    "Said",
    "Section",
    "compose_prompt",
    "entity_lines",
    "entity_section",
    "rows_section",
]
