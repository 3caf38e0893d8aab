"""Which words prose_analyzer counts, and which it leaves alone."""

import pytest

from callboard.library.story.text.document import Document
from callboard.library.story.thresholds import bundled_thresholds
from callboard.library.story.tools.prose.diction import (
    adverbs,
    echoes,
    filter_words,
    passives,
    senses,
    tell_echoes,
)
from callboard.library.story.tools.prose.tool import readability, syllables
from callboard.library.story.tools.prose.voice import narration_of

LIMITS = bundled_thresholds().prose
NOBODY: frozenset[str] = frozenset()


def told(text: str):
    return narration_of(Document("scene.md", text))


@pytest.mark.req("CR-69")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("She closed the door quietly and ran swiftly home.", {"quietly", "swiftly"}),
        ("The family arrived early, only to reply in July.", set()),
        ("An ugly, lonely, friendly, elderly fly sat on the belly of the bully.", set()),
        ("“I truly, deeply mean it,” he said.", set()),
        ("He said coldly, “Surely not.”", {"coldly"}),
        ("Emily and Sally went to Italy.", set()),
        ("He hardly slept; it was nearly dawn.", set()),
    ],
)
def test_adverbs_are_words_of_manner_outside_speech(text: str, words: set[str]) -> None:
    assert set(adverbs(told(text), NOBODY).words) == words


@pytest.mark.req("CR-70")
@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("He saw the gate. She heard a bell. They felt the wind.", 3),
        ("I could see the river and suddenly realised the time.", 1),
        ("“I saw it. I heard it,” he said.", 0),
        ("The saw lay on the bench beside the felt hat.", 0),
        ("Kael noticed the smoke.", 1),
    ],
)
def test_filter_words_need_somebody_who_perceives(text: str, count: int) -> None:
    assert filter_words(told(text), frozenset({"kael"})).count == count


@pytest.mark.req("CR-70")
@pytest.mark.parametrize(
    ("text", "participles"),
    [
        ("The door was opened. The letter had been written by hand.", {"opened", "written"}),
        ("He was tired and she was interested, married and pleased.", set()),
        ("She was surprised by the answer.", {"surprised"}),
        ("He was supposed to come; he was gone; they were seated.", set()),
        ("It was not often told, and was at once quickly forgotten.", {"told", "forgotten"}),
        ("There were a hundred sacred places; the dog was naked.", set()),
        ("The ship was sunk.", {"sunk"}),
    ],
)
def test_passives_are_not_predicate_adjectives(text: str, participles: set[str]) -> None:
    assert set(passives(told(text)).words) == participles


@pytest.mark.req("CR-70")
def test_senses_are_counted_apart() -> None:
    counts = senses(
        told("A red light. A loud bell. The smell of smoke. A bitter taste, cold hands.")
    )
    assert counts == {"sight": 2, "hearing": 2, "smell": 1, "touch": 1, "taste": 2}


@pytest.mark.req("CR-71")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "The lantern swung. He lifted the lantern. Behind the lantern stood a boy.",
            ["lantern"],
        ),
        ("The lantern swung. Lanterns burned. He took one lantern's oil.", ["lantern"]),
        # Two are no echo, and neither are three far apart.
        ("The lantern swung. He lifted the lantern.", []),
        ("The lantern swung. " + "He ate some of it. " * 40 + "A lantern. Lantern oil.", []),
        # A figure of speech within one sentence.
        ("It came nearer and nearer, and nearer still. He waited.", []),
        # Speech, tags, names and words of grammar.
        ("“Lantern! Lantern! Lantern!” he cried.", []),
        ("“A.” He replied. “B.” She replied. “C.” They replied.", []),
        ("Miriam sat. Miriam's coat was wet. He saw Miriam.", []),
        ("There was nothing. There was nothing else. There is nothing.", []),
    ],
)
def test_repeated_words(text: str, words: list[str]) -> None:
    narration = told(text)
    found = echoes(narration, frozenset({"miriam"}), LIMITS)
    assert [echo.word for echo in found] == words
    findings = list(tell_echoes(narration, found, LIMITS))
    assert [finding.type for finding in findings] == ["repeated_word"] * len(words)


def test_a_word_the_scene_is_about_is_no_echo() -> None:
    text = "The lantern swung. He took the lantern. The lantern was hot. " + (
        "It was a long way to the barn. The lantern went before him. " * 8
    )
    narration = told(text)
    found = echoes(narration, NOBODY, LIMITS)
    assert found
    assert found[0].total > found[0].times + LIMITS.echo_subject_extra
    assert not list(tell_echoes(narration, found, LIMITS))


@pytest.mark.parametrize(
    ("word", "count"),
    [("key", 1), ("table", 2), ("made", 1), ("walked", 1), ("wanted", 2), ("beautiful", 3)],
)
def test_syllables(word: str, count: int) -> None:
    assert syllables(word) == count


@pytest.mark.req("CR-70")
def test_readability_falls_with_longer_words_and_sentences() -> None:
    easy = readability(["the", "cat", "sat"] * 4, 4)
    hard = readability(["incomprehensible", "institutional", "considerations"] * 4, 1)
    assert easy["flesch_reading_ease"] > 90 > 0 > hard["flesch_reading_ease"]
    assert easy["flesch_kincaid_grade"] < hard["flesch_kincaid_grade"]
    assert readability([], 0)["flesch_reading_ease"] == 0.0
