"""Diction: adverbs, filter words, passives, senses and echoes, counted in narration only."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from callboard.library.story.lexicon import words_in
from callboard.library.story.model import Severity, StoryFinding
from callboard.library.story.text.sentences import Sentence
from callboard.library.story.text.words import stem
from callboard.library.story.thresholds import ProseThresholds
from callboard.library.story.tools.prose.voice import NarratedSentence, Narration
from callboard.library.story.tools.report import noticed, quotes_of

SENSES: Final = ("sight", "hearing", "smell", "touch", "taste")
_SHORTEST_ADVERB: Final = 5
_LISTED: Final = 8
_ADVICE: Final = {
    "adverbs": "Try a stronger verb where the adverb carries the meaning.",
    "filter_words": "Show what is perceived and leave out the perceiving.",
}


@dataclass(frozen=True, slots=True)
class Tally:
    """How often something occurs, which words it was, and the sentences that show it."""

    words: Counter[str] = field(default_factory=Counter[str])
    told: list[NarratedSentence] = field(default_factory=list[NarratedSentence])

    @property
    def count(self) -> int:
        """How many there are."""
        return self.words.total()

    def add(self, word: str, told: NarratedSentence) -> None:
        """Count one more."""
        self.words[word] += 1
        self.told.append(told)

    def top(self) -> list[tuple[str, int]]:
        """Return the most frequent words, ties by alphabet."""
        return sorted(self.words.items(), key=lambda item: (-item[1], item[0]))[:_LISTED]


def adverbs(narration: Narration, names: frozenset[str]) -> Tally:
    """Count the -ly words that say how something is done."""
    tally = Tally()
    for told in narration.told:
        for word in told.words:
            if word.endswith("ly") and _is_adverb(word) and word not in names:
                tally.add(word, told)
    return tally


def filter_words(narration: Narration, names: frozenset[str]) -> Tally:
    """Count verbs that show somebody perceiving instead of what is perceived."""
    verbs = words_in("prose", "filter_verbs")
    subjects = words_in("grammar", "subjects") | names
    tally = Tally()
    for told in narration.told:
        for index, word in enumerate(told.words):
            if word in verbs and _subject_before(told.words, index) in subjects:
                tally.add(word, told)
    return tally


def passives(narration: Narration) -> Tally:
    """Estimate the passives: a form of "be" with a participle that is not just a state."""
    be_forms = words_in("prose", "be_forms")
    tally = Tally()
    for told in narration.told:
        for index, word in enumerate(told.words):
            if word in be_forms:
                participle = _participle_after(told.words, index)
                if participle:
                    tally.add(participle, told)
    return tally


def senses(narration: Narration) -> dict[str, int]:
    """Count the words of each sense."""
    counts = Counter(word for told in narration.told for word in told.words)
    return {
        sense: sum(counts[word] for word in words_in("prose", sense) if word in counts)
        for sense in SENSES
    }


def too_many(
    narration: Narration,
    tallies: Mapping[str, Tally],
    limits: ProseThresholds,
) -> Iterator[StoryFinding]:
    """Tell, once for each kind, when the narration leans on adverbs or on filter words."""
    allowed = {
        "adverbs": limits.adverbs_per_1000,
        "filter_words": limits.filter_words_per_1000,
    }
    words = narration.word_count
    for kind, limit in allowed.items():
        tally = tallies[kind]
        rate = 1000 * tally.count / max(words, 1)
        # In a short text a handful is already a high rate and says nothing.
        if rate <= limit or tally.count < limits.rate_min_count:
            continue
        top = ", ".join(f"{word} {count}" for word, count in tally.top())
        yield noticed(
            kind,
            Severity.MINOR if rate > limit * limits.rate_heavy_factor else Severity.INFO,
            f"{tally.count} {kind.replace('_', ' ')} in {words} words of narration: {rate:.1f} in"
            f" 1,000 (more than {limit:g}). Most used: {top}",
            quotes_of(narration.document, _densest(tally.told), 3),
            _ADVICE[kind],
            0.8,
        )


def _densest(told: Sequence[NarratedSentence]) -> list[Sentence]:
    """Return the sentences that hold most, first those earlier in the text."""
    counts = Counter(each.index for each in told)
    by_index = {each.index: each.sentence for each in told}
    return [by_index[index] for index in sorted(counts, key=lambda index: (-counts[index], index))]


def _is_adverb(word: str) -> bool:
    return (
        len(word) >= _SHORTEST_ADVERB
        and "-" not in word
        and word not in words_in("prose", "not_adverbs")
    )


def _subject_before(words: Sequence[str], index: int) -> str:
    at = index - 1
    while at >= 0 and (
        words[at] in words_in("grammar", "between_subject_and_verb") or words[at].endswith("ly")
    ):
        at -= 1
    return words[at] if at >= 0 else ""


def _participle_after(words: Sequence[str], index: int) -> str:
    at = index + 1
    while at < len(words) and (
        words[at] in words_in("grammar", "between_be_and_participle") or words[at].endswith("ly")
    ):
        at += 1
    if at >= len(words):
        return ""
    word = words[at]
    if not _is_participle(word):
        return ""
    is_by_someone = "by" in words[at + 1 : at + 3]
    is_state = word in words_in("prose", "state_participles") or word.startswith("un")
    return "" if is_state and not is_by_someone else word


def _is_participle(word: str) -> bool:
    if word in words_in("prose", "irregular_participles"):
        return True
    return (
        len(word) > 4
        and word.endswith("ed")
        and "-" not in word
        and word not in words_in("grammar", "not_participles")
    )


@dataclass(frozen=True, slots=True)
class Echo:
    """A word and where it sounds, within one window."""

    word: str
    told: tuple[NarratedSentence, ...]
    # How often the whole narration has it: a word used throughout is the subject, not an echo.
    total: int

    @property
    def times(self) -> int:
        """How often it sounds in the window."""
        return len(self.told)


@dataclass(frozen=True, slots=True)
class _Heard:
    position: int
    word: str
    told: NarratedSentence


def echoes(narration: Narration, names: frozenset[str], limits: ProseThresholds) -> list[Echo]:
    """Return the densest window of every word that echoes, the loudest first."""
    heard = _heard_by_stem(narration, names, limits.echo_min_letters)
    found = [
        echo
        for places in heard.values()
        if len(places) >= limits.echo_times
        for echo in [_densest_window(places, limits)]
        if echo is not None
    ]
    return sorted(found, key=lambda echo: (-echo.times, echo.total, echo.told[0].index, echo.word))


def tell_echoes(
    narration: Narration, found: Sequence[Echo], limits: ProseThresholds
) -> Iterator[StoryFinding]:
    """Tell of the loudest echoes; a subject the scene keeps naming is none."""
    telling = [echo for echo in found if echo.total <= echo.times + limits.echo_subject_extra]
    for echo in telling[: limits.echoes_listed]:
        yield noticed(
            "repeated_word",
            Severity.INFO if echo.times == limits.echo_times else Severity.MINOR,
            f"“{echo.word}” sounds {echo.times} times within {limits.echo_window_words} words",
            quotes_of(narration.document, (each.sentence for each in echo.told), 4),
            "Replace one, or let the repetition be heard as meant.",
            0.5,
        )


def _heard_by_stem(
    narration: Narration, names: frozenset[str], min_letters: int
) -> dict[str, list[_Heard]]:
    unheard = words_in("prose", "unheard_words") | words_in("prose", "speech_verbs") | names
    starts = _starts(narration)
    heard: defaultdict[str, list[_Heard]] = defaultdict(list)
    for told in narration.told:
        start = starts[told.index]
        for offset, word in enumerate(told.words):
            plain = word.removesuffix("'s")
            if len(plain) < min_letters or plain in unheard or not plain.isalpha():
                continue
            heard[stem(plain)].append(_Heard(start + offset, plain, told))
    return heard


def _starts(narration: Narration) -> list[int]:
    """Return the position of every sentence's first word, dialogue counted too."""
    starts: list[int] = []
    position = 0
    for sentence in narration.document.sentences:
        starts.append(position)
        position += len(sentence.words)
    return starts


def _densest_window(places: Sequence[_Heard], limits: ProseThresholds) -> Echo | None:
    best: Sequence[_Heard] = ()
    start = 0
    for end in range(len(places)):
        while places[end].position - places[start].position >= limits.echo_window_words:
            start += 1
        if end + 1 - start > len(best):
            best = places[start : end + 1]
    heard = [each for at, each in enumerate(best) if not (at and _is_figure(best[at - 1], each))]
    if len(heard) < limits.echo_times:
        return None
    return Echo(heard[0].word, tuple(each.told for each in heard), len(places))


def _is_figure(before: _Heard, now: _Heard) -> bool:
    """Say whether a sentence takes its own word up again: "nearer and nearer", "he ran, ran"."""
    if before.told.index != now.told.index:
        return False
    text = now.told.text.lower()
    taken_up = rf"(?:[,;:—–]|\b(?:and|or|than|but|not|after|by|to|no|the same)\b)[\s—]*{now.word}\b"
    return re.search(taken_up, text) is not None
