"""Diction: adverbs, filter words, passives and senses, counted in narration only."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from callboard.library.story.lexicon.groups import words_in
from callboard.library.story.model import Finding, Severity
from callboard.library.story.text.sentences import Sentence
from callboard.library.story.thresholds import ProseThresholds
from callboard.library.story.tools.narration import Narration, Told
from callboard.library.story.tools.noticing import noticed, quotes_of

SENSES: Final = ("sight", "hearing", "smell", "touch", "taste")
_SHORTEST_ADVERB: Final = 5
_LISTED: Final = 8


@dataclass(frozen=True, slots=True)
class Tally:
    """How often something occurs, which words it was, and the sentences that show it."""

    words: Counter[str] = field(default_factory=Counter[str])
    told: list[Told] = field(default_factory=list[Told])

    @property
    def count(self) -> int:
        """How many there are."""
        return self.words.total()

    def add(self, word: str, told: Told) -> None:
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
) -> Iterator[Finding]:
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


_ADVICE: Final = {
    "adverbs": "Try a stronger verb where the adverb carries the meaning.",
    "filter_words": "Show what is perceived and leave out the perceiving.",
}


def _densest(told: Sequence[Told]) -> list[Sentence]:
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
