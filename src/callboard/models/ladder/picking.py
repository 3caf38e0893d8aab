"""Evidence without trust: code offers numbered candidates, the model picks numbers.

A quote is never written by a model here. Candidates are taken from the inputs word for word, the
schema allows their numbers and nothing else, and the evidence line is rendered by code.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput
from callboard.core.vocabulary import Content, Evidence, EvidenceKind, Trust

PICKS: Final = "picks"
_MIN_WORDS: Final = 2
_MIN_CHARS: Final = 8
_MAX_CHARS: Final = 160
_SENTENCE_END: Final = re.compile(r"(?<=[.!?…])\s+")
_UNQUOTABLE: Final = re.compile(r'["“”„;…]|\.\.\.')


@dataclass(frozen=True, slots=True)
class Picking:
    """Numbered candidates, the schema to pick from them, and the way back to evidence."""

    candidates: tuple[Evidence, ...]
    schema: Mapping[str, Json]

    @property
    def listing(self) -> Content:
        """The candidates as the model sees them; quoted text may inform, never instruct."""
        lines = [
            f"{number}. {_shown(candidate)}"
            for number, candidate in enumerate(self.candidates, start=1)
        ]
        return Content("\n".join(lines), "candidates", Trust.UNTRUSTED)

    def chosen(self, data: Mapping[str, Any]) -> tuple[Evidence, ...]:
        """Return the picked candidates in the order of the list, each once."""
        picked = set(data[PICKS])
        return tuple(each for number, each in enumerate(self.candidates, 1) if number in picked)

    def line(self, data: Mapping[str, Any]) -> str:
        """Return the evidence line of a reply, as the evidence grammar wants it."""
        return "Evidence: " + "; ".join(cite(each) for each in self.chosen(data))


def pick_numbers(
    candidates: Sequence[Evidence], *, least: int = 1, most: int | None = None
) -> Picking:
    """Offer candidates by number; at least and at most so many may be picked."""
    highest = len(candidates) if most is None else min(most, len(candidates))
    if not candidates or not 0 <= least <= highest:
        raise InvalidInput(
            f"{least} to {highest} of {len(candidates)} candidates cannot be picked.",
            fix="Offer more candidates, or ask for fewer.",
        )
    numbers = {"type": "integer", "enum": list(range(1, len(candidates) + 1))}
    picks = {"type": "array", "items": numbers, "minItems": least, "maxItems": highest}
    return Picking(
        tuple(candidates),
        {
            "type": "object",
            "properties": {PICKS: picks},
            "required": [PICKS],
            "additionalProperties": False,
        },
    )


def line_candidates(
    source: str, text: str, *, kind: EvidenceKind = EvidenceKind.FILE, most: int = 12
) -> tuple[Evidence, ...]:
    """Take sentences of a text, spread over its length, as candidates with their line."""
    found: list[Evidence] = []
    for number, line in enumerate(text.splitlines(), start=1):
        for sentence in _SENTENCE_END.split(line.strip()):
            quote = _quotable(sentence)
            if quote:
                found.append(Evidence(kind, source, quote, (number, number)))
    if len(found) <= most:
        return tuple(found)
    return tuple(found[index * len(found) // most] for index in range(most))


def cite(evidence: Evidence) -> str:
    """Return one source of an evidence line."""
    source = f"slot:{evidence.source}" if evidence.kind is EvidenceKind.SLOT else evidence.source
    if evidence.kind is EvidenceKind.RECEIPT:
        return f"receipt_id: {evidence.source}"
    if evidence.kind is EvidenceKind.SCOPE:
        return f"scope: checked {evidence.source}"
    if evidence.quote and not _UNQUOTABLE.search(evidence.quote):
        return f'{source} "{evidence.quote}"'
    if evidence.lines is not None:
        first, last = evidence.lines
        return f"{source} L{first}-{last}"
    raise InvalidInput(
        f"The candidate from {evidence.source!r} can be cited neither by quote nor by lines.",
        fix="Give it a quote without quotation marks, or the lines it stands on.",
    )


def _shown(evidence: Evidence) -> str:
    place = f", line {evidence.lines[0]}" if evidence.lines else ""
    return f"{evidence.source}{place}: {evidence.quote}".rstrip(": ")


def _quotable(sentence: str) -> str:
    """Return a piece of a sentence that a validator finds again, or nothing."""
    piece = max(_UNQUOTABLE.split(sentence), key=len).strip()
    if len(piece) > _MAX_CHARS:
        piece = piece[:_MAX_CHARS].rpartition(" ")[0]
    is_enough = len(piece) >= _MIN_CHARS and len(piece.split()) >= _MIN_WORDS
    return piece if is_enough else ""
