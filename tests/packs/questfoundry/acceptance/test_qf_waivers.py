"""Waivers: a human lets one red finding pass; nobody else does, and not everything can."""

import json
from pathlib import Path
from typing import Any

import pytest
from questkit import Company, House, Ran, changed, open_house

from callboard.api.app import create_app
from callboard.core.errors import NotFound
from callboard.models import Script
from callboard.operations import USER
from callboard.packs.questfoundry.by_code import gate_by_code
from callboard.packs.questfoundry.operations import (
    operations_on,
    waive_finding,
    withdraw_waiver,
)
from callboard.packs.questfoundry.units.unit import UnitStatus
from callboard.packs.questfoundry.verdict import GateRefused
from callboard.studio.studio import Opening
from callboard.testing import SCRIPTED
from door_server import served
from warm_process import call_warm

pytestmark = pytest.mark.anyio

DAY = "2999-01-01"


def stuck(company: Company) -> Company:
    """Let the bolt ask for a key that nobody can have, so that a keystone is out of reach."""
    notes = changed(
        company.usual["topology_notes"], "gateways", 0, "condition_key", value="has_key"
    )
    company.usual["topology_notes"] = notes
    return company


async def blocked(house: House) -> Ran:
    ran = await house.run("story_spark")
    assert ran.result.status == "stalled"
    return ran


def reds(house: House, ran: Ran) -> list[dict[str, Any]]:
    report = house.foundry.shelf.body(str(ran.unit.made["gatecheck_report"]["sha256"]))
    return [row for row in report["findings"] if row["status"] == "red"]


async def waive_all(house: House, ran: Ran) -> list[str]:
    """Waive everything red in the newest report of a unit."""
    made: dict[tuple[str, str, str], str] = {}
    for row in reds(house, ran):
        name = (row["bar"], row["place"], row["check"])
        if name not in made:
            kept = await operations_on(house.studio).perform(
                waive_finding,
                ran.unit.id,
                row["bar"],
                row["place"],
                "a riddle for the next volume",
                DAY,
                "Ada",
                check=row["check"],
            )
            made[name] = kept["id"]
    return list(made.values())


@pytest.mark.req("QF-95")
async def test_a_waived_finding_passes_with_its_name_in_the_report_until_it_is_taken_back(
    tmp_path: Path,
) -> None:
    company = stuck(Company())
    async with open_house(tmp_path / "book", company) as house:
        ran = await blocked(house)
        ids = await waive_all(house, ran)
        company.calls.clear()
        again = await house.success("story_spark", unit=ran.unit.id)
        # Nothing is written anew: only the gate looks again.
        assert {key.split("/")[1] for key, _ in company.calls} == {"step_7_preview_gate"}
        report = house.content(again, "gatecheck_report")
        assert report["decision"] == "conditional_pass"
        assert {row["waiver_id"] for row in report["waivers"]} == {*ids}
        assert {row["by"] for row in report["waivers"]} == {"Ada"}
        assert all(row["rationale"] and row["expiry"] == DAY for row in report["waivers"])
        assert [row for row in report["bars"] if row["status"] == "red"]
        # Taken back, it blocks again.
        for each in ids:
            await operations_on(house.studio).perform(withdraw_waiver, each, "no next volume")
        judged = await operations_on(house.studio).perform(gate_by_code, (ran.unit.id,))
        assert judged["decision"] == "block" and judged["waivers"] == []
        for each in ids:
            row = next(w for w in house.foundry.waivers.all() if w.id == each)
            assert row.withdrawn == "no next volume"


@pytest.mark.req("QF-95")
@pytest.mark.parametrize("by_code", [True, False])
async def test_a_waived_finding_comes_into_cold_on_condition(tmp_path: Path, by_code: bool) -> None:
    company = stuck(Company())
    async with open_house(tmp_path / "book", company) as house:
        ran = await blocked(house)
        await waive_all(house, ran)
        if by_code:
            report = await operations_on(house.studio).perform(gate_by_code, (ran.unit.id,))
        else:
            gate = await house.success("gatecheck", upstream=[ran.unit.id])
            report = house.content(gate, "gatecheck_report")
        assert report["decision"] == "conditional_pass" and report["waivers"]
        waived = {(row["bar"], row["scope"]) for row in report["waivers"]}
        fixes = " ".join(row["fix"] for row in report["remediation"])
        assert not [place for _, place in waived if fixes.startswith(f"{place}:")]
        unit = house.foundry.units.find(ran.unit.id)
        assert unit.status is UnitStatus.COLD_MERGED


@pytest.mark.req("QF-95")
async def test_a_waiver_that_has_ended_counts_no_more(tmp_path: Path) -> None:
    async with open_house(tmp_path / "book", stuck(Company())) as house:
        ran = await blocked(house)
        row = reds(house, ran)[0]
        place = (ran.unit.id, row["bar"], row["place"])
        with pytest.raises(GateRefused, match="ended on"):
            await operations_on(house.studio).perform(
                waive_finding, *place, "x", "2020-01-01", "Ada"
            )
        await waive_all(house, ran)
        ledger = house.foundry.waivers
        held = {each.id: each.to_json() for each in ledger.all()}
        for name, body in held.items():
            await house.foundry.records.put("waiver", name, {**body, "expires": "2021-01-01"})
        assert ledger.standing() == []
        judged = await operations_on(house.studio).perform(gate_by_code, (ran.unit.id,))
        assert judged["decision"] == "block"


@pytest.mark.req("QF-95")
async def test_a_dead_link_or_what_is_not_red_cannot_be_waived(tmp_path: Path) -> None:
    company = Company()
    notes = changed(company.usual["topology_notes"], "choices", 1, "to", value="attic")
    company.usual["topology_notes"] = notes
    async with open_house(tmp_path / "book", company) as house:
        ran = await blocked(house)
        (dead,) = [row for row in reds(house, ran) if row["check"] == "dead_link"]
        perform = operations_on(house.studio).perform
        tail = ("because", DAY, "Ada")
        with pytest.raises(GateRefused, match="dead_link"):
            await perform(waive_finding, ran.unit.id, "integrity", dead["place"], *tail)
        with pytest.raises(GateRefused, match="Nothing at 'nowhere'"):
            await perform(waive_finding, ran.unit.id, "integrity", "nowhere", *tail)
        with pytest.raises(GateRefused, match="not red"):
            await perform(waive_finding, ran.unit.id, "presentation", "pier", *tail)
        with pytest.raises(NotFound):
            await perform(waive_finding, "TU-0", "integrity", "pier", *tail)
        assert house.foundry.waivers.all() == []


@pytest.mark.req("QF-95")
async def test_no_model_waives_anything(tmp_path: Path) -> None:
    company = stuck(Company())
    waiver = {"bar": "reachability", "rationale": "fine by me", "scope": "book", "expiry": DAY}
    red = {"bar": "reachability", "status": "red", "evidence": "x", "smallest_fix": "x"}
    said = {"mode": "pre_gate", "decision": "conditional_pass", "waivers": [waiver]}
    company.usual["gatecheck_report"] = {**said, "bars": [{**red, "owner_role": "plotwright"}]}
    async with open_house(tmp_path / "book", company) as house:
        ran = await blocked(house)
        body = house.foundry.shelf.body(str(ran.unit.made["gatecheck_report"]["sha256"]))
        assert body["waivers"] == [] and body["decision"] == "block"
        # The operation is the user's; `tests/operations/test_every_operation.py` has agents try.
        assert waive_finding.who == withdraw_waiver.who == {USER}
        assert house.foundry.waivers.all() == []


@pytest.mark.req("QF-95")
async def test_waivers_are_given_and_taken_back_over_http_and_on_the_command_line(
    tmp_path: Path,
) -> None:
    root = tmp_path / "book"
    async with open_house(root, stuck(Company())) as house:
        ran = await blocked(house)
        row = reds(house, ran)[0]
    unit = ran.unit.id
    wanted = {"bar": row["bar"], "place": row["place"], "reason": "a riddle", "until": DAY}
    opening = Opening(providers={"script": Script(Company().speak)}, flags=SCRIPTED)
    async with served(create_app(root, opening)) as client:
        path = f"/api/quest/tus/{unit}/waive"
        assert (await client.post(path, json=wanted)).status_code == 400
        given = await client.post(path, json={**wanted, "by": "Ada"})
        assert given.status_code == 200, given.text
        name = given.json()["id"]
        (listed,) = (await client.get("/api/quest/waivers")).json()
        assert listed == given.json() and listed["rationale"] == "a riddle"
        gone = f"/api/quest/waivers/{name}/withdraw"
        assert (await client.post(gone, json={"reason": "no"})).json()["withdrawn"] == "no"
        assert (await client.post(f"{gone}x", json={"reason": "no"})).status_code in (404, 405)
    words = ("--bar", row["bar"], "--place", row["place"], "--reason", "a riddle")
    words += ("--until", DAY, "--by", "Ada", "--json")
    called = call_warm("quest", "waive", unit, *words, cwd=root)
    assert called.returncode == 0, called.stderr
    second = json.loads(called.stdout)["id"]
    called = call_warm("quest", "waivers", "withdraw", second, "--reason", "no", "--json", cwd=root)
    assert json.loads(called.stdout)["withdrawn"] == "no"
    held = json.loads(call_warm("quest", "waivers", "list", "--json", cwd=root).stdout)["waivers"]
    assert [each["id"] for each in held] == [name, second]
    shown = call_warm("receipts", "list", "--json", cwd=root).stdout
    assert shown.count("quest.waive_finding") >= 2 and "quest.withdraw_waiver" in shown


STORY = """:: StoryTitle
The Pier

:: Start
You stand on the pier.
[[Leave->Road]]
<<if $ember>>[[Light the lamp->Lamp]]<</if>>

:: Road
You walk home.

:: Lamp
The lamp burns.
"""


@pytest.mark.req("QF-95")
def test_an_imported_unit_that_was_sent_back_is_waived_by_its_own_name(tmp_path: Path) -> None:
    story = tmp_path / "pier.twee"
    story.write_text(STORY, encoding="utf-8")
    root = tmp_path / "book"
    root.mkdir()
    assert call_warm("init", "--for", "questfoundry", cwd=root).returncode == 0
    assert call_warm("quest", "import", str(story), cwd=root).returncode == 0
    judged = json.loads(call_warm("quest", "gate", "--code", "--json", cwd=root).stdout)
    (unit,) = judged["sent_back"]
    (red,) = [row for row in judged["findings"] if row["status"] == "red"]
    # The gatecheck itself brings nothing that could be merged.
    refused = call_warm("quest", "gate", "--code", judged["tu_id"], cwd=root)
    assert refused.returncode == 5 and unit in refused.stderr
    words = ("--bar", red["bar"], "--place", red["place"], "--reason", "later", "--by", "Ada")
    called = call_warm("quest", "waive", unit, *words, "--until", DAY, cwd=root)
    assert called.returncode == 0, called.stderr
    again = json.loads(call_warm("quest", "gate", "--code", unit, "--json", cwd=root).stdout)
    assert again["decision"] == "conditional_pass" and again["snapshot"]
