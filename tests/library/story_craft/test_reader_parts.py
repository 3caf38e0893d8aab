"""What a reader stumbles over, and what not."""

import pytest

from callboard.library.story.model import Quote, Severity, StoryFinding
from callboard.library.story.text.document import Document
from callboard.library.story.thresholds import bundled_thresholds
from callboard.library.story.tools.reader.mood import Mood, assess, flat_stretches, sentiment_of
from callboard.library.story.tools.reader.setups import (
    askings_in,
    namings_in,
    planted_things,
    questions_in,
)

LIMITS = bundled_thresholds().reader
QUOTE = Quote("scene.md", 1, 1, "Text.")


def document(text: str) -> Document:
    return Document("scene.md", text)


def planted(text: str) -> list[str]:
    return [each.label for each in planted_things(namings_in(document(text)), LIMITS)]


@pytest.mark.req("CR-76")
@pytest.mark.parametrize(
    ("text", "labels"),
    [
        (
            "He had a brass key. The brass key was cold. He hid the brass key. His key!",
            ["brass key"],
        ),
        ("He took the letter. She read his letter. Mira's letter burned.", ["letter"]),
        # Indefinite, or too few.
        ("A key. Some keys. Any key. One key.", []),
        ("The key lay there. The key was cold.", []),
        # Rooms, doors and people are no plants; a prop needs more.
        ("The door opened. The door shut. The door fell. The room. The room. The room.", []),
        ("The man came. The man sat. The man left. The stranger, the stranger, the stranger.", []),
        ("The lamp burned. The lamp smoked. The lamp went out.", []),
        # A verb, or the first half of another thing.
        ("They locked it. He ringed the town. The keyhole. The key hole. The key hole.", []),
    ],
)
def test_only_things_can_be_planted(text: str, labels: list[str]) -> None:
    assert planted(text) == labels


@pytest.mark.req("CR-76")
@pytest.mark.parametrize(
    ("text", "is_kept"),
    [
        ("Who had opened the granary in the winter?", True),
        ("Why had the captain burned the bridge?", True),
        # Answered at once.
        ("“Who opened the granary in the winter?”\n\n“I did,” said Mira.", False),
        # Small talk and flourish.
        ("“How do you do, captain of the bridge?” he asked.", False),
        ("Who knows what the winter brings to bridges?", False),
        ("Was the granary open in the winter?", False),
        ("What was it?", False),
    ],
)
def test_questions_a_reader_keeps(text: str, is_kept: bool) -> None:
    asked = questions_in(0, askings_in(document(text)), frozenset(), LIMITS)
    assert bool(asked) is is_kept


@pytest.mark.req("CR-75")
def test_sentiment_has_a_sign_and_knows_negation() -> None:
    bright = sentiment_of(document("A lovely, happy morning full of joy and laughter and love."))
    dark = sentiment_of(document("Murder, grief and terror; a cruel and hopeless death."))
    assert -1 <= dark < -0.3 < 0 < 0.3 < bright <= 1
    assert sentiment_of(document("He was not happy.")) < sentiment_of(document("He was happy."))
    assert sentiment_of(document("The table stood there.")) == 0.0


def moods(*pairs: tuple[float, float]) -> list[Mood]:
    return [Mood(f"Scene {at}", mood, tension, QUOTE) for at, (mood, tension) in enumerate(pairs)]


@pytest.mark.req("CR-76")
@pytest.mark.parametrize(
    ("pairs", "count"),
    [
        ([(0.1, 10), (0.15, 20), (0.1, 24)], 1),
        ([(0.1, 10), (0.15, 20), (0.1, 25)], 0),
        ([(0.1, 10), (0.25, 20), (0.1, 24)], 0),
        ([(0.1, 10), (0.1, 10)], 0),
        ([(0.1, 10)] * 3 + [(0.1, 90)] + [(0.1, 10)] * 3, 2),
    ],
)
def test_flat_stretches(pairs: list[tuple[float, float]], count: int) -> None:
    assert len(list(flat_stretches(moods(*pairs), LIMITS))) == count


@pytest.mark.req("CR-77")
@pytest.mark.parametrize(
    ("major", "minor", "flow"),
    [
        (0, 0, "Smooth"),
        (0, 2, "Smooth"),
        (0, 3, "Some friction"),
        (1, 6, "Some friction"),
        (1, 0, "Some friction"),
        (0, 7, "Major issues"),
        (2, 0, "Major issues"),
    ],
)
def test_the_flow_is_assessed_by_weight(major: int, minor: int, flow: str) -> None:
    severities = [Severity.MAJOR] * major + [Severity.MINOR] * minor + [Severity.INFO] * 9
    findings = [
        StoryFinding(f"f{at}", "kind", severity, "Message.", (QUOTE,))
        for at, severity in enumerate(severities)
    ]
    assert assess(findings, LIMITS, scenes=3) == flow
