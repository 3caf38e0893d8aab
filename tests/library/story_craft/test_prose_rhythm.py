"""Sentence length, monotony, openings and pace."""

import pytest

from callboard.library.story.model import Severity
from callboard.library.story.text.document import Document
from callboard.library.story.thresholds import bundled_thresholds
from callboard.library.story.tools.prose import rhythm
from callboard.library.story.tools.prose.voice import narration_of

LIMITS = bundled_thresholds().prose


def document(text: str) -> Document:
    return Document("scene.md", text)


def sentence_of(words: int, word: str = "stone") -> str:
    return "The " + " ".join([word] * (words - 1)) + "."


def long_sentences(text: str):
    return list(rhythm.long_sentences(document(text), LIMITS))


@pytest.mark.req("CR-71")
def test_a_sentence_of_46_words_is_told_of_and_one_of_45_is_not() -> None:
    assert not long_sentences(sentence_of(45))
    (found,) = long_sentences(sentence_of(46))
    assert found.severity is Severity.MINOR
    assert found.quotes[0].text == sentence_of(46)
    assert "46 words" in found.message


@pytest.mark.req("CR-71")
def test_pauses_and_speech_make_a_long_sentence_milder() -> None:
    halves = sentence_of(30)[:-1] + "; " + sentence_of(30)
    assert [each.severity for each in long_sentences(halves)] == [Severity.INFO]
    spoken = f"“{sentence_of(50)}”"
    assert [each.severity for each in long_sentences(spoken)] == [Severity.INFO]


def test_a_scene_of_long_sentences_is_told_once() -> None:
    text = " ".join(sentence_of(50) for _ in range(12))
    (found,) = long_sentences(text)
    assert found.type == "long_sentences"
    assert found.severity is Severity.INFO
    assert "12 of 12" in found.message


@pytest.mark.req("CR-69")
def test_lengths_quote_the_longest_and_the_shortest() -> None:
    text = document("He ran. She walked all the way home. Stop.")
    lengths = rhythm.lengths_of(text.sentences)
    assert (lengths.counts, lengths.mean, lengths.median) == ((2, 6, 1), 3.0, 2.0)
    assert lengths.longest is not None
    assert lengths.longest.text == "She walked all the way home."
    assert lengths.shortest is not None
    assert lengths.shortest.text == "Stop."


@pytest.mark.req("CR-71")
def test_twenty_sentences_of_one_length_are_monotonous() -> None:
    def found(count: int) -> list[str]:
        text = document(" ".join(["The old man went home again."] * count))
        lengths = rhythm.lengths_of(text.sentences)
        return [each.type for each in rhythm.monotony(text, lengths, LIMITS)]

    assert found(19) == []
    assert found(20) == ["monotonous_rhythm"]


@pytest.mark.req("CR-71")
@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("Then he ran. Then he fell. Then he slept.", ["repeated_opener"]),
        ("Then he ran. Then he fell. He slept.", []),
        ("The cat sat. The cat ate. The cat slept.", ["repeated_opener"]),
        # An article alone is no opening.
        ("The cat sat. The dog ate. The cow slept.", []),
        ("He ran. He fell. He slept.", ["repeated_pronoun_opener"]),
        ("He ran. He fell. He slept. He woke. He rose.", ["repeated_opener"]),
        # A new paragraph or speech breaks the run.
        ("Then he ran. Then he fell.\n\nThen he slept.", []),
        ("“Then go.” “Then stay.” “Then sleep.”", []),
        ("Then he ran. “Then go,” she said. Then he slept.", []),
    ],
)
def test_runs_of_one_opener(text: str, types: list[str]) -> None:
    found = rhythm.opener_runs(narration_of(document(text)), LIMITS)
    assert [each.type for each in found] == types


def test_a_run_of_questions_is_a_figure_of_speech() -> None:
    text = "Why should she turn so pale? Why would he wait? Why did nobody come?"
    (found,) = rhythm.opener_runs(narration_of(document(text)), LIMITS)
    assert found.severity is Severity.INFO


@pytest.mark.req("CR-70", "CR-71")
def test_slow_and_fast_parts_against_the_mean() -> None:
    slow = " ".join([sentence_of(30)] * 4)
    even = " ".join([sentence_of(12)] * 32)
    fast = " ".join(["He ran on."] * 4)
    text = document(f"{slow} {even} {fast}")
    segments = rhythm.segments_of(text.sentences, 10)
    lengths = rhythm.lengths_of(text.sentences)
    assert len(segments) == 10
    assert sum(len(segment.sentences) for segment in segments) == 40
    found = list(rhythm.pace(text, segments, lengths, LIMITS))
    assert [each.type for each in found] == ["slow_passage", "fast_passage"]
    assert found[0].message.startswith("Part 1 of 10")
    assert found[1].message.startswith("Part 10 of 10")


@pytest.mark.req("CR-71")
def test_a_long_winded_speech_is_not_slow() -> None:
    speech = f"“{' '.join([sentence_of(30)] * 4)}”"
    text = document(f"{speech}\n\n{' '.join([sentence_of(12)] * 36)}")
    segments = rhythm.segments_of(text.sentences, 10)
    lengths = rhythm.lengths_of(text.sentences)
    assert segments[0].dialogue_share > 0.9
    assert not list(rhythm.pace(text, segments, lengths, LIMITS))
