"""The smallest pieces of a conversation, how relevant each is, and those that are worth keeping.

A piece is one turn, or all turns of a pair: a tool call never loses its result.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from callboard.prompts.draft import exchanges, turn_tokens
from callboard.prompts.layers import Turn
from callboard.prompts.tokens import TokenCounter

_WORD: Final = re.compile(r"\w+")
_SATURATION: Final = 1.5
_LENGTH_WEIGHT: Final = 0.75


def words(text: str) -> list[str]:
    """Return the words of a text as they are compared."""
    return _WORD.findall(text.casefold())


def bm25(texts: Sequence[str], query: str) -> list[float]:
    """Return how well each text matches the query; a rare word counts more than a common one."""
    counted = [Counter(words(text)) for text in texts]
    lengths = [count.total() for count in counted]
    average = sum(lengths) / len(lengths) if any(lengths) else 1.0
    scores = [0.0] * len(texts)
    for word in dict.fromkeys(words(query)):
        holding = sum(1 for count in counted if word in count)
        if not holding:
            continue
        rarity = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
        for index, count in enumerate(counted):
            often = count[word]
            if often:
                damping = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * lengths[index] / average
                gain = often * (_SATURATION + 1) / (often + _SATURATION * damping)
                scores[index] += rarity * gain
    return scores


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


_RECENCY_WEIGHT: Final = 0.3


def select(
    pieces: Sequence[Piece], room_tokens: int, *, keep_last_turns: int, min_relevance_share: float
) -> list[Piece] | None:
    """Return the pieces worth keeping, or None if too much would be lost.

    The latest turns are always in; then the best are taken as long as they fit, and one that is
    too large makes way for the next. What is kept must hold a share of all relevance.
    """
    turns = sum(len(piece.positions) for piece in pieces)
    kept = [piece for piece in pieces if piece.last >= turns - keep_last_turns]
    room = room_tokens - tokens_of(kept)
    total = sum(piece.relevance for piece in pieces)
    if room < 0 or not total:
        return None
    highest = max(piece.relevance for piece in pieces)

    def worth(piece: Piece) -> float:
        return piece.relevance / highest + _RECENCY_WEIGHT * (piece.last + 1) / turns

    held = set(kept)
    for piece in sorted(pieces, key=worth, reverse=True):
        if piece not in held and piece.tokens <= room:
            held.add(piece)
            room -= piece.tokens
    share = sum(piece.relevance for piece in held) / total
    return [piece for piece in pieces if piece in held] if share >= min_relevance_share else None
