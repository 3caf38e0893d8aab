"""The checks of the scanner that no single expression can make. Each yields stretches of text."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Final

from callboard.library.story.lexicon import word_list
from callboard.library.story.text.sentences import Span
from callboard.library.story.text.words import words_of
from callboard.packs.writers_factory.prose.reading import (
    MASK,
    ProseParagraph,
    ProseReading,
    one_of,
    words_in,
)

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


def is_action(paragraph: ProseParagraph) -> bool:
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


Found = tuple[ProseParagraph, int, int]

_RUN: Final = 3
_OPENS_WITH_I: Final = re.compile(r"I(?:['’](?:m|d|ve|ll))?(?=\s)")
_AFTER_SPEECH_CHARS: Final = 110
_WHO: Final = r"(?:he|she|they|i|we|[A-Z]\w+)"
_NOT_YET: Final = (
    r"(?!(?:not|n['’]t|never|no longer|less|more|as|so \w+ that|about|of|for|to|by)\b)"
)


def find_i_paragraphs(reading: ProseReading, pov: str) -> Iterator[Found]:
    """Find three and more paragraphs in a row that open with "I", in a first-person telling."""
    if not pov.startswith("first"):
        return
    run: list[ProseParagraph] = []
    for paragraph in (*reading.paragraphs, None):
        opens = None if paragraph is None else _OPENS_WITH_I.match(paragraph.narration)
        if paragraph is not None and opens is not None:
            run.append(paragraph)
            continue
        if len(run) >= _RUN:
            yield run[0], 0, run[0].sentences[0][1]
        run = []


def find_action_similes(reading: ProseReading, _pov: str) -> Iterator[Found]:
    """Find comparisons in paragraphs that tell action."""
    for paragraph in reading.paragraphs:
        if is_action(paragraph):
            for start, end in similes(paragraph.narration):
                yield paragraph, start, _phrase_end(paragraph, end)


def find_named_emotions(reading: ProseReading, _pov: str) -> Iterator[Found]:
    """Find feelings that are named right after somebody has shown them by speaking."""
    for paragraph in reading.paragraphs:
        last = -1
        for _, spoken_end in paragraph.spoken:
            until = min(len(paragraph.text), spoken_end + _AFTER_SPEECH_CHARS)
            after = paragraph.narration[spoken_end:until].partition(MASK)[0]
            hit = _emotion().match(after)
            if hit is not None and spoken_end + hit.start("named") > last:
                last = spoken_end + hit.end()
                yield paragraph, spoken_end + hit.start("named"), last


def find_passive_tags(reading: ProseReading, _pov: str) -> Iterator[Found]:
    """Find speech whose speaker is hidden behind a passive or a noun."""
    for paragraph in reading.paragraphs:
        for _, spoken_end in paragraph.spoken:
            hit = _passive_tag().match(paragraph.narration, spoken_end)
            if hit is not None:
                yield paragraph, hit.start("tag"), hit.end("tag")


CHECKS: Final[Mapping[str, Callable[[ProseReading, str], Iterator[Found]]]] = {
    "i_paragraphs": find_i_paragraphs,
    "action_similes": find_action_similes,
    "named_emotions": find_named_emotions,
    "passive_tags": find_passive_tags,
}


def sentence_around(paragraph: ProseParagraph, start: int) -> Span:
    """Return the sentence of a paragraph a place stands in."""
    for first, end in paragraph.sentences:
        if start < end:
            return first, end
    return 0, len(paragraph.text)


def _phrase_end(paragraph: ProseParagraph, at: int) -> int:
    """Return where the comparison that opens before a place is over."""
    _, sentence_end = sentence_around(paragraph, at - 1)
    stop = re.compile(r"[,;:.!?—–]").search(paragraph.text, at, sentence_end)
    return stop.start() if stop is not None else sentence_end


@cache
def _emotion() -> re.Pattern[str]:
    tag = rf"(?:{'|'.join(sorted(word_list('speech_verbs')))})"
    degree = r"(?:(?:so|very|too|quite|suddenly|deeply|utterly|almost|now|a little) )?"
    named = (
        rf"{_WHO} (?:was|were|is|are|felt|feels|feel|seemed|sounded|looked) {_NOT_YET}{degree}"
        rf"(?:{one_of('emotions')})\b(?! (?:of|to|for|about|by|with|at|that)\b)"
        rf"|{_WHO} (?:felt|feels|feel) (?:a \w+ of |the |only |nothing but )?{_NOT_YET}"
        rf"(?:{one_of('emotion_nouns')})\b"
    )
    tagged = (
        rf"(?:(?:{_WHO}|the \w+) {tag}|{tag} (?:{_WHO}|the \w+)),? "
        rf"(?:{one_of('emotion_adverbs')}|(?:in|with) (?:{one_of('emotion_nouns')}))\b"
    )
    # A tag may stand between what is said and what is felt.
    lead = rf"[\s,]*(?:(?:{_WHO}|the \w+) {tag}[^.!?\x00]{{0,40}}[.,]\s+|{tag} {_WHO}[.,]\s+)?"
    return re.compile(rf"{lead}(?P<named>{tagged}|{named})", re.IGNORECASE)


@cache
def _passive_tag() -> re.Pattern[str]:
    tag = "|".join(sorted(w for w in word_list("speech_verbs") if w.endswith("ed") or w == "said"))
    noun = "reply|answer|response|retort|whisper|shout|cry|question|demand|rejoinder"
    return re.compile(
        rf"[\s,—–-]*(?P<tag>(?:was|were|had been) (?:{tag})\b(?: by\b)?"
        rf"|came (?:the|his|her|their|my|an?) (?:\w+ )?(?:{noun})\b"
        rf"|(?:was|were) (?:the|his|her|their|my|all the) (?:only |\w+ )?(?:{noun})\b)",
        re.IGNORECASE,
    )
