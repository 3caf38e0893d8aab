"""Similes and action: where a comparison is drawn, and whether a paragraph tells action."""

import re
from collections.abc import Iterator
from typing import Final

from callboard.library.story.text.sentences import Span
from callboard.library.story.text.words import words_of
from callboard.packs.writers_factory.prose.lexicon import words_in
from callboard.packs.writers_factory.prose.reading import MASK, Paragraph

_SIMILE: Final = re.compile(
    r"\blike (?:a|an|the|some)\b(?! (?:rest|others?|same|first|last)\b)"
    r"|\bas (?!soon|well|far|long|much|many|little|good|often|early|late|usual|yet|to|for|before"
    r"|near|quickly|fast|best|hard)[a-z-]+ as (?:a|an|the|any)\b(?! (?:time|day|man could)\b)"
    r"|\bas (?:if|though)\b",
    re.IGNORECASE,
)
# After these "like" is a verb, or says what something resembles on the whole.
_NOT_COMPARED: Final = re.compile(
    r"\b(?:would|should|not|n['’]t|to|do|did|does|i|you|we|they|who|might|could|may|what|more|feels?"
    r"|anything|nothing|something)\s+$|['’]d\s+$",
    re.IGNORECASE,
)
_LEAST_WORDS: Final = 12
_MOST_SENTENCE_WORDS: Final = 14.0
_LEAST_MOVES: Final = 2
_WORDS_PER_MOVE: Final = 22
_SPOKEN_SHARE: Final = 0.4


def similes(narration: str) -> Iterator[Span]:
    """Find the comparisons in a text whose speech is masked."""
    for hit in _SIMILE.finditer(narration):
        is_verb = hit[0][:4].lower() == "like" and _NOT_COMPARED.search(
            narration, max(0, hit.start() - 20), hit.start()
        )
        if not is_verb:
            yield hit.span()


def is_action(paragraph: Paragraph) -> bool:
    """Say whether a paragraph tells action: bodies in motion, in short sentences, little talk."""
    told = words_of(paragraph.narration.replace(MASK, " "))
    if len(told) < _LEAST_WORDS:
        return False
    said = sum(end - start for start, end in paragraph.spoken)
    if said > _SPOKEN_SHARE * len(paragraph.text):
        return False
    moves = sum(word in words_in("motion_verbs") for word in told)
    is_dense = moves >= _LEAST_MOVES and moves * _WORDS_PER_MOVE >= len(told)
    return is_dense and len(told) / len(paragraph.sentences) <= _MOST_SENTENCE_WORDS
