"""The checks that need no model."""

from typing import Any

import pytest
from bible_samples import BEATS, PROTAGONIST, beat_sheet
from hypothesis import given
from hypothesis import strategies as st

from callboard.packs.writers_factory.bible import Bible, NotebookLabel
from callboard.packs.writers_factory.bible.checks import check_fields
from callboard.packs.writers_factory.bible.decisions import take_decision, target_of, weakness_of
from callboard.packs.writers_factory.bible.orders import find_gaps
from callboard.packs.writers_factory.model import TemplateName
from callboard.packs.writers_factory.workspace import Workspace

pytestmark = pytest.mark.anyio


def passes(template: TemplateName, check: str, /, **fields: Any) -> bool:
    results = [each for each in check_fields(template, fields) if each.check == check]
    assert results
    return all(each.passed for each in results)


@pytest.mark.req("WF-G14", "WF-32")
@pytest.mark.parametrize(
    ("flaw", "is_inner"),
    [
        ("He is poor", False),
        ("orphaned young", False),
        ("Unemployed", False),
        ("She is ill", False),
        ("hunted by the crown", False),
        ("cursed at birth", False),
        ("lives in a small town", False),
        ("lost his job", False),
        ("Poor, and too proud to take help", True),
        ("An orphan who pushes everyone away", True),
        ("He wants to be admired by everyone", True),
        ("Pride", True),
        ("She trusts nobody with the smallest thing", True),
        ("TBD", False),
    ],
)
async def test_a_flaw_comes_from_inside(flaw: str, is_inner: bool) -> None:
    assert passes(TemplateName.PROTAGONIST, "flaw", fatal_flaw=flaw) is is_inner


@pytest.mark.req("WF-G14")
@pytest.mark.parametrize(
    ("lie", "is_belief"),
    [
        ("Love", False),
        ("the old lighthouse", False),
        ("She is worthless", True),
        ("If I ask, they will leave", True),
        ("Nobody comes back", True),
    ],
)
async def test_a_lie_is_a_belief(lie: str, is_belief: bool) -> None:
    assert passes(TemplateName.PROTAGONIST, "lie", the_lie=lie) is is_belief


@pytest.mark.req("WF-G14")
async def test_a_lie_does_not_repeat_the_flaw() -> None:
    flaw = "She cannot ask for help"
    assert not passes(TemplateName.PROTAGONIST, "lie", the_lie=flaw, fatal_flaw=flaw)


@pytest.mark.req("WF-G14")
async def test_an_arc_moves_and_settles_the_flaw() -> None:
    arc = TemplateName.PROTAGONIST
    assert passes(arc, "arc", **PROTAGONIST)
    same = {**PROTAGONIST, "arc_midpoint": PROTAGONIST["arc_start"] + "."}
    assert not passes(arc, "arc", **same)
    off = {**PROTAGONIST, "arc_resolution": "The lamp goes dark and the year turns"}
    assert not passes(arc, "arc", **off)
    only_named = {**PROTAGONIST, "arc_resolution": "Maren stands on the quay in the rain"}
    assert not passes(arc, "arc", **only_named)


@pytest.mark.req("WF-G14", "WF-28")
@pytest.mark.parametrize(
    "text", ["TBD", "TODO: the storm", "tba", "N/A", "The storm ???", "placeholder for the storm",
             "She goes home again"]
)  # fmt: skip
async def test_a_beat_tells_what_happens(text: str) -> None:
    assert not passes(TemplateName.BEAT_SHEET, "beat", beat_2=text)


@pytest.mark.req("WF-G14")
async def test_beats_differ_and_the_midpoint_has_a_type() -> None:
    sheet: dict[str, Any] = beat_sheet()
    assert passes(TemplateName.BEAT_SHEET, "beat", **sheet)
    assert passes(TemplateName.BEAT_SHEET, "midpoint", **sheet)
    twice = {**sheet, "beat_4": BEATS[2].upper()}
    assert not passes(TemplateName.BEAT_SHEET, "beat", **twice)
    del sheet["midpoint_type"]
    assert not passes(TemplateName.BEAT_SHEET, "midpoint", **sheet)


@pytest.mark.req("WF-G14", "WF-28")
@pytest.mark.parametrize(
    ("statement", "claims"),
    [
        ("It's about grief", False),
        ("This story is about the way we grieve together", False),
        ("Love and loss", False),
        ("The importance of family in a changing world", False),
        ("Love conquers", False),
        ("Love without trust corrodes everything it touches", True),
        ("Grief only loosens its grip when it is shared", True),
        ("TBD but it must be about how love wins", False),
    ],
)
async def test_a_theme_claims_something(statement: str, claims: bool) -> None:
    found = passes(TemplateName.THEME, "theme_statement", theme_statement=statement)
    assert found is claims


@pytest.mark.req("WF-G14")
@pytest.mark.parametrize(
    ("rule", "binds"),
    [
        ("The light must burn every night", True),
        ("Ghosts cannot cross salt water", True),
        ("Only the keeper touches the lamp", True),
        ("A wish costs a memory", True),
        ("The island has a church", False),
        ("Magic is blue", False),
        ("TBD", False),
    ],
)
async def test_a_rule_binds_somebody(rule: str, binds: bool) -> None:
    assert passes(TemplateName.WORLD_RULES, "rule", fundamental_rules=[rule]) is binds


async def test_other_languages_are_left_to_the_judge() -> None:
    french = "Le deuil ne relâche sa prise que lorsqu'il est partagé"
    assert passes(TemplateName.THEME, "theme_statement", theme_statement=french)
    assert passes(TemplateName.WORLD_RULES, "rule", fundamental_rules=[french])
    assert passes(TemplateName.BEAT_SHEET, "beat", beat_1="灯台守の娘が嵐の夜に火を灯す")


@pytest.mark.req("WF-31")
async def test_gaps_are_exact_and_offer_more_than_one_way(open_studio: Any) -> None:
    notebooks = {
        "lights": NotebookLabel("world_building", "How the light works"),
        "odd": NotebookLabel("recipes", "Soup"),
    }
    async with open_studio() as studio:
        bible = Bible(Workspace(studio), lambda: notebooks)
        await bible.write("world_rules", {"rules": ["A", "B"]}, source="writer_stated")
        order = bible.work_order()
    gaps = find_gaps(order)
    rules = [gap for gap in gaps if gap.template is TemplateName.WORLD_RULES]
    assert rules[0].text.startswith("GAP DETECTED: world_rules: 1 more. Ways on: ")
    assert all(len(gap.paths) >= 2 for gap in gaps)
    assert {gap.template for gap in gaps} == set(TemplateName)
    # A notebook is offered where it can help, and nowhere else.
    asked = "ask the notebook lights (How the light works)"
    assert rules[0].paths == (
        asked,
        "brainstorm it now",
        "write down what you know and register it as a world building notebook",
    )
    offered = {gap.template for gap in gaps if asked in gap.paths}
    assert offered == {TemplateName.WORLD_RULES, TemplateName.BEAT_SHEET}
    assert not any("odd" in path for gap in gaps for path in gap.paths)


@pytest.mark.req("WF-35")
async def test_a_saved_decision_fills_the_field_it_belongs_to(open_bible: Any) -> None:
    async with open_bible() as bible:
        await bible.describe(protagonist_name="Mickey Lane")
        value = "He keeps everyone in his debt because he fears being left"
        done = await take_decision(
            bible, "character", "mickey_fatal_flaw", value, source="notebook:craft"
        )
        assert done is not None
        assert done.template.sources["fatal_flaw"] == "notebook:craft"
        assert bible.protagonist["fatal_flaw"] == value
        for rule in ("Debts must be paid in person", "Nobody leaves the island by night"):
            await take_decision(bible, "world", "world_rule_1", rule, source="writer_stated")
        assert len(bible.rules) == 2
        other = await take_decision(
            bible, "character", "danny_fatal_flaw", "Envy", source="brainstorm"
        )
        assert other is None
        assert weakness_of(bible, "character", "mickey_fatal_flaw", "he is poor") is not None
        assert weakness_of(bible, "character", "mickey_fatal_flaw", "Envy") is None
        assert weakness_of(bible, "preference", "spelling", "British") is None
    assert target_of("structure", "midpoint") is not None
    assert target_of("structure", "chapter_count") is None


@given(st.text(max_size=200))
def test_checks_never_break_and_never_change_their_mind(text: str) -> None:
    fields: dict[str, Any] = {"fundamental_rules": [text]}
    for name in TemplateName:
        for key in ("fatal_flaw", "the_lie", "arc_start", "arc_midpoint", "arc_resolution",
                    "beat_1", "beat_9", "central_theme", "theme_statement"):  # fmt: skip
            fields[key] = text
        assert check_fields(name, fields) == check_fields(name, fields)
