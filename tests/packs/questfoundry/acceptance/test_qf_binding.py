"""Scenario 10: binding from Cold, twice the same bytes, and nothing of Hot."""

from pathlib import Path

import pytest
from questkit import Company, House, Ran, open_house

from callboard.core.vocabulary import RunState
from callboard.packs.questfoundry.book.playing import begin, is_end, offers, take

pytestmark = pytest.mark.anyio


async def bound(house: House) -> Ran:
    """Take the story from a spark to its files."""
    await house.success("story_spark")
    await house.success("gatecheck")
    return await house.success("binding_run")


@pytest.mark.req("QF-121", "QF-122")
async def test_binding_twice_gives_the_same_bytes_and_a_book_that_plays(tmp_path: Path) -> None:
    async with open_house(tmp_path / "book") as house:
        first = await bound(house)
        again = await house.success("binding_run")
        files = house.content(first, "export_bundle")["files"]
        assert files == house.content(again, "export_bundle")["files"]
        assert {row["format"] for row in files} == {"html", "markdown"}
        page = (house.studio.project.root / files[0]["path"]).read_text("utf-8")
        assert "In the dark your fingers find no bolt." in page
        assert first.result.next_loop == "narration_dry_run"
        log = house.content(first, "view_log")
        assert log["snapshot"] == house.foundry.cold.tip().id  # type: ignore[union-attr]
        book = house.foundry.cold_book(house.foundry.snapshot_named(None))
        here = take(book, begin(book), "pier.up")
        assert [each.refusal for each in offers(book, here) if not each.is_open] == [
            "In the dark your fingers find no bolt."
        ]
        for choice in ("room.box", "box.back", "room.store", "store.light"):
            here = take(book, here, choice)
        assert is_end(book.by_id[here.section])


@pytest.mark.req("QF-121")
async def test_a_draft_is_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    async with open_house(tmp_path / "book") as house:
        spark = await house.success("story_spark")
        house.company.calls.clear()
        ref = str(spark.unit.made["scene_drafts"]["ref"])
        ran = await house.run("binding_run", inputs={"cold_snapshot": ref})
        assert ran.run.state is RunState.FAILED
        assert "draft" in str(ran.run.error) and house.company.calls == []


@pytest.mark.req("QF-123")
async def test_a_key_in_the_built_files_blocks(tmp_path: Path) -> None:
    company = Company()
    company.usual["binding_request"] = {"snapshot": "x", "title": "The has_lamp"}
    async with open_house(tmp_path / "book", company) as house:
        await house.success("story_spark")
        await house.success("gatecheck")
        ran = await house.run("binding_run")
        assert ran.result.status == "stalled"
        (report, *_) = house.foundry.shelf.all("gatecheck_report", ran.unit.id)
        body = house.foundry.shelf.body(report.sha256)
        assert body["decision"] == "block" and body["mode"] == "spot_check"
        (bar,) = [row for row in body["bars"] if row["bar"] == "presentation"]
        assert bar["status"] == "red" and bar["source"] == "code"
