"""Voice: what a narrator tells, speech left out, and in which person and tense."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from callboard.library.story.lexicon import phrases_in, words_in
from callboard.library.story.model import Severity, StoryFinding
from callboard.library.story.text.document import Document
from callboard.library.story.text.sentences import Sentence
from callboard.library.story.text.words import words_of
from callboard.library.story.thresholds import ProseThresholds
from callboard.library.story.tools.report import noticed, quotes_of

_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_LEADING: Final = re.compile(r"^[\s>“”\"«»‘’'\-–—*_(\[]+")
Person = Literal["first", "second", "third", "unknown"]
Tense = Literal["past", "present", "unknown"]
_PERSONS: Final = ("first_person", "second_person", "third_person")
_MIN_NARRATION_WORDS: Final = 30


@dataclass(frozen=True, slots=True)
class NarratedSentence:
    """A sentence of the document and the part of it that is narration."""

    index: int
    sentence: Sentence
    text: str
    words: tuple[str, ...]
    # False where the sentence opens with speech: "“No,” he said."
    opens: bool


@dataclass(frozen=True)
class Narration:
    """The narration of one document, in order."""

    document: Document
    told: tuple[NarratedSentence, ...]

    @cached_property
    def word_count(self) -> int:
        """How many words are narration."""
        return sum(len(each.words) for each in self.told)


def narration_of(document: Document) -> Narration:
    """Separate what is narrated from what is said."""
    told: list[NarratedSentence] = []
    for index, sentence in enumerate(document.sentences):
        if not sentence.has_dialogue:
            told.append(
                NarratedSentence(index, sentence, sentence.text, sentence.words, opens=True)
            )
            continue
        words = words_of(sentence.narration)
        if words:
            opens = sentence.spoken[0][0] > len(_leading(sentence.text))
            told.append(NarratedSentence(index, sentence, sentence.narration, words, opens))
    return Narration(document, tuple(told))


def proper_words(document: Document) -> frozenset[str]:
    """Return, in lower case, the words a text only ever writes with a capital: mostly names."""
    words = frozenset(_WORD.findall(document.prose))
    capital = frozenset(word.lower() for word in words if word[0].isupper())
    return capital - words


def first_word(text: str) -> str:
    """Return the first word as written, whatever marks stand before it."""
    words = text[len(_leading(text)) :].split(maxsplit=1)
    return words[0].rstrip(".,;:!?…”\"'’)]") if words else ""


def _leading(text: str) -> str:
    found = _LEADING.match(text)
    return found[0] if found else ""


@dataclass(frozen=True, slots=True)
class Tenses:
    """The narration sorted by tense; sentences that show none, or both, are left out."""

    past: tuple[NarratedSentence, ...]
    present: tuple[NarratedSentence, ...]
    # Present-tense remarks of a narrator who tells the past, and what is always true.
    asides: tuple[NarratedSentence, ...]

    @property
    def majority(self) -> Tense:
        """The tense of the telling."""
        if not self.past and not self.present:
            return "unknown"
        return "past" if len(self.past) >= len(self.present) else "present"

    @property
    def minority(self) -> tuple[NarratedSentence, ...]:
        """The sentences in the other tense."""
        return self.present if self.majority == "past" else self.past

    @property
    def minority_share(self) -> float:
        """Which part of the sentences is told in the other tense."""
        decided = len(self.past) + len(self.present)
        return len(self.minority) / decided if decided else 0.0


def person_of(narration: Narration) -> tuple[Person, dict[str, int]]:
    """Infer the grammatical person of the narrator from pronouns outside dialogue."""
    words = Counter(word for told in narration.told for word in told.words)
    counts = [sum(words[each] for each in words_in("grammar", group)) for group in _PERSONS]
    first, second, third = counts
    signals = {"first": first, "second": second, "third": third}
    if narration.word_count < _MIN_NARRATION_WORDS or not sum(counts):
        return "unknown", signals
    # "I" alone decides: third-person narration has none, first-person narration talks of others.
    if words["i"] + words["my"] + words["me"] >= max(3, 0.004 * narration.word_count):
        return "first", signals
    if second > third and second > 0.02 * narration.word_count:
        return "second", signals
    return ("first" if first > 3 * third else "third"), signals


def tenses_of(narration: Narration, person: Person, names: frozenset[str]) -> Tenses:
    """Sort the sentences of the narration by their tense."""
    past: list[NarratedSentence] = []
    present: list[NarratedSentence] = []
    asides: list[NarratedSentence] = []
    for told in narration.told:
        tense = _tense(told.words, names)
        if tense == "past":
            past.append(told)
        elif tense == "present":
            (asides if _is_aside(told.words) else present).append(told)
    # Where the present is the tense of the telling, "I walk" and "there is" are the telling.
    if len(present) + len(asides) > len(past):
        return Tenses(tuple(past), tuple(sorted([*present, *asides], key=_index)), ())
    if person == "first":
        told_aside = [
            told
            for told in present
            if words_in("grammar", "narrator_contractions") & set(told.words)
        ]
        asides += told_aside
        present = [told for told in present if told not in told_aside]
    return Tenses(tuple(past), tuple(present), tuple(sorted(asides, key=_index)))


def mixed_tense(
    narration: Narration, tenses: Tenses, limits: ProseThresholds
) -> Iterator[StoryFinding]:
    """Tell once when a good part of the scene is told in the other tense."""
    minority = tenses.minority
    if len(minority) < limits.tense_min_sentences:
        return
    if tenses.minority_share < limits.tense_minority_share:
        return
    alone = _outside_blocks(minority, limits.tense_block_sentences)
    is_blocks = len(alone) * 2 < len(minority)
    other = "present" if tenses.majority == "past" else "past"
    as_letter = is_letter(narration)
    reason = ""
    if as_letter:
        reason = "; a letter or diary may move between them"
    elif is_blocks:
        reason = "; most of them stand together, as a passage of their own"
    yield noticed(
        "mixed_tense",
        Severity.INFO if as_letter or is_blocks else Severity.MINOR,
        f"Told in the {tenses.majority} tense, but {len(minority)} of"
        f" {len(tenses.past) + len(tenses.present)} sentences are {other}"
        f" ({tenses.minority_share:.0%}){reason}",
        quotes_of(narration.document, (told.sentence for told in alone or minority), 4),
        "Choose one tense for the narration, or part the passages clearly.",
        0.5 if as_letter or is_blocks else 0.7,
    )


def is_letter(narration: Narration) -> bool:
    """Say whether the text is written as a letter or a diary by one of its people."""
    document = narration.document
    quoted = sum(paragraph.is_quoted for paragraph in document.paragraphs)
    if quoted * 2 > len(document.paragraphs):
        return True
    opening = " ".join(word for told in narration.told[:3] for word in told.words[:12])
    return opening.startswith(tuple(f"{each} " for each in phrases_in("prose", "letter_openings")))


def _index(told: NarratedSentence) -> int:
    return told.index


def _tense(words: Sequence[str], names: frozenset[str]) -> Tense:
    past = any(_is_past(words, index) for index in range(len(words)))
    present = any(_is_present(words, index, names) for index in range(len(words)))
    if past == present:
        return "unknown"
    return "past" if past else "present"


def _is_past(words: Sequence[str], index: int) -> bool:
    word = words[index]
    before = words[index - 1] if index else ""
    if word in words_in("prose", "past_verbs"):
        return before not in {"have", "has", "to", "be", "been", "is", "are"}
    if not (word.endswith("ed") and len(word) > 3 and index):
        return False
    return before not in words_in("grammar", "before_participle") and not before.endswith("ly")


def _is_present(words: Sequence[str], index: int, names: frozenset[str]) -> bool:
    word = words[index]
    before = words[index - 1] if index else ""
    if word in words_in("prose", "present_or_noun"):
        return before in words_in("grammar", "third_subjects") or before in names
    if word in words_in("prose", "present_verbs"):
        return True
    if word in words_in("prose", "present_bases") or word == "have":
        return before in words_in("grammar", "base_form_subjects") and (
            words[index - 2] if index > 1 else ""
        ) not in words_in("grammar", "modals")
    return False


def _is_aside(words: Sequence[str]) -> bool:
    """Say whether a present-tense sentence would be at home in a tale told in the past."""
    if words[0] in words_in("prose", "timeless_openers"):
        return True
    return bool(words_in("grammar", "second_person") & set(words)) or "one" in words


def _outside_blocks(told: Sequence[NarratedSentence], block_size: int) -> list[NarratedSentence]:
    """Return the sentences that do not stand in a long block of their kind."""
    alone: list[NarratedSentence] = []
    block: list[NarratedSentence] = []
    for each in told:
        if block and each.index - block[-1].index > 2:
            alone += block if len(block) < block_size else []
            block = []
        block.append(each)
    return alone + (block if len(block) < block_size else [])
