"""Scenario 10: binding from Cold, twice the same bytes, and nothing of Hot."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from questkit import Company, House, Ran, changed, open_house

from callboard.packs.questfoundry.book.playing import begin, is_end, offers, take
from callboard.packs.questfoundry.cold.folding import ColdPart
from callboard.packs.questfoundry.shelf.entry import HotLeak
from page_browser import open_browser
from quest_page_player import PagePlayer

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


@pytest.mark.req("QF-122")
async def test_the_page_is_played_from_its_start_to_an_end(tmp_path: Path) -> None:
    async with open_house(tmp_path / "book") as house:
        ran = await bound(house)
        rows = house.content(ran, "export_bundle")["files"]
        (html,) = [row["path"] for row in rows if row["format"] == "html"]
        data = (house.studio.project.root / html).read_bytes()
    seen = await asyncio.to_thread(_played, data, tmp_path)
    assert seen["refused"] == "In the dark your fingers find no bolt."
    assert seen["end"] == ["The end: The light burns"] and "You light the wick." in seen["text"]
    assert not seen["trouble"]
    # Nothing of the state is shown, and what is refused stays where it was.
    assert "has_lamp" not in seen["all"] and seen["still"] == "The lamp room"


def _played(html: bytes, folder: Path) -> dict[str, Any]:
    with open_browser() as browser:
        page = browser.new_page()
        player = PagePlayer(page, html, folder)
        shown = [page.inner_text("body")]

        def press(label: str) -> None:
            page.get_by_role("button", name=label).click()
            shown.append(page.inner_text("body"))

        press("Climb the stairs of the tower")
        press("Try the door to the oil")
        refused = page.get_by_role("status").text_content()
        still = page.locator("h2").first.text_content()
        for label in (
            "Open the wooden box",
            "Carry the lantern back",
            "Try the door to the oil",
            "Fill the great lamp",
        ):
            press(label)
        return {
            "refused": refused,
            "still": still,
            "end": page.locator(".end").all_text_contents(),
            "text": shown[-1],
            "all": "\n".join(shown),
            "trouble": player.trouble,
        }


@pytest.mark.req("QF-123")
async def test_a_key_in_the_prose_of_a_snapshot_blocks_the_view(tmp_path: Path) -> None:
    company = Company()
    async with open_house(tmp_path / "book", company) as house:
        await house.success("story_spark")
        await house.success("gatecheck")
        tip = house.foundry.cold.tip()
        assert tip is not None
        # Somebody's hand gets a codeword past the gatecheck, into a snapshot of its own.
        held = house.foundry.cold.contents(tip)
        prose = changed(
            held["scene_drafts"], "sections", 0, "text_md", value="You stand here. Set has_lamp."
        )
        parts = [ColdPart(kind, body) for kind, body in {**held, "scene_drafts": prose}.items()]

        def plant(connection: Any) -> str:
            made = house.foundry.cold._keep(
                connection, "cold-planted", tip.id, {p.kind: p.body for p in parts}, ()
            )
            house.foundry.shelve_snapshot(connection, made)
            return made.id

        await house.studio.database.write(plant)
        ran = await house.run("binding_run")
        assert ran.result.status == "stalled"
        (report, *_) = house.foundry.shelf.all("gatecheck_report", ran.unit.id)
        body = house.foundry.shelf.body(report.sha256)
        assert body["decision"] == "block" and body["mode"] == "spot_check"
        leaks = [row for row in body["findings"] if row["bar"] == "presentation"]
        assert any("has_lamp" in row["evidence"] for row in leaks)


@pytest.mark.req("QF-121")
async def test_a_draft_is_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    async with open_house(tmp_path / "book") as house:
        spark = await house.success("story_spark")
        house.company.calls.clear()
        ref = str(spark.unit.made["scene_drafts"]["ref"])
        with pytest.raises(HotLeak, match="is a draft"):
            await house.run("binding_run", inputs={"cold_snapshot": ref})
        assert house.company.calls == []
        assert [each.loop for each in house.foundry.units.all()] == ["story_spark"]


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
