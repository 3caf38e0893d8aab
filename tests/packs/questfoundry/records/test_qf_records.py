"""Units, story hooks, the shelf and Cold, in an open project."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from callboard.core.errors import InvalidInput, NotFound
from callboard.packs.questfoundry.beginning import BookPlan
from callboard.packs.questfoundry.cold.folding import ColdPart, fold
from callboard.packs.questfoundry.cold.snapshots import BaseMoved, Merging
from callboard.packs.questfoundry.foundry import Foundry, foundry_of
from callboard.packs.questfoundry.shelf.entry import HotLeak
from callboard.packs.questfoundry.shelf.shelf import Shelving
from callboard.packs.questfoundry.story_hooks.ledger import repeats
from callboard.packs.questfoundry.story_hooks.story_hook import NotYours
from callboard.packs.questfoundry.units.ledger import UnitOpening
from callboard.packs.questfoundry.units.unit import InvalidTransition, UnitStatus, WorkUnit
from callboard.studio.project import Project
from callboard.studio.studio import Studio

pytestmark = pytest.mark.anyio

CARD: dict[str, Any] = {
    "title": "Who lit the lamp?",
    "kind": "narrative",
    "player_safe_summary": "A lamp burns where nobody lives.",
}


@pytest.fixture
async def foundry(tmp_path: Path) -> AsyncIterator[Foundry]:
    Project.init(tmp_path, pack="questfoundry")
    async with Studio.open(tmp_path) as studio:
        yield foundry_of(studio)


async def opened(foundry: Foundry, run: str = "run_1") -> WorkUnit:
    return await foundry.units.open(UnitOpening(run, "story_spark", "PW", "A spark"))


def drafts(text: str, section: str = "a") -> dict[str, Any]:
    return {"sections": [{"section_id": section, "text_md": text}]}


async def shelve(foundry: Foundry, unit: WorkUnit, kind: str, content: Any) -> str:
    def act(connection: Any) -> str:
        from dataclasses import replace

        made = Shelving(kind, content, unit.id, unit.loop, "step_3_prose_pass", "scene_smith")
        entry = foundry.shelf.put(connection, made)
        held = foundry.units.load(connection, unit.id)
        row = {"ref": entry.ref, "sha256": entry.sha256, "order": len(held.made) + 1}
        foundry.units.save(connection, replace(held, made={**held.made, kind: row}))
        return entry.ref

    return await foundry.studio.database.write(act)


@pytest.mark.req("QF-83")
async def test_a_unit_is_numbered_by_day_and_lead_and_opened_once_per_run(foundry: Foundry) -> None:
    first, again, second = [await opened(foundry, run) for run in ("run_1", "run_1", "run_2")]
    assert first.id == again.id != second.id
    assert first.id.startswith("TU-2") and first.id.endswith("-PW01")
    assert second.id.endswith("-PW02")
    assert foundry.units.of_run("run_2") == second.id


@pytest.mark.req("QF-84")
async def test_a_unit_goes_only_where_it_may(foundry: Foundry) -> None:
    unit = await opened(foundry)
    assert unit.status is UnitStatus.STABILIZING
    with pytest.raises(InvalidTransition, match=r"stabilizing.*cold_merged"):
        unit.moved(UnitStatus.COLD_MERGED)
    with pytest.raises(InvalidInput, match="reason"):
        unit.moved(UnitStatus.DEFERRED)
    with pytest.raises(InvalidInput, match="look at it again"):
        unit.moved(UnitStatus.DEFERRED, reason="no time")
    put_off = unit.moved(UnitStatus.DEFERRED, reason="no time", revisit="in spring")
    assert put_off.moved(UnitStatus.REJECTED, reason="never").is_over
    merged = unit.moved(UnitStatus.GATECHECK).moved(UnitStatus.COLD_MERGED)
    with pytest.raises(InvalidTransition, match=r"cannot become"):
        merged.moved(UnitStatus.STABILIZING)


@pytest.mark.req("QF-90")
async def test_a_story_hook_is_triaged_by_the_showrunner_and_canonized_by_a_merge(
    foundry: Foundry,
) -> None:
    def act(connection: Any) -> str:
        hook = foundry.hooks.file(connection, CARD, raised_by="plotwright", tu_id="TU-1")
        again = foundry.hooks.file(connection, CARD, raised_by="plotwright", tu_id="TU-1")
        assert hook.id == again.id and hook.id.startswith("HK-2")
        with pytest.raises(NotYours, match=r"Showrunner|plotwright"):
            foundry.hooks.move(connection, hook.id, "accepted", by="plotwright")
        foundry.hooks.move(connection, hook.id, "accepted", by="showrunner")
        with pytest.raises(InvalidTransition, match=r"accepted.*resolved"):
            foundry.hooks.move(connection, hook.id, "resolved", by="lore_weaver")
        foundry.hooks.move(connection, hook.id, "in_progress", by="lore_weaver")
        foundry.hooks.move(connection, hook.id, "resolved", by="lore_weaver")
        with pytest.raises(NotYours):
            foundry.hooks.move(connection, hook.id, "canonized", by="showrunner")
        return hook.id

    hook_id = await foundry.hooks.change(act)
    found = foundry.hooks.find(hook_id)
    assert [step["to"] for step in found.history] == ["accepted", "in_progress", "resolved"]
    assert [each.id for each in foundry.hooks.in_state("resolved")] == [hook_id]
    assert not foundry.hooks.in_state("proposed", "accepted", "in_progress")


@pytest.mark.req("QF-105")
async def test_hooks_with_nearly_one_title_repeat_the_first(foundry: Foundry) -> None:
    titles = ("Who lit the lamp?", "The cellar floods", "who lit  the lamp")

    def act(connection: Any) -> Any:
        return [
            foundry.hooks.file(connection, {**CARD, "title": t}, raised_by="x", tu_id="TU-1")
            for t in titles
        ]

    hooks = await foundry.hooks.change(act)
    assert repeats(hooks) == {hooks[2].id: hooks[0].id}


@pytest.mark.req("QF-76", "QF-78", "QF-86")
async def test_the_shelf_keeps_versions_with_their_reports(foundry: Foundry) -> None:
    unit = await opened(foundry)
    first = await shelve(foundry, unit, "scene_drafts", drafts("One."))
    second = await shelve(foundry, unit, "scene_drafts", drafts("Two."))
    assert (first.rsplit(".")[-1], second.rsplit(".")[-1]) == ("v1", "v2")
    entry = foundry.shelf.find(second)
    assert entry.validation["valid"] and entry.schema_sha256 and entry.sha256
    assert foundry.shelf.find(entry.artifact_id) == entry == foundry.shelf.newest("scene_drafts")
    assert foundry.shelf.read(first)["sections"][0]["text_md"] == "One."
    assert [each.ref for each in foundry.shelf.all("scene_drafts", unit.id)] == [first, second]
    await foundry.studio.database.write(
        lambda connection: foundry.shelf.withdraw(connection, second, "dropped")
    )
    newest = foundry.shelf.newest("scene_drafts")
    assert newest is not None and newest.ref == first
    with pytest.raises(NotFound, match="no kind of artifact"):
        await shelve(foundry, unit, "diary", {})


@pytest.mark.req("QF-88")
@pytest.mark.parametrize("role", ["book_binder", "player_narrator"])
async def test_who_works_for_readers_reads_no_draft(foundry: Foundry, role: str) -> None:
    ref = await shelve(foundry, await opened(foundry), "scene_drafts", drafts("One."))
    with pytest.raises(HotLeak, match=f"{role} may not read"):
        foundry.shelf.read(ref, role)
    assert foundry.shelf.read(ref, "style_lead")
    await foundry.begin(BookPlan())
    assert foundry.shelf.read("style_guide", role)


@pytest.mark.req("QF-151")
async def test_a_book_begins_once_with_a_style_and_an_empty_snapshot(foundry: Foundry) -> None:
    plan = await foundry.begin(BookPlan(title="The Lamp", pov="first", ifid="A"))
    assert (await foundry.begin(BookPlan(title="Another", ifid="B"))) == plan == foundry.plan
    tip = foundry.cold.tip()
    assert tip is not None and tip.id.startswith("cold-2") and tip.id.endswith("-00")
    assert list(tip.files) == ["style_guide"]
    assert foundry.cold.contents(tip)["style_guide"]["pov"] == "first"


@pytest.mark.req("QF-120")
async def test_a_merge_is_one_and_only_on_what_was_judged(foundry: Foundry) -> None:
    await foundry.begin(BookPlan())
    unit = await opened(foundry)
    await shelve(foundry, unit, "scene_drafts", drafts("One."))
    base = foundry.cold.tip()
    assert base is not None
    made = {kind: row["sha256"] for kind, row in foundry.units.find(unit.id).made.items()}
    await shelve(foundry, unit, "scene_drafts", drafts("Changed."))
    with pytest.raises(BaseMoved, match="changed while it was judged"):
        await foundry.cold.merge(Merging("m", base.id, {unit.id: made}), lambda _c: None)
    assert foundry.cold.tip() == base
    made = {kind: row["sha256"] for kind, row in foundry.units.find(unit.id).made.items()}
    merged = await foundry.cold.merge(Merging("m", base.id, {unit.id: made}), lambda _c: None)
    again = await foundry.cold.merge(Merging("m", base.id, {unit.id: made}), lambda _c: None)
    assert merged == again and merged.id.endswith("-01") and merged.parent == base.id
    assert foundry.units.find(unit.id).status is UnitStatus.COLD_MERGED
    assert not foundry.cold.verify(merged)
    with pytest.raises(BaseMoved, match="judged on"):
        await foundry.cold.merge(Merging("n", base.id, {}), lambda _c: None)


async def test_what_fails_inside_a_merge_leaves_nothing_of_it(foundry: Foundry) -> None:
    await foundry.begin(BookPlan())
    unit = await opened(foundry)
    await shelve(foundry, unit, "scene_drafts", drafts("One."))
    base = foundry.cold.tip()
    assert base is not None

    def stop(_connection: Any) -> None:
        raise RuntimeError("killed between snapshot and story hooks")

    with pytest.raises(RuntimeError):
        await foundry.cold.merge(Merging("m", base.id, {unit.id: {}}), stop)
    assert foundry.cold.tip() == base
    assert foundry.units.find(unit.id).status is UnitStatus.STABILIZING


def test_folding_keeps_places_and_replaces_rows() -> None:
    held = fold(
        {}, [ColdPart("scene_drafts", drafts("A", "a")), ColdPart("scene_drafts", drafts("B", "b"))]
    )
    held = fold(
        held, [ColdPart("revised_prose", drafts("A2", "a")), ColdPart("hooks", {"hooks": []})]
    )
    rows = held["scene_drafts"]["sections"]
    assert [(row["section_id"], row["text_md"]) for row in rows] == [("a", "A2"), ("b", "B")]
    assert "hooks" not in held
    styled = fold(
        {"style_guide": {"voice": "calm", "banned": ["very"]}},
        [
            ColdPart(
                "style_addendum", {"voice": "", "banned": ["very", "just"], "rules": ["Short."]}
            )
        ],
    )["style_guide"]
    assert styled["voice"] == "calm"
    assert styled["banned"] == ["very", "just"]
    assert styled["addenda"] == ["Short."]
    packs = [ColdPart("language_pack", {"locale": "de"}), ColdPart("glossary", {"terms": []})]
    assert list(fold({}, packs)) == ["language_pack/de", "glossary/de"]


@pytest.mark.req("QF-83")
async def test_what_a_unit_rests_on_is_followed_once_however_it_is_woven(foundry: Foundry) -> None:
    refs: list[str] = []
    units: list[WorkUnit] = []
    for number in range(60):
        inputs = {f"kind_{at}": ref for at, ref in enumerate(refs[-2:])}
        unit = await foundry.units.open(
            UnitOpening(f"run_{number}", "story_spark", "PW", "A spark", inputs=inputs)
        )
        refs.append(await shelve(foundry, unit, "scene_drafts", drafts(f"It is {number}.")))
        units.append(foundry.units.find(unit.id))

    assert [each.id for each in foundry.behind(units[-1])] == [each.id for each in units]

    def merge_middle(connection: Any) -> None:
        for each in units[30:32]:
            gated = each.moved(UnitStatus.GATECHECK)
            foundry.units.save(connection, gated.moved(UnitStatus.COLD_MERGED))

    await foundry.studio.database.write(merge_middle)
    assert [each.id for each in foundry.behind(units[-1])] == [each.id for each in units[32:]]
