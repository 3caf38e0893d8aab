"""Scenario 15 and what remains of a project: archives, retros, lessons."""

import asyncio
import contextlib
import io
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from questkit import Company, House, open_house

from callboard.core.errors import Conflict
from callboard.core.vocabulary import RunState
from callboard.models import Line, ModelRequest
from callboard.packs.questfoundry.archive import (
    ArchiveDamaged,
    check_target,
    collected,
    manifest_of,
    packed,
    read_archive,
    unpacked,
)
from callboard.packs.questfoundry.operations import (
    approve_lessons,
    operations_on,
    restore_archive,
)
from callboard.studio.project import Project

pytestmark = pytest.mark.anyio


async def archived(house: House) -> Path:
    house.company.usual["freeze_record"] = {"label": "first-light"}
    await house.success("story_spark")
    await house.success("gatecheck")
    ran = await house.success("archive_snapshot")
    assert house.content(ran, "restore_report") == {"ok": True, "mismatches": []}
    entry = house.content(ran, "archive_index_entry")
    assert entry["restore_ok"] and entry["snapshot_ids"]
    return house.studio.project.root / entry["path"]


@pytest.mark.req("QF-137", "QF-138", "QF-139")
async def test_an_archive_restores_to_the_same_project_or_not_at_all(tmp_path: Path) -> None:
    Project.init(tmp_path / "book", pack="questfoundry")
    own = "hook_harvest: {max_accept: 7}\n"
    (tmp_path / "book" / ".callboard" / "questfoundry.yaml").write_text(own, "utf-8")
    async with open_house(tmp_path / "book") as house:
        path = await archived(house)
        tip = house.foundry.cold.tip()
        assert tip is not None
        book = house.foundry.cold_book(tip)
    kept = unpacked(path.read_bytes())
    folders = {name.partition("/")[0] for name in kept.files}
    assert folders == {
        "records",
        "blobs",
        "schemas",
        "decisions",
        "settings.yaml",
        "versions.json",
        "RESTORE.md",
    }
    told = b"".join(file for name, file in kept.files.items() if name.startswith("decisions/"))
    assert b'"loop.decision"' in told and b'"loop.checkpoint"' in told
    records = b"".join(file for name, file in kept.files.items() if name.startswith("records/"))
    for kind in ("unit", "story_hook", "snapshot", "artifact:gatecheck_report"):
        assert f'"kind":"{kind}"'.encode() in records, kind
    assert b'"validation"' in records
    freeze = next(f for f in kept.files.values() if b'"active_tus"' in f)
    # What was open at the time stands in it, with how far it was: the archive's own unit.
    assert b"(stabilizing)" in freeze
    other = tmp_path / "other"
    check_target(other)
    async with open_house(other) as house:
        await operations_on(house.studio).perform(restore_archive, str(path))
        assert house.foundry.cold.tip() == tip
        assert house.foundry.cold_book(tip) == book
        # The archive was packed before its own last steps were stored.
        again = collected(house.foundry)
        same = {name: file for name, file in kept.files.items() if not name.startswith("decisions")}
        assert all(again[name] == file for name, file in same.items())
        assert (other / ".callboard" / "questfoundry.yaml").read_text("utf-8") == own
        with pytest.raises(Conflict, match="book already"):
            await operations_on(house.studio).perform(restore_archive, str(path))
    with pytest.raises(Conflict, match="not empty"):
        check_target(other)


@pytest.mark.req("QF-139")
async def test_one_changed_byte_is_named(tmp_path: Path) -> None:
    import gzip

    async with open_house(tmp_path / "book") as house:
        path = await archived(house)
    plain = bytearray(gzip.decompress(path.read_bytes()))
    at = plain.index(b"You lift the lid")
    plain[at] = ord("Z")
    damaged = tmp_path / "damaged.tar.gz"
    damaged.write_bytes(gzip.compress(bytes(plain), mtime=0))
    with pytest.raises(ArchiveDamaged, match="blobs/"):
        read_archive(damaged)
    for cut in (1, 20, 2_000):
        damaged.write_bytes(path.read_bytes()[:-cut])
        with pytest.raises(ArchiveDamaged):
            read_archive(damaged)


FILES = {"records/0000000.json": b'{"kind": "unit"}', "blobs/ab": b"You lift the lid. " * 9}
SOUND = packed(FILES, {"files": manifest_of(FILES)})


@pytest.mark.req("QF-139")
def tarred(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as tar:
        for info, data in members:
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return held.getvalue()


async def test_an_archive_with_more_than_files_or_of_endless_size_is_refused() -> None:
    link = tarfile.TarInfo("records/link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    zeros = tarfile.TarInfo("blobs/zeros")
    for data, why in (
        (tarred((link, b"")), "link is a link"),
        (tarred((zeros, bytes(70_000_000))), "over 64,000,000 bytes"),
        (tarred((zeros, b"0")), "no manifest.json"),
    ):
        with pytest.raises(ArchiveDamaged, match=why):
            unpacked(data)


@given(at=st.integers(0, len(SOUND) - 1), by=st.integers(1, 255))
def test_whichever_byte_is_changed_nothing_else_is_ever_restored(at: int, by: int) -> None:
    changed = bytearray(SOUND)
    changed[at] ^= by
    # A few bytes of the wrapping say nothing of what is inside: a time, a system.
    with contextlib.suppress(ArchiveDamaged):
        assert unpacked(bytes(changed)).files == FILES
    if at >= 10:
        with pytest.raises(ArchiveDamaged):
            unpacked(bytes(changed))


@pytest.mark.req("QF-49")
async def test_stopped_in_the_fifth_step_the_first_four_are_not_repeated(tmp_path: Path) -> None:
    reached = asyncio.Event()

    class Stopped(Company):
        def speak(self, request: ModelRequest) -> Line | str:
            if "step_5_style_check" in (request.step_key or ""):
                reached.set()
                return Line(hang=True)
            return super().speak(request)

    async with open_house(tmp_path / "book", Stopped()) as house:
        args = {"policy": "playbook", "is_interactive": False}
        run = await house.studio.start("questfoundry/story_spark", args)
        await reached.wait()
    company = Company()
    async with open_house(tmp_path / "book", company) as house:
        ended = await house.studio.engine.wait(run.id)
        assert ended.state is RunState.DONE, ended.error
        taken = [key.split("/")[1] for key, _ in company.calls]
        assert taken == ["step_5_style_check", "step_6_feasibility_check", "step_7_preview_gate"]
        assert len(house.foundry.units.all()) == 1


@pytest.mark.req("QF-134", "QF-135", "QF-136")
async def test_a_retro_counts_and_its_lessons_wait_for_a_human(tmp_path: Path) -> None:
    company = Company()
    finding = {"told": "Gates passed at once", "cites": "gates_by_loop"}
    company.usual["retro_frame"] = {"scope": "the first spark", "questions": ["What helped?"]}
    roles = ("gatekeeper", "plotwright", "scene_smith", "lore_weaver", "style_lead")
    voices = [{"role": role, "well": ["briefs"]} for role in roles]
    company.usual["role_feedback"] = {"voices": voices}
    company.usual["retro_findings"] = {"well": [finding] * 3, "poorly": [finding] * 3}
    company.usual["action_items"] = {"items": []}
    lesson = {"role_or_loop": "story_spark", "text": "Name the tide early.", "approved_by": "me"}
    company.usual["practice_updates"] = {"updates": [lesson]}
    async with open_house(tmp_path / "book", company) as house:
        spark = await house.success("story_spark")
        ran = await house.success("post_mortem", upstream=[spark.unit.id])
        counts = house.content(ran, "retro_metrics")["counts"]
        assert counts["units"] == 1 and counts["role_calls"] == 8
        assert counts["gates_by_loop"] == {"story_spark": {"pass": 1}}
        updates = ran.result.artifacts["practice_updates"]
        assert house.foundry.shelf.body(updates.sha256)["updates"][0]["approved_by"] == ""
        assert house.foundry.lessons("story_spark") == []
        await operations_on(house.studio).perform(approve_lessons, updates.id, "Ada")
        assert house.foundry.lessons("story_spark") == ["Name the tide early."]
        company.prompts.clear()
        await house.success("story_spark")
        assert any("Name the tide early." in text for _, _, text in company.prompts)
