"""Echoes: a content word heard again before the reader has forgotten it."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from callboard.library.story.lexicon.groups import words_in
from callboard.library.story.model import Finding, Severity
from callboard.library.story.text.words import stem
from callboard.library.story.thresholds import ProseThresholds
from callboard.library.story.tools.narration import Narration, Told
from callboard.library.story.tools.noticing import noticed, quotes_of


@dataclass(frozen=True, slots=True)
class Echo:
    """A word and where it sounds, within one window."""

    word: str
    told: tuple[Told, ...]
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
    told: Told


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
) -> Iterator[Finding]:
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
