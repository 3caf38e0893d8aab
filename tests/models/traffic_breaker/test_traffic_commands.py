"""`callboard models status` and `callboard models reset`, on a project others may have open."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest
from breaker_props import HandClock

from callboard.cli.main import main
from callboard.core.breaker import BreakerOutcome, CircuitState, Permit
from callboard.core.events import CircuitChanged
from callboard.core.settings.circuit import BreakerRules
from callboard.models.traffic.shared_breakers import SharedBreakers
from callboard.models.traffic.shared_pauses import PauseRow, begin_pause
from callboard.store.journal.events import read_events
from callboard.studio.database import admit, open_database
from callboard.studio.project import Project

RULES = {
    "llm": BreakerRules(
        consecutive_failures=3,
        failure_rate=0.5,
        window_size=20,
        cooldown_seconds=3600.0,
        success_threshold=1,
    )
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.init(tmp_path / "story")


@pytest.fixture
def call(project: Project, capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main([*words, "--project", str(project.root)])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


async def use(project: Project, provider: str, outcomes: list[BreakerOutcome]) -> None:
    database = open_database(admit(project))
    breakers = SharedBreakers(database, RULES)
    for outcome in outcomes:
        permit = await breakers.admit(f"llm:{provider}")
        assert isinstance(permit, Permit)
        await breakers.report(f"llm:{provider}", permit, outcome)
    database.close()


def test_a_fresh_project_has_no_traffic(call: Any) -> None:
    code, out, _ = call("models", "status")
    assert code == 0
    assert "No provider has been asked" in out
    assert json.loads(call("models", "status", "--json")[1]) == {"circuits": [], "pauses": []}


@pytest.mark.req("ERR-42", "ERR-43")
def test_an_open_circuit_is_shown_and_reset(call: Any, project: Project) -> None:
    asyncio.run(use(project, "acme", [BreakerOutcome.FAILED] * 3))
    asyncio.run(use(project, "calm", [BreakerOutcome.SUCCEEDED, BreakerOutcome.FAILED]))
    code, out, _ = call("models", "status")
    acme, calm = out.splitlines()[1:]
    assert code == 0
    assert acme.split()[:3] == ["llm:acme", "open", "3"]
    assert calm.split()[:6] == ["llm:calm", "closed", "1", "1", "of", "2"]
    code, out, _ = call("models", "reset", "acme")
    assert (code, out) == (0, "Calls to acme pass again.\n")
    shown = json.loads(call("models", "status", "--json")[1])
    assert [each["state"] for each in shown["circuits"]] == ["closed", "closed"]
    database = open_database(admit(project))
    told = [each.body for each in database.read(read_events)]
    database.close()
    assert [each for each in told if isinstance(each, CircuitChanged)] == [
        CircuitChanged("llm:acme", "closed", "open", "reset by hand")
    ]


@pytest.mark.req("ERR-42")
def test_a_process_at_work_follows_a_reset(call: Any, project: Project, clock: HandClock) -> None:
    async def work() -> None:
        database = open_database(admit(project))
        breakers = SharedBreakers(database, RULES, clock=clock)
        for _ in range(3):
            permit = await breakers.admit("llm:acme")
            assert isinstance(permit, Permit)
            await breakers.report("llm:acme", permit, BreakerOutcome.FAILED)
        code, out, _ = await asyncio.to_thread(call, "models", "reset", "llm:acme", "--json")
        assert code == 0
        assert json.loads(out)["was"]["state"] == "open"
        clock.advance(0.6)
        assert isinstance(await breakers.admit("llm:acme"), Permit)
        assert breakers.breaker("llm:acme").state is CircuitState.CLOSED
        database.close()

    asyncio.run(work())


def test_resetting_what_nobody_knows_names_what_is_known(call: Any, project: Project) -> None:
    asyncio.run(use(project, "acme", [BreakerOutcome.FAILED]))
    code, _, err = call("models", "reset", "acne")
    assert code != 0
    assert "'acne'" in err
    assert "acme" in err.split("'acne'")[1]


def test_a_paused_credential_is_shown_until_its_time_is_up(call: Any, project: Project) -> None:
    now = time.time_ns() // 1_000_000
    database = open_database(admit(project))
    for name, until in (("acme#k1", now + 60_000), ("done#k2", now - 1)):
        pause = PauseRow(name, 2, now - 1000, until, "too many requests")
        database.submit(lambda each, pause=pause: begin_pause(each, pause)).result(10)
    database.close()
    _, out, _ = call("models", "status")
    assert "acme (key k1) is paused for another" in out
    assert "done" not in out
    (shown,) = json.loads(call("models", "status", "--json")[1])["pauses"]
    assert (shown["provider"], shown["attempt"]) == ("acme", 2)
