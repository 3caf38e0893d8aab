"""The first way to make a conversation fit: keep what matters for the message at hand."""

from collections.abc import Sequence
from typing import Final

from callboard.prompts.fitting.pieces import Piece, tokens_of

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
