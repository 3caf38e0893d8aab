"""The work order: what is there, what is missing, computed from the files."""

from pathlib import Path
from typing import Any

import pytest
from bible_samples import BEATS, PROTAGONIST, RULES, THEME, beat_sheet
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.errors import InvalidInput
from callboard.packs.writers_factory.bible import (
    TemplateRefused,
    UnknownTemplate,
    act_at,
    beat_number,
    beat_points,
    claim_status,
    template_name,
    template_title,
)
from callboard.packs.writers_factory.bible.checks import check_fields
from callboard.packs.writers_factory.bible.orders import (
    Template,
    WorkOrder,
    split_fields,
    status_of,
)
from callboard.packs.writers_factory.bible.shapes import SHAPES, required_count
from callboard.packs.writers_factory.model import TemplateName, TemplateStatus

pytestmark = pytest.mark.anyio


async def fill(bible: Any) -> None:
    await bible.write("protagonist", PROTAGONIST, source="writer_stated")
    await bible.write("beat_sheet", beat_sheet(), source="brainstorm")
    await bible.write("theme", THEME, source="writer_stated")
    await bible.write("world_rules", {"fundamental_rules": RULES}, source="notebook:lights")


@pytest.mark.req("WF-26", "WF-27", "WF-G10", "WF-G13", "WF-G09")
async def test_completion_arithmetic_with_four_of_five_fields_and_the_theme(
    open_bible: Any,
) -> None:
    four = {name: text for name, text in PROTAGONIST.items() if name != "arc_resolution"}
    async with open_bible() as bible:
        await bible.write("protagonist", four, source="writer_stated")
        await bible.write("theme", THEME, source="writer_stated")
        report = await claim_status(bible, "Protagonist", "complete")
        order = bible.work_order()
    assert order.completion_percentage == 45.0
    statuses = {each.name.value: each.status.value for each in order.templates}
    assert statuses == {
        "protagonist": "in_progress",
        "beat_sheet": "not_started",
        "theme": "complete",
        "world_rules": "not_started",
    }
    assert order.template(TemplateName.PROTAGONIST).missing_fields == ("arc_resolution",)
    assert report.was_downgraded
    assert report.actual is TemplateStatus.IN_PROGRESS
    assert "missing arc_resolution" in report.note


@pytest.mark.req("WF-27", "WF-26", "WF-36")
async def test_a_filled_foundation_is_complete(open_bible: Any, root: Path) -> None:
    async with open_bible() as bible:
        await fill(bible)
        order = bible.work_order()
        beats = bible.beats()
    assert order.is_complete
    assert order.unmet == ()
    assert order.completion_percentage == 100.0
    assert order.protagonist_name == "Maren Holt"
    for template in order.templates:
        assert (root / template.file_path).is_file()
        assert template.completed_fields == SHAPES[template.name].required
        assert template.missing_fields == ()
    assert [beat.content for beat in beats] == BEATS
    assert beats[8].midpoint_type == "false_victory"
    assert order.to_json()["templates"][0]["status"] == "complete"


@pytest.mark.req("WF-G10", "WF-27")
async def test_world_rules_count_up_to_three(open_bible: Any) -> None:
    shares: list[float] = []
    async with open_bible() as bible:
        for number in range(1, 4):
            given_rules = {"fundamental_rules": RULES[:number]}
            await bible.write("world_rules", given_rules, source="writer_stated")
            shares.append(bible.work_order().completion_percentage)
            if number == 2:
                assert bible.template("world_rules").unmet == ("world_rules: 1 more",)
    assert shares == [pytest.approx(100 / 12), pytest.approx(200 / 12), 25.0]


@pytest.mark.req("WF-G13", "WF-28", "WF-G14")
async def test_a_full_template_with_an_open_check_is_draft_ready(open_bible: Any) -> None:
    async with open_bible() as bible:
        await bible.write("beat_sheet", {**beat_sheet(), "beat_7": "TBD"}, source="brainstorm")
        sheet = bible.template("beat_sheet")
        assert sheet.status is TemplateStatus.DRAFT_READY
        assert [(each.check, each.field) for each in sheet.failed_checks] == [("beat", "beat_7")]
        report = await claim_status(bible, "beat sheet", "complete")
        assert report.was_downgraded
        await bible.write("beat_sheet", {"beat_7": BEATS[6]}, source="brainstorm")
        assert bible.template("beat_sheet").status is TemplateStatus.COMPLETE


@pytest.mark.req("WF-G14", "WF-32")
async def test_a_circumstance_is_no_flaw(open_bible: Any) -> None:
    async with open_bible() as bible:
        outcome = await bible.write("protagonist", {"flaw": "He is poor"}, source="writer_stated")
        template = outcome.template
    (failed,) = outcome.failed_checks
    assert template.status is TemplateStatus.IN_PROGRESS
    assert failed.check == "flaw"
    assert failed.challenge.startswith("CHALLENGE: fatal_flaw: 'poor' is what happens")
    assert len(failed.alternatives) >= 2


@pytest.mark.req("WF-G90", "WF-35")
async def test_a_complete_template_can_be_opened_again_and_closed(open_bible: Any) -> None:
    async with open_bible() as bible:
        await fill(bible)
        kept = await claim_status(bible, "theme", "in_progress")
        assert (kept.actual, kept.reopened) == (TemplateStatus.COMPLETE, False)
        opened = await claim_status(bible, "theme", "in_progress", may_reopen=True)
        assert opened.reopened
        assert opened.actual is TemplateStatus.DRAFT_READY
        assert not bible.work_order().is_complete
        closed = await claim_status(bible, "theme", "complete", may_reopen=True)
        assert closed.actual is TemplateStatus.COMPLETE
        assert closed.work_order.is_complete
        with pytest.raises(InvalidInput, match="no status"):
            await claim_status(bible, "theme", "finished")


@pytest.mark.req("WF-G16")
@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Protagonist", "protagonist"),
        ("Beat Sheet", "beat_sheet"),
        ("beat-sheet", "beat_sheet"),
        (" WORLD RULES ", "world_rules"),
        ("Theme", "theme"),
    ],
)
async def test_template_names_are_read_however_they_are_written(said: str, meant: str) -> None:
    assert template_name(said).value == meant


@pytest.mark.req("WF-G16")
async def test_template_names_are_shown_with_titles() -> None:
    assert [template_title(name) for name in TemplateName] == [
        "Protagonist",
        "Beat Sheet",
        "Theme",
        "World Rules",
    ]
    with pytest.raises(UnknownTemplate, match="villain"):
        template_name("villain")


@pytest.mark.req("WF-G12")
async def test_the_fifteen_beats_have_places_and_acts() -> None:
    points = beat_points()
    assert [point.number for point in points] == list(range(1, 16))
    assert (points[8].name, points[8].place, points[8].act) == ("Midpoint", "50 %", "2a")
    assert (points[9].name, points[9].place, points[9].act) == (
        "Bad Guys Close In",
        "50-75 %",
        "2b",
    )
    assert [point.act for point in points] == ["1"] * 5 + ["2a"] * 4 + ["2b"] * 3 + ["3"] * 3
    assert [act_at(pct) for pct in (0, 19, 20, 49, 50, 79, 80, 100)] == [
        "1", "1", "2a", "2a", "2b", "2b", "3", "3",
    ]  # fmt: skip
    assert beat_number("Dark Night of the Soul") == 12
    assert beat_number("beat_16") is None


@pytest.mark.req("WF-G54")
async def test_the_project_keeps_its_id_when_it_is_renamed(open_bible: Any, root: Path) -> None:
    async with open_bible() as bible:
        assert bible.project().title == "skerry"
        first = await bible.describe(title="The Keeper's Daughter", genre="suspense")
        again = await bible.describe(title="Skerry Rock")
    async with open_bible() as bible:
        reopened = bible.project()
        with pytest.raises(InvalidInput, match="colour"):
            await bible.describe(colour="grey")
    assert first.id.startswith("proj_")
    assert first.id == again.id == reopened.id
    assert (reopened.title, reopened.genre) == ("Skerry Rock", "suspense")


async def test_what_does_not_fit_is_refused_whole(open_bible: Any, root: Path) -> None:
    async with open_bible() as bible:
        with pytest.raises(TemplateRefused) as refused:
            await bible.write(
                "beat_sheet",
                {"beat_1": BEATS[0], "beat_16": "One too many for the sheet", "beat_3": {"a": {}}},
                source="brainstorm",
            )
        with pytest.raises(TemplateRefused, match="without a source"):
            await bible.write("theme", THEME, source=" ")
        with pytest.raises(TemplateRefused, match="false_victory or false_defeat"):
            await bible.write("beat_sheet", {"midpoint_type": "draw"}, source="brainstorm")
    assert "beat_16 is no field" in refused.value.message
    assert "beat_3 is a mapping" in refused.value.message
    assert not (root / "content").exists()


async def test_beats_are_taken_in_every_shape_they_come_in(open_bible: Any) -> None:
    async with open_bible() as bible:
        await bible.write("beat_sheet", {"beats": BEATS[:3]}, source="brainstorm")
        await bible.write(
            "Beat Sheet",
            {"beats": [{"number": 9, "content": BEATS[8], "midpoint_type": "False Victory"}]},
            source="brainstorm",
        )
        await bible.write("beat_sheet", {"Catalyst": BEATS[3], "5": BEATS[4]}, source="brainstorm")
        sheet = bible.template("beat_sheet")
    assert sheet.completed_fields == ("beat_1", "beat_2", "beat_3", "beat_4", "beat_5", "beat_9")
    assert sheet.fields["midpoint_type"] == "false_victory"


texts = st.one_of(
    st.just(""),
    st.sampled_from(["TBD", "poor", "She must learn to trust the people who stayed", *RULES]),
    st.text(max_size=60),
)


def some_fields(name: TemplateName) -> st.SearchStrategy[dict[str, Any]]:
    if name is TemplateName.WORLD_RULES:
        return st.fixed_dictionaries(
            {}, optional={"fundamental_rules": st.lists(texts, max_size=6)}
        )
    extra = ("midpoint_type", "name")
    return st.dictionaries(st.sampled_from([*SHAPES[name].required, *extra]), texts)


@pytest.mark.req("WF-G10", "WF-G13")
@given(st.fixed_dictionaries({name: some_fields(name) for name in TemplateName}))
def test_completion_stays_in_bounds_and_no_status_exceeds_the_data(
    contents: dict[TemplateName, dict[str, Any]],
) -> None:
    templates: list[Template] = []
    for name, fields in contents.items():
        checks = check_fields(name, fields)
        done, missing = split_fields(name, fields)
        status = status_of(name, fields, checks)
        templates.append(Template(name, status, fields, done, missing, "x.md", checks=checks))
        assert 0 <= templates[-1].share <= 1
        if status is TemplateStatus.COMPLETE:
            assert not missing
            assert all(check.passed for check in checks)
        if status is TemplateStatus.DRAFT_READY:
            assert not missing
        if status is TemplateStatus.NOT_STARTED:
            assert not done
        assert (templates[-1].unmet == ()) == (status is TemplateStatus.COMPLETE)
        assert required_count(name) > 0
    order = WorkOrder("proj_1", "t", "", "", "", tuple(templates))
    assert 0 <= order.completion_percentage <= 100
    assert order.is_complete == (order.unmet == ())
