"""Circuits shared through the store: between objects with a clock by hand, and real processes."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from breaker_props import HandClock, Notices, ask

from callboard.core.breaker import Breaker, BreakerOutcome, CircuitRefusal, CircuitState, Permit
from callboard.core.errors import ProviderError
from callboard.core.events import CircuitChanged
from callboard.core.settings.circuit import BreakerRules
from callboard.models import CircuitOpen, DirectGate, Failure, Line, Script
from callboard.models.traffic.breaker import BreakerGate
from callboard.models.traffic.shared_breakers import (
    SharedBreakers,
    find_breaker,
    list_breakers,
    transact,
)
from callboard.store.connection import Connection, Cursor, Params
from callboard.store.database import Database
from stores import open_store

pytestmark = pytest.mark.anyio

LLM = "llm:acme"
RULES = {
    "llm": BreakerRules(
        consecutive_failures=3,
        failure_rate=0.5,
        window_size=6,
        cooldown_seconds=30.0,
        success_threshold=2,
        probe_timeout_seconds=60.0,
    )
}
OK, BAD = BreakerOutcome.SUCCEEDED, BreakerOutcome.FAILED


@pytest.fixture
def two(
    tmp_path: Path, clock: HandClock, notices: Notices
) -> Iterator[tuple[SharedBreakers, SharedBreakers]]:
    """Two that know of each other only through the file, as two processes would."""
    with ExitStack() as stack:
        pair: list[SharedBreakers] = []
        for _ in range(2):
            database = open_store(tmp_path / "callboard.db")
            stack.callback(database.close)
            pair.append(SharedBreakers(database, RULES, clock=clock, notify=notices))
        yield pair[0], pair[1]


async def call(breakers: SharedBreakers, outcome: BreakerOutcome) -> None:
    permit = await breakers.admit(LLM)
    assert isinstance(permit, Permit)
    await breakers.report(LLM, permit, outcome)


async def trip(breakers: SharedBreakers) -> None:
    for _ in range(3):
        await call(breakers, BAD)


@pytest.mark.req("ERR-146", "ERR-147", "ERR-148", "ERR-151")
async def test_what_one_learns_all_know(
    two: tuple[SharedBreakers, SharedBreakers], clock: HandClock
) -> None:
    one, other = two
    assert isinstance(await other.admit(LLM), Permit)
    await trip(one)
    clock.advance(0.6)
    assert await other.admit(LLM) == CircuitRefusal(clock.now_ms() - 600 + 30_000)
    assert isinstance(await other.admit("llm:healthy"), Permit)


@pytest.mark.req("ERR-147", "ERR-154")
async def test_results_of_all_processes_add_up(
    two: tuple[SharedBreakers, SharedBreakers], database: Database
) -> None:
    one, other = two
    for breakers, outcome in ((one, BAD), (other, OK), (one, BAD), (other, OK), (one, BAD)):
        await call(breakers, outcome)
        await _settled(breakers)
    stored = database.read(lambda connection: find_breaker(connection, LLM)).breaker
    assert stored.state is CircuitState.CLOSED
    assert stored.window == (True, False, True, False, True)
    await call(other, BAD)
    stored = database.read(lambda connection: find_breaker(connection, LLM)).breaker
    assert stored.state is CircuitState.OPEN


@pytest.mark.req("ERR-149", "ERR-43")
async def test_a_change_is_told_once_by_who_made_it(
    two: tuple[SharedBreakers, SharedBreakers], clock: HandClock, notices: Notices
) -> None:
    one, other = two
    await trip(one)
    clock.advance(31)
    await call(other, OK)
    await call(other, OK)
    clock.advance(1)
    await one.admit(LLM)
    states = [each.state for each in notices.of(CircuitChanged)]
    assert states == ["open", "half_open", "closed"]


@pytest.mark.req("ERR-150")
async def test_leave_is_given_from_memory(
    database: Database, clock: HandClock, notices: Notices
) -> None:
    breakers = SharedBreakers(database, RULES, clock=clock, notify=notices)
    await trip(breakers)
    await breakers.admit(LLM)
    database.close()
    # With the store gone: the open one is refused, the unknown one passes.
    assert isinstance(await breakers.admit(LLM), CircuitRefusal)
    assert isinstance(await breakers.admit("llm:never-seen"), Permit)


@pytest.mark.req("ERR-146")
async def test_a_new_process_knows_at_once_what_is_open(
    two: tuple[SharedBreakers, SharedBreakers], tmp_path: Path, clock: HandClock
) -> None:
    await trip(two[0])
    database = open_store(tmp_path / "callboard.db")
    newcomer = SharedBreakers(database, RULES, clock=clock)
    assert isinstance(await newcomer.admit(LLM), CircuitRefusal)
    database.close()


@pytest.mark.req("ERR-152", "ERR-151")
async def test_exactly_one_gets_to_probe(
    two: tuple[SharedBreakers, SharedBreakers], clock: HandClock
) -> None:
    one, other = two
    await trip(one)
    clock.advance(30)
    answers = await asyncio.gather(*(each.admit(LLM) for each in (one, other) * 10))
    assert sum(isinstance(answer, Permit) for answer in answers) == 1


@pytest.mark.req("ERR-148", "ERR-153")
async def test_the_cooldown_is_kept_while_open_and_renewed_by_a_failed_probe(
    two: tuple[SharedBreakers, SharedBreakers], clock: HandClock, database: Database
) -> None:
    one, other = two
    late = await other.admit(LLM)
    assert isinstance(late, Permit)
    await trip(one)
    until = clock.now_ms() + 30_000
    # A straggler's result while it is open changes nothing, least of all the end of the cooldown.
    clock.advance(5)
    await other.report(LLM, late, BAD)
    stored = database.read(lambda connection: find_breaker(connection, LLM)).breaker
    assert stored.cooldown_until_ms == until
    clock.advance(25)
    await call(other, BAD)
    stored = database.read(lambda connection: find_breaker(connection, LLM)).breaker
    assert (stored.state, stored.cooldown_until_ms) == (CircuitState.OPEN, clock.now_ms() + 30_000)
    clock.advance(0.6)
    assert await one.admit(LLM) == CircuitRefusal(stored.cooldown_until_ms or 0)


@pytest.mark.req("ERR-154")
async def test_several_good_probes_close_it_for_all(
    two: tuple[SharedBreakers, SharedBreakers], clock: HandClock
) -> None:
    one, other = two
    await trip(one)
    clock.advance(30)
    await call(one, OK)
    assert one.breaker(LLM).state is CircuitState.HALF_OPEN
    clock.advance(0.6)
    await call(other, OK)
    assert other.breaker(LLM).state is CircuitState.CLOSED
    clock.advance(0.6)
    assert await one.admit(LLM) == Permit(other.breaker(LLM).serial)


@pytest.mark.req("ERR-42")
async def test_a_reset_is_seen_by_all(
    two: tuple[SharedBreakers, SharedBreakers], clock: HandClock, notices: Notices
) -> None:
    one, other = two
    await trip(one)
    assert (await other.reset(LLM)).state is CircuitState.OPEN
    clock.advance(0.6)
    assert isinstance(await one.admit(LLM), Permit)
    assert notices.of(CircuitChanged)[-1].reason == "reset by hand"


async def test_a_process_that_dies_as_probe_does_not_block_the_others(
    two: tuple[SharedBreakers, SharedBreakers], clock: HandClock
) -> None:
    one, other = two
    await trip(one)
    clock.advance(30)
    assert isinstance(await one.admit(LLM), Permit)
    clock.advance(59)
    assert isinstance(await other.admit(LLM), CircuitRefusal)
    clock.advance(31)
    assert isinstance(await other.admit(LLM), Permit)


async def test_a_claim_whose_asker_was_cancelled_is_given_back(
    database: Database, clock: HandClock
) -> None:
    breakers = SharedBreakers(database, RULES, clock=clock)
    await trip(breakers)
    clock.advance(30)
    asking = asyncio.create_task(breakers.admit(LLM))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    async with asyncio.timeout(5):
        while breakers.breaker(LLM).state is not CircuitState.HALF_OPEN or (
            breakers.breaker(LLM).probes
        ):
            await asyncio.sleep(0)
    assert isinstance(await breakers.admit(LLM), Permit)


async def test_a_store_that_fails_does_not_take_the_reply_with_it(
    database: Database, clock: HandClock, caplog: pytest.LogCaptureFixture
) -> None:
    breakers = SharedBreakers(database, RULES, clock=clock)
    gate = BreakerGate(DirectGate({"acme": Script(DOWN_ONCE, "calm")}), breakers, clock=clock)
    await database.write(lambda connection: connection.execute("DROP TABLE breakers"))
    # The first look at the circuits was before the table went away.
    breakers._looked_at = clock.monotonic()
    with pytest.raises(ProviderError, match="HTTP 500"):
        await gate.complete(ask("acme:x"))
    assert "could not be stored" in caplog.text
    assert (await gate.complete(ask("acme:x"))).text == "calm"
    await _settled(breakers)


DOWN_ONCE = Line(fail=Failure(500))


class Overtaken:
    """A connection on which another write slips in between the reading and the first writing."""

    def __init__(self, inner: Connection) -> None:
        self.inner, self.is_fresh = inner, True

    def execute(self, sql: str, parameters: Params = (), /) -> Cursor:
        if self.is_fresh and sql.startswith(("INSERT", "UPDATE")):
            self.is_fresh = False
            transact(self.inner, LLM, lambda each, _: (replace(each, failures=2), None), 0)
        return self.inner.execute(sql, parameters)

    def executemany(self, sql: str, parameters: Any, /) -> Cursor:
        return self.inner.executemany(sql, parameters)


@pytest.mark.req("ERR-152")
def test_a_change_worked_out_from_an_old_row_is_worked_out_again(database: Database) -> None:
    """SQLite lets one writer in at a time; another database may let two read the same row."""
    seen: list[int] = []

    def count(breaker: Breaker, _now: int) -> tuple[Breaker, None]:
        seen.append(breaker.failures)
        return replace(breaker, failures=breaker.failures + 1), None

    database.submit(lambda connection: transact(Overtaken(connection), LLM, count, 0)).result(10)
    assert seen == [0, 2]
    (stored,) = database.read(list_breakers)
    assert (stored.breaker.failures, stored.revision) == (3, 2)


async def test_every_field_survives_the_store(
    two: tuple[SharedBreakers, SharedBreakers], clock: HandClock, database: Database
) -> None:
    one, _ = two
    await trip(one)
    for moment in (0, 30):
        clock.advance(moment)
        await one.admit(LLM)
        stored = database.read(lambda connection: find_breaker(connection, LLM)).breaker
        assert stored == one.breaker(LLM)
    assert stored.probes


@pytest.mark.req("ERR-146", "ERR-152")
async def test_the_gate_shares_its_circuit(
    two: tuple[SharedBreakers, SharedBreakers], clock: HandClock
) -> None:
    scripts = [Script(Line(fail=Failure(500), times=3)), Script("never")]
    gates = [
        BreakerGate(DirectGate({"acme": script}), breakers, clock=clock)
        for script, breakers in zip(scripts, two, strict=True)
    ]
    for _ in range(3):
        with pytest.raises(ProviderError):
            await gates[0].complete(ask("acme:x"))
    with pytest.raises(CircuitOpen):
        await gates[1].complete(ask("acme:y"))
    assert scripts[1].calls == []


class Worker:
    """Another process at the same circuit; see `breaker_worker.py`."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def tell(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()

    def hear(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()


@contextmanager
def worker(path: Path, cooldown_seconds: float) -> Iterator[Worker]:
    program = Path(__file__).with_name("breaker_worker.py")
    with subprocess.Popen(
        [sys.executable, str(program), str(path), LLM, str(cooldown_seconds)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Worker(process)


@pytest.mark.req("ERR-146", "ERR-149", "ERR-151", "ERR-152")
def test_two_processes_share_one_circuit_and_one_probe(tmp_path: Path) -> None:
    path = tmp_path / "callboard.db"
    open_store(path).close()
    with worker(path, 0.0) as one, worker(path, 0.0) as other:
        both = (one, other)
        assert [each.hear() for each in both] == ["ready", "ready"]
        for turn in range(3):
            each = both[turn % 2]
            each.tell("ask")
            assert each.hear() == "pass"
            each.tell("bad")
            last = each.hear()
        assert last == "ask:open"
        # The cooldown of 0 s is over at once, so that no test has to wait: both rush in.
        for turn in range(10):
            for each in both:
                each.tell("race")
            heard = sorted(each.hear() for each in both)
            # For half a second after the trip, the one that did not cause it may not know yet.
            assert heard == ["probe", "refused"] or (turn == 0 and heard == ["pass", "probe"])
            for each in both:
                each.tell("bad")
            states = [each.hear() for each in both]
            assert "race:open" in states
        for each in both:
            assert each.process.stdin is not None
            each.process.stdin.close()


async def _settled(*breakers: SharedBreakers) -> None:
    """Wait until everything handed in has been committed."""
    for each in breakers:
        await each._database.write(lambda _connection: None)
