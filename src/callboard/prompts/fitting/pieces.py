"""The smallest pieces a conversation may be taken apart into, each with its size and relevance.

A piece is one turn, or all turns of a pair: a tool call never loses its result.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from callboard.prompts.fitting.relevance import bm25
from callboard.prompts.layers import Turn
from callboard.prompts.tokens import TokenCounter
from callboard.prompts.turns import exchanges, turn_tokens

_NEIGHBOUR_SHARE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Piece:
    """Turns that stay together, by their positions in the conversation."""

    positions: tuple[int, ...]
    tokens: int
    relevance: float

    @property
    def last(self) -> int:
        """The position of its newest turn."""
        return self.positions[-1]


def pieces_of(turns: Sequence[Turn], query: str, counter: TokenCounter) -> list[Piece]:
    """Return the pieces from the oldest to the newest, by their last turn."""
    groups: dict[object, list[int]] = {}
    for position, turn in enumerate(turns):
        groups.setdefault(position if turn.pair is None else turn.pair, []).append(position)
    scores = _relevance(turns, query)
    pieces = [
        Piece(
            tuple(positions),
            sum(turn_tokens(turns[position], counter) for position in positions),
            max(scores[position] for position in positions),
        )
        for positions in groups.values()
    ]
    return sorted(pieces, key=lambda piece: piece.last)


def _relevance(turns: Sequence[Turn], query: str) -> list[float]:
    """Score every turn; one that stands beside a good match gets a share of it."""
    own = bm25([turn.content.text for turn in turns], query)
    scores: list[float] = []
    start = 0
    for exchange in exchanges(turns):
        within = own[start : start + len(exchange)]
        best = max(within) * _NEIGHBOUR_SHARE
        scores.extend(max(score, best) for score in within)
        start += len(exchange)
    return scores


def tokens_of(pieces: Sequence[Piece]) -> int:
    """Return what pieces cost together."""
    return sum(piece.tokens for piece in pieces)


def turns_of(pieces: Sequence[Piece], turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """Return the turns of some pieces in the order of the conversation."""
    positions = sorted(position for piece in pieces for position in piece.positions)
    return tuple(turns[position] for position in positions)


def newest(pieces: Sequence[Piece], room_tokens: int) -> list[Piece]:
    """Return the newest pieces without a gap, as many as the room holds."""
    kept: list[Piece] = []
    for piece in reversed(pieces):
        room_tokens -= piece.tokens
        if room_tokens < 0:
            break
        kept.append(piece)
    return kept[::-1]
