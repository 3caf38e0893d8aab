"""Bad days of a book: killed processes, full disks, gatechecks that race, a stubborn Showrunner."""

import asyncio
import errno
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from questkit import Company, House, hook, open_house
from test_qf_chain_of_loops import canon

from callboard.core.vocabulary import RunState
from callboard.packs.questfoundry.by_code import bind_by_code
from callboard.packs.questfoundry.operations import operations_on
from callboard.packs.questfoundry.units.unit import UnitStatus
from callboard.store.connection import DiskFull
from callboard.studio.project import Project
from callboard.testing.witness import finish
from warm_process import call_warm, run_warm

pytestmark = pytest.mark.anyio
VICTIM = Path(__file__).with_name("quest_victim.py")
RIGHTS = Path(__file__).with_name("bare_rights.py")


def killed(root: Path, loop: str, place: str) -> None:
    ended = run_warm(VICTIM, str(root), loop, place, cwd=root.parent)
    assert ended.returncode == -signal.SIGKILL, (ended.stdout, ended.stderr)


@pytest.mark.chaos
@pytest.mark.req("QF-49")
async def test_killed_in_the_fifth_step_the_first_four_are_not_repeated(tmp_path: Path) -> None:
    root = tmp_path / "book"
    killed(root, "story_spark", "step_5_style_check")
    company = Company()
    async with open_house(root, company) as house:
        (unit,) = house.foundry.units.all()
        assert unit.status is UnitStatus.STABILIZING and not unit.outcome
        run = await finish(house.studio, unit.runs[0], {})
        assert run.state is RunState.DONE, run.error
        taken = [key.split("/")[1] for key, _ in company.calls]
        assert taken == ["step_5_style_check", "step_6_feasibility_check", "step_7_preview_gate"]
        (unit,) = house.foundry.units.all()
        assert unit.outcome == "success" and len(unit.runs) == 1
        # Nothing was stored twice.
        for kind in ("topology_notes", "scene_drafts", "hooks"):
            assert len(house.foundry.shelf.all(kind)) == 1, kind


async def resolved(house: House) -> str:
    """Bring one story hook as far as a gatecheck can canonize it."""
    company = house.company
    company.usual["hooks"] = {"hooks": [hook("Who lit the lamp?")]}
    await house.success("story_spark")
    (raised,) = house.foundry.hooks.in_state("proposed")
    company.usual["hook_annotations"] = {"notes": [{"hook_id": raised.id, "role": "lore_weaver"}]}
    decided = {"hook_id": raised.id, "decision": "accepted", "owner_role": "lore_weaver"}
    company.usual["triage_decisions"] = {"decisions": [{**decided, "next_loop": "lore_deepening"}]}
    await house.success("hook_harvest")
    canon([raised.id], company)
    await house.success("lore_deepening")
    return raised.id


@pytest.mark.chaos
@pytest.mark.req("QF-120")
async def test_killed_between_snapshot_and_story_hooks_there_is_neither(tmp_path: Path) -> None:
    root = tmp_path / "book"
    async with open_house(root) as house:
        hook_id = await resolved(house)
        base = house.foundry.cold.tip()
    killed(root, "gatecheck", "merge")
    # As it was left: nothing of the merge.
    left = sqlite3.connect(root / ".callboard" / "callboard.db")
    rows = left.execute("SELECT kind, body FROM records WHERE kind IN ('snapshot', 'merged')")
    assert [kind for kind, _ in rows] == ["snapshot"]
    assert not left.execute("SELECT 1 FROM records WHERE kind = 'story_hook_canonized'").fetchall()
    left.close()
    async with open_house(root) as house:
        (gate,) = [each for each in house.foundry.units.all() if each.loop == "gatecheck"]
        run = await finish(house.studio, gate.runs[0], {})
        assert run.state is RunState.DONE, run.error
        tip = house.foundry.cold.tip()
        assert tip is not None and base is not None and tip.parent == base.id
        assert house.foundry.hooks.find(hook_id).status == "canonized"
        assert house.foundry.hooks.find(hook_id).cold_link == tip.id
        assert [each.id for each in house.foundry.cold.all()] == [base.id, tip.id]
        merged = [house.foundry.units.find(each).status for each in tip.tus]
        assert {*merged} == {UnitStatus.COLD_MERGED}
        assert not house.foundry.cold.verify(tip)


@pytest.mark.req("QF-119", "QF-120")
async def test_of_two_gatechecks_on_one_snapshot_one_merges_and_the_other_says_why_not(
    tmp_path: Path,
) -> None:
    async with open_house(tmp_path / "book") as house:
        spark = await house.success("story_spark")
        base = house.foundry.cold.tip()
        args = {"policy": "playbook", "is_interactive": False, "upstream": [spark.unit.id]}
        started = [await house.studio.start("questfoundry/gatecheck", args) for _ in range(2)]
        runs = await asyncio.gather(*(finish(house.studio, each.id, {}) for each in started))
        states = sorted(each.state.value for each in runs)
        assert states == ["done", "failed"], [each.error for each in runs]
        (lost,) = [each for each in runs if each.state is RunState.FAILED]
        assert "Cold is at" in str(lost.error) or "nothing is ready" in str(lost.error)
        tip = house.foundry.cold.tip()
        assert tip is not None and base is not None and tip.parent == base.id
        assert len(house.foundry.cold.all()) == 2
        unit = house.foundry.units.find(spark.unit.id)
        assert unit.status is UnitStatus.COLD_MERGED and unit.snapshot == tip.id


@pytest.mark.req("QF-45")
async def test_a_showrunner_that_repeats_one_step_is_stopped_and_the_unit_put_off(
    tmp_path: Path,
) -> None:
    company = Company()
    company.decides["next"] = [{"step": "step_1_topology_draft", "reason": "once more"}] * 99
    async with open_house(tmp_path / "book", company) as house:
        ran = await house.run("story_spark", policy="llm")
        assert ran.result.status == "stalled" and "not stable after 24 steps" in ran.result.error
        assert ran.unit.status is UnitStatus.DEFERRED and ran.unit.reason
        assert len(house.foundry.shelf.all("topology_notes")) == 24
        assert house.foundry.cold.tip().tus == ()  # type: ignore[union-attr]


@pytest.mark.req("QF-92", "QF-93")
async def test_a_gatekeeper_who_passes_red_in_a_gatecheck_merges_nothing(tmp_path: Path) -> None:
    from test_qf_waivers import stuck

    company = stuck(Company())
    bars = ("integrity", "reachability", "nonlinearity", "gateways", "style", "presentation")
    green = [{"bar": bar, "status": "green", "evidence": "Fine."} for bar in bars]
    company.usual["bar_results"] = {"bars": green}
    company.usual["merge_decision"] = {"action": "merge", "reason": "I say so"}
    async with open_house(tmp_path / "book", company) as house:
        spark = await house.run("story_spark")
        gate = await house.success("gatecheck", upstream=[spark.unit.id])
        report = house.content(gate, "gatecheck_report")
        assert report["decision"] == "block"
        assert house.content(gate, "merge_decision")["action"] == "rework"
        assert house.foundry.units.find(spark.unit.id).status is UnitStatus.STABILIZING
        assert len(house.foundry.cold.all()) == 1


class Disk:
    """A file system of its own that can be filled to the brim and emptied again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def fill(self) -> None:
        try:
            with self._filler.open("wb", buffering=0) as file:
                while True:
                    file.write(b"\0" * 4096)
        except OSError as error:
            assert error.errno == errno.ENOSPC

    def make_room(self) -> None:
        self._filler.unlink()


@pytest.fixture
def exports(tmp_path: Path) -> Iterator[Disk]:
    """The folder of exports on a disk of its own."""
    folder = tmp_path / "book" / "exports"
    folder.mkdir(parents=True)
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if mount is None or umount is None:
        pytest.skip("mounting needs a tool that is not there")
    done = subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        pytest.skip("mounting needs a right that is not there")
    try:
        yield Disk(folder)
    finally:
        subprocess.run([umount, "--lazy", str(folder)], check=True)


@pytest.mark.chaos
@pytest.mark.req("QF-121")
async def test_a_disk_that_is_full_while_binding_leaves_no_half_file_and_room_lets_it_go_on(
    exports: Disk, tmp_path: Path
) -> None:
    async with open_house(tmp_path / "book") as house:
        await house.success("story_spark")
        await house.success("gatecheck")
        exports.fill()
        ran = await house.run("binding_run")
        assert ran.run.state is RunState.FAILED
        assert "step_7_export_formats" in str(ran.run.error)
        assert "No space left" in str(ran.run.error) or "disk" in str(ran.run.error)
        left = [each for each in exports.folder.rglob("*") if each.is_file()]
        assert [each.name for each in left if each.stat().st_size] == ["filler"]
        with pytest.raises(DiskFull, match="No space left") as full:
            await operations_on(house.studio).perform(bind_by_code)
        assert full.value.fix and str(exports.folder) in full.value.message
        exports.make_room()
        house.company.calls.clear()
        again = await house.studio.retry(ran.run.id)
        run = await finish(house.studio, again.id, {})
        assert run.state is RunState.DONE, run.error
        # Nobody was asked anew about what was laid out before the disk was full.
        steps = {key.split("/")[1] for key, _ in house.company.calls}
        assert steps == {"step_8_spot_check_gate"}
        made = await operations_on(house.studio).perform(bind_by_code)
        for row in made["files"]:
            assert (tmp_path / "book" / row["path"]).stat().st_size


@pytest.fixture
def bound(tmp_path: Path) -> Path:
    """A merged book of two sections."""
    root = tmp_path / "ford"
    Project.init(root, pack="questfoundry")
    story = ":: Start\nYou stand at the ford.\n[[Wade->End]]\n\n:: End\nYou are across.\n"
    (root / "ford.twee").write_text(story, "utf-8")
    for words in (("import", "ford.twee"), ("gate", "--code")):
        assert call_warm("quest", *words, cwd=root).returncode == 0
    return root


@pytest.mark.parametrize("folder", ["exports", "archives"])
@pytest.mark.parametrize("is_file", [False, True])
def test_a_folder_that_takes_no_file_is_named_with_a_way_out_and_nothing_is_lost(
    bound: Path, folder: str, is_file: bool
) -> None:
    words = {"exports": ("bind", "--code", "--format", "html"), "archives": ("archive", "--code")}
    place = bound / folder
    if is_file:
        place.write_text("mine", "utf-8")
    else:
        place.mkdir(mode=0o555)
    called = call_warm("quest", *words[folder], cwd=bound, first=(str(RIGHTS), "give_up"))
    assert called.returncode == 6, called.stderr
    assert "Traceback" not in called.stderr and "Way out: " in called.stderr
    told = " ".join(called.stderr.split())
    assert f"{place}/" in told
    assert ("something else lies there" if is_file else f"permission for {place}") in told
    if is_file:
        assert place.read_text("utf-8") == "mine"
        place.unlink()
    else:
        assert not list(place.iterdir())
        place.chmod(0o755)
    assert call_warm("quest", *words[folder], cwd=bound).returncode == 0
    assert [each for each in place.rglob("*") if each.is_file() and each.stat().st_size]


def test_a_copy_of_an_archive_that_cannot_be_made_is_named_and_the_archive_stays(
    bound: Path, tmp_path: Path
) -> None:
    away = tmp_path / "away"
    away.mkdir(mode=0o555)
    own = f"archive: {{copies: [{away}]}}\n"
    (bound / ".callboard" / "questfoundry.yaml").write_text(own, "utf-8")
    called = call_warm("quest", "archive", "--code", cwd=bound, first=(str(RIGHTS), "give_up"))
    assert called.returncode == 6 and "Traceback" not in called.stderr
    assert f"permission for {away}" in " ".join(called.stderr.split())
    assert len(list((bound / "archives").iterdir())) == 1
