"""Scores by code and a judge's word: within bounds, proven, the same every time."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from voice_stage import BRIEF, passage, verdict

from callboard.packs.writers_factory.prose import base_sheet, read_sheet, scan, write_table
from callboard.packs.writers_factory.voice import (
    DIMENSIONS,
    Pick,
    Tournament,
    Variant,
    VariantState,
)
from callboard.packs.writers_factory.voice.bundle.content import noted_traits, rejected_traits
from callboard.packs.writers_factory.voice.bundle.evolution import (
    ACTS,
    Arc,
    Phase,
    read_guide,
    write_guide,
)
from callboard.packs.writers_factory.voice.tournament.judging import PASSAGE, believed
from callboard.packs.writers_factory.voice.tournament.scoring import Scored, reduced
from callboard.packs.writers_factory.voice.tournament.writing import cleaned
from callboard.replies.evidence import holds_quote

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
ENTRY = st.fixed_dictionaries(
    {
        "score": st.integers() | st.floats(allow_nan=False),
        "quote": st.sampled_from(["Rain fell on the hall.", "nowhere at all", ""]),
        "reason": st.text(max_size=12),
    }
)
SIX = st.fixed_dictionaries(dict.fromkeys(DIMENSIONS, ENTRY))


def scored(text: str) -> Scored:
    return Scored(text, BRIEF, base_sheet())


@pytest.mark.req("WF-G64")
def test_the_six_dimensions_make_a_hundred() -> None:
    assert list(DIMENSIONS.values()) == [25, 20, 15, 15, 10, 15]
    assert sum(DIMENSIONS.values()) == 100


@pytest.mark.req("WF-G64")
@given(st.text(max_size=300))
def test_code_scores_any_text_within_bounds_and_twice_the_same(text: str) -> None:
    first, again = scored(text).scores(), scored(text).scores()
    assert first == again
    assert [each.dimension for each in first] == list(DIMENSIONS)
    for each in reduced(first, scan(text)):
        assert 0 <= each.score <= each.most


@pytest.mark.req("WF-G64")
@given(SIX | st.dictionaries(st.sampled_from(list(DIMENSIONS)), JSON | ENTRY))
def test_whatever_a_judge_says_six_proven_scores_come_out(said: dict[str, Any]) -> None:
    text = passage(60)
    found = believed(PASSAGE.read(said, {"passage": text}), scored(text).scores())
    assert [each.dimension for each in found] == list(DIMENSIONS)
    assert all(0 <= each.score <= each.most and holds_quote(text, each.quote) for each in found)


@pytest.mark.req("WF-G64")
def test_a_score_beyond_its_most_is_cut_to_it() -> None:
    text = passage(60)
    said = verdict()
    said["rhythm"]["score"] = 900
    found = {
        each.dimension: each
        for each in believed(PASSAGE.read(said, {"passage": text}), scored(text).scores())
    }
    assert (found["rhythm"].score, found["rhythm"].source) == (15, "judge")


def test_a_livelier_passage_scores_higher_by_code() -> None:
    flat = "It was a day. It was a road. It was a man. It was a house. It was a dog."
    flat_total = sum(each.score for each in scored(flat).scores())
    assert sum(each.score for each in scored(passage(200)).scores()) > flat_total + 10


@pytest.mark.req("WF-G67")
def test_traits_of_what_was_not_chosen_and_of_the_notes() -> None:
    winner = _variant("I ran. I fell. “No,” I said. Danny laughed at me.")
    slow = _variant(
        "Slowly and terribly quietly the long evening came down over the river and the old town, "
        "like a curtain that somebody had finally and wearily let go with surgical precision.",
        2,
    )
    traits = rejected_traits(winner, [slow])
    assert traits[0].name == "longer sentences than the chosen voice"
    assert any(each.expression == "with surgical precision" for each in traits)
    noted = noted_traits("I love the rain. Never say “fate (again)”. Avoid long thoughts.")
    assert [(each.name, each.severity.value) for each in noted] == [
        ("“fate (again)”", "zero_tolerance"),
        ("writer's note 2", "deduction"),
    ]
    sheet = base_sheet().extended(noted)
    assert [hit.quote for hit in scan("It was fate (again).", patterns=sheet)] == ["fate (again)"]


@pytest.mark.req("WF-G67")
@pytest.mark.parametrize(
    ("phrase", "found"),
    [
        ("the `dark` sea", "the `dark` sea"),
        ("black`board", "blackboard"),
        ("the end`", "the end"),
        ("now|never", "now|never"),
        ("yes (no) maybe?", "yes (no) maybe?"),
    ],
)
def test_a_noted_phrase_is_found_whatever_marks_it_holds(phrase: str, found: str) -> None:
    noted = noted_traits(f"Never say “{phrase}” again.")
    read = read_sheet(write_table(noted))
    assert (read.patterns, read.problems) == (noted, ())
    assert [hit.quote for hit in scan(f"He said {found} and left.", patterns=read)] == [found]


@pytest.mark.req("WF-G67")
@given(
    st.dictionaries(
        st.sampled_from(ACTS),
        st.builds(
            Phase,
            voice_state=st.sampled_from(["tense", "tense_determined", ""]),
            sentence_rhythm=st.from_regex(r"[a-z]{0,9}", fullmatch=True),
            metaphor_domains=st.sampled_from([(), ("salt",), ("salt", "rope")]),
            can_admit=st.from_regex(r"[a-z]{0,9}", fullmatch=True),
        ),
    )
)
def test_a_guide_survives_being_written_and_read(evolution: dict[str, Phase]) -> None:
    read = read_guide(write_guide(evolution, Arc("a", "b", "c")))
    assert {act: read[act] for act in evolution} == evolution


@pytest.mark.parametrize(
    "said",
    [
        "Here is the passage:\n\nRain fell.",
        "```markdown\nRain fell.\n```",
        "# The Conferences\n\nRain fell.",
        "<passage>Rain fell.</passage>",
        "**The Conferences**\n\nRain fell.",
    ],
)
def test_only_the_passage_is_kept(said: str) -> None:
    assert cleaned(said, shown="", is_small=False) == "Rain fell."


@given(st.text(max_size=120))
def test_cleaning_keeps_words_if_there_are_any(said: str) -> None:
    for is_small in (True, False):
        told = cleaned(said, shown="x", is_small=is_small)
        assert not told or any(char.isalnum() for char in told)


def test_many_variants_have_letters_of_their_own() -> None:
    variants = tuple(_variant("Rain fell on it.", n) for n in range(1, 60))
    held = Tournament("tour_1", "run_1", BRIEF, agents=("script",), variants=variants)
    assert len(held.labels) == 59
    assert held.find(Pick(label="AB")) == held.labels["AB"]
    assert Tournament.from_json(held.to_json()) == held


def _variant(text: str, index: int = 1) -> Variant:
    passage = scored(text)
    hits = tuple(
        {"pattern": hit.pattern, "quote": hit.quote, "instead": hit.instead} for hit in passage.hits
    )
    return Variant(
        "script",
        "BALANCED",
        index,
        VariantState.USABLE,
        text,
        metrics=passage.metrics,
        hits=hits,
        scores=passage.scores(),
    )
