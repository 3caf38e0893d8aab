"""Turns of a conversation: which belong together, how they read, what they cost."""

from collections.abc import Sequence
from typing import Final

from callboard.prompts.fence import fence
from callboard.prompts.layers import Turn
from callboard.prompts.layout import turn_line
from callboard.prompts.tokens import TokenCounter

_ASSISTANT: Final = "assistant"
_USER: Final = "user"


def exchanges(turns: Sequence[Turn]) -> list[tuple[Turn, ...]]:
    """Return the conversation as whole exchanges: what the user says and all that follows.

    As long as a pair is not complete, nothing opens a new exchange, whoever speaks.
    """
    ends = {turn.pair: index for index, turn in enumerate(turns) if turn.pair is not None}
    groups: list[list[Turn]] = []
    open_until = -1
    for index, turn in enumerate(turns):
        if not groups or (turn.role.lower() == _USER and index > open_until):
            groups.append([])
        groups[-1].append(turn)
        if turn.pair is not None:
            open_until = max(open_until, ends[turn.pair])
    return [tuple(group) for group in groups]


def turn_text(turn: Turn) -> str:
    """Return a turn as it stands in a prompt."""
    # An assistant's own words stay bare: its role already says who speaks, and a fence here would
    # teach it to answer in fences.
    return turn.content.text if turn.role.lower() == _ASSISTANT else fence(turn.content)


def turn_tokens(turn: Turn, counter: TokenCounter) -> int:
    """Return what a turn costs in a prompt."""
    return counter.count(turn_line(turn.role, turn_text(turn)))
