"""The score of a scene, the curve through the story, and the threads of themes."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.library.story.model import Quote, Severity
from callboard.library.story.text.document import Document
from callboard.library.story.thresholds import bundled_thresholds
from callboard.library.story.tools.stakes.curve import Stop, curve_findings, levels_of, raw_of
from callboard.library.story.tools.stakes.hits import Hits, scene_hits
from callboard.library.story.tools.stakes.threads import Theme, ThemePassage, status_of, thread_of

LIMITS = bundled_thresholds().stakes


def hits(text: str) -> Hits:
    return scene_hits(Document("scene.md", text)).total


def stops(*raws: float) -> list[Stop]:
    return [
        Stop(f"Scene {number}", level, 1000, (), Quote("scene.md", number, number, "Text."))
        for number, level in enumerate(levels_of(raws, LIMITS), start=1)
    ]


def told(*raws: float) -> list[tuple[str, Severity]]:
    return [(each.type, each.severity) for each in curve_findings(stops(*raws), LIMITS)]


@pytest.mark.req("CR-73")
def test_raw_is_the_weighted_hits_in_a_thousand_words() -> None:
    assert raw_of(Hits(external=3, internal=2, pressure=1), 500, LIMITS) == pytest.approx(
        (2 * 3 + 1.5 * 2 + 3 * 1) * 1000 / 500
    )
    assert raw_of(Hits(), 0, LIMITS) == 0.0


@pytest.mark.req("CR-73")
def test_scores_are_scaled_by_the_largest_or_by_ten() -> None:
    assert [level.score for level in levels_of([5, 20, 10], LIMITS)] == [25, 100, 50]
    assert [level.score for level in levels_of([1, 2, 5], LIMITS)] == [10, 20, 50]
    assert levels_of([], LIMITS) == ()


@pytest.mark.req("CR-73")
@given(st.lists(st.floats(0, 1000), max_size=30))
def test_scores_stay_between_0_and_100_and_keep_the_order(raws: list[float]) -> None:
    levels = levels_of(raws, LIMITS)
    assert all(0 <= level.score <= 100.0001 for level in levels)
    for one, other in pairwise(levels):
        assert (one.raw <= other.raw) == (one.score <= other.score) or one.score == other.score


@pytest.mark.req("CR-73")
@pytest.mark.parametrize(
    ("raw", "escalation"),
    [(11.5, "Same"), (11.6, "Higher"), (8.5, "Same"), (8.4, "Lower"), (10, "Same")],
)
def test_escalation_against_the_scene_before(raw: float, escalation: str) -> None:
    first, second = levels_of([10, raw], LIMITS)
    assert (first.escalation, second.escalation) == (None, escalation)


@pytest.mark.req("CR-74")
@pytest.mark.parametrize(
    ("raws", "types"),
    [
        ([20, 21, 20, 40], ["plateau"]),
        ([20, 21, 40, 41], []),
        # A slow climb is none.
        ([20, 22.5, 25, 28, 31], []),
        ([20, 40, 20, 60, 30, 70, 90, 40, 95], ["late_drop"]),
        ([30, 40, 50, 60, 70, 80, 90, 30], ["late_drop"]),
        ([40, 30, 50, 70], []),
        ([50, 1, 50, 90], ["low_stakes"]),
    ],
)
def test_what_the_curve_tells(raws: list[float], types: list[str]) -> None:
    assert [kind for kind, _ in told(*raws)] == types


@pytest.mark.req("CR-74")
def test_the_last_scene_may_rest() -> None:
    assert told(30, 40, 50, 60, 70, 80, 90, 30) == [("late_drop", Severity.INFO)]
    assert told(30, 40, 50, 60, 70, 90, 60, 30) == [("late_drop", Severity.MINOR)]


def test_a_quiet_book_is_told_once() -> None:
    assert told(0, 0, 0, 0, 0) == [("low_stakes", Severity.INFO)]


@pytest.mark.req("CR-72")
@pytest.mark.parametrize(
    ("text", "pressure"),
    [
        ("If the wall falls, we will starve.", 1),
        ("Unless the wall comes down first.", 1),
        ("Pay, or else.", 1),
        ("We must be there before dawn.", 1),
        ("They have three hours left and must hold.", 1),
        ("It was too late.", 1),
        ("He would never return; there was no way back.", 2),
        # Courtesy and plain time are no pressure.
        ("If you will come this way, I will take your coat.", 0),
        ("He slept until morning.", 0),
        ("Unless I am much mistaken, that is the road.", 0),
        ("Either he sleeps or else he reads.", 0),
        ("Will you tell me if he comes?", 0),
    ],
)
def test_pressure(text: str, pressure: int) -> None:
    assert hits(text).pressure == pressure


@pytest.mark.req("CR-72")
@pytest.mark.parametrize(
    ("text", "external", "internal"),
    [
        ("The enemies were killed and the murderer escaped.", 4, 0),
        ("She was ashamed of her promise and afraid of love.", 0, 4),
        ("There was no danger and no disease.", 0, 0),
        ("I hope so, and I am afraid not; there is no doubt.", 0, 0),
        ("A lovely morning with a hearty breakfast.", 0, 0),
    ],
)
def test_hits_in_any_inflection(text: str, external: int, internal: int) -> None:
    found = hits(text)
    assert (found.external, found.internal) == (external, internal)


@pytest.mark.req("CR-74")
@pytest.mark.parametrize(
    ("scenes", "status"),
    [
        ([], "absent"),
        ([0, 9], "planted_and_paid"),
        ([0, 6], "planted_and_paid"),
        ([0, 5], "planted_unpaid"),
        ([0], "planted_unpaid"),
        ([8], "paid_unplanted"),
        ([7], "planted_and_paid"),
    ],
)
def test_the_status_of_a_thread_in_ten_scenes(scenes: list[int], status: str) -> None:
    assert status_of(scenes, 10, LIMITS) == status


@pytest.mark.req("CR-74")
def test_a_theme_is_heard_by_stem_and_by_its_synonyms() -> None:
    texts = ["He made promises. A promise.", "Nothing here.", "He gave his word.", "The end."]
    passages = [ThemePassage(Document(f"{number}.md", text)) for number, text in enumerate(texts)]
    thread = thread_of(Theme(name="promise", synonyms=("gave his word",)), passages, LIMITS)
    assert [(mention.scene, mention.times) for mention in thread.mentions] == [(0, 2), (2, 1)]
    assert thread.mentions[0].quote.text == "He made promises."
    assert thread.status == "planted_and_paid"
    assert thread_of("dragon", passages, LIMITS).status == "absent"
