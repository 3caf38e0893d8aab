"""Pauses in the store: what one process learns, all of them respect, and one of them tells."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from foyer import HandTime, Notices, Prompter, Readers, direct, quiet, until

from callboard.core.events import LimitPaused, LimitResumed
from callboard.models import ModelRequest
from callboard.models.traffic.limit_state import Credential
from callboard.models.traffic.limiter import TICK_SECONDS, Limiter
from callboard.models.traffic.queue import QueueGate
from callboard.models.traffic.shared_pauses import SharedPauses
from stores import open_store

pytestmark = pytest.mark.anyio

OPENAI = Credential("openai", "0123abcd")


async def only_openai(_request: ModelRequest) -> Credential:
    return OPENAI


class Process:
    """What one process has: its own connection, its own limiter, its own ears."""

    def __init__(self, path: Path, time: HandTime) -> None:
        self.database = open_store(path)
        self.notices = Notices()
        self.time = time
        self.limiter = self.restart()

    def restart(self) -> Limiter:
        """Forget everything that is not stored."""
        self.limiter = Limiter(
            shared=SharedPauses(self.database),
            clock=self.time,
            timer=self.time.after,
            notify=self.notices,
            jitter=lambda: 0.0,
        )
        return self.limiter

    def refused(self, **headers: str) -> None:
        told = {name.replace("_", "-"): value for name, value in headers.items()}
        self.limiter.limited(self.limiter.started(OPENAI), told)

    async def stored(self) -> None:
        """Wait until all that was handed to the store is there and its outcome known."""
        await self.database.write(lambda _: None)
        await quiet()


@pytest.fixture
def time() -> HandTime:
    return HandTime()


@pytest.fixture
def processes(tmp_path: Path, time: HandTime) -> Iterator[tuple[Process, Process]]:
    pair = Process(tmp_path / "callboard.db", time), Process(tmp_path / "callboard.db", time)
    yield pair
    for process in pair:
        process.limiter.close()
        process.database.close()


def resumed(*processes: Process) -> int:
    return sum(len(process.notices.of(LimitResumed)) for process in processes)


async def test_a_pause_holds_for_the_other_process_within_a_second(
    processes: tuple[Process, Process], time: HandTime
) -> None:
    one, two = processes
    two.limiter.refresh()
    one.refused(retry_after="7")
    await one.stored()
    time.advance(TICK_SECONDS)
    two.limiter.refresh()
    assert not two.limiter.may_start(OPENAI)
    assert two.limiter.views()[0].remaining_seconds == pytest.approx(7 - TICK_SECONDS)
    assert len(one.notices.of(LimitPaused)) == 1
    assert two.notices.told == []
    time.advance(7)
    await one.stored()
    await two.stored()
    assert one.limiter.may_start(OPENAI)
    assert two.limiter.may_start(OPENAI)
    assert resumed(one, two) == 1


async def test_the_queue_of_the_other_process_holds_back_and_goes_on_by_itself(
    processes: tuple[Process, Process], time: HandTime
) -> None:
    one, two = processes
    provider = Prompter()
    gate = QueueGate(direct(provider, "openai"), limiter=two.limiter, credential_of=only_openai)
    readers = Readers(gate)
    one.refused(retry_after="3")
    await one.stored()
    readers.ask("patient", model="openai")
    await quiet()
    assert provider.started == []
    time.advance(3)
    await until(lambda: "patient" in provider.open)
    provider.finish("patient")
    assert await readers.tasks["patient"] == "Once upon patient"


async def test_two_processes_refused_together_make_one_pause(
    processes: tuple[Process, Process], time: HandTime
) -> None:
    one, two = processes
    one.refused()
    two.refused(retry_after="4")
    await one.stored()
    await two.stored()
    assert len(one.notices.of(LimitPaused)) + len(two.notices.of(LimitPaused)) >= 1
    time.advance(TICK_SECONDS)
    # Both know the later end and count one attempt.
    for process in processes:
        (view,) = process.limiter.views()
        assert (view.attempt, view.remaining_seconds) == (1, pytest.approx(4 - TICK_SECONDS))
    time.advance(5)
    await one.stored()
    await two.stored()
    assert resumed(one, two) == 1


async def test_attempts_and_their_forgiveness_are_shared(
    processes: tuple[Process, Process], time: HandTime
) -> None:
    one, two = processes
    one.refused()
    await one.stored()
    time.advance(1)
    await one.stored()
    two.refused()
    await two.stored()
    assert two.limiter.views()[0].remaining_seconds == 2
    time.advance(2)
    await two.stored()
    two.limiter.succeeded(two.limiter.started(OPENAI))
    await two.stored()
    time.advance(TICK_SECONDS)
    one.refused()
    assert one.limiter.views()[0].remaining_seconds == 1
    await one.stored()


async def test_a_restart_keeps_the_pause_and_its_end_is_told_once(
    processes: tuple[Process, Process], time: HandTime
) -> None:
    one, two = processes
    one.refused(retry_after="60")
    await one.stored()
    one.limiter.close()
    time.advance(20)
    restarted = one.restart()
    restarted.refresh()
    assert not restarted.may_start(OPENAI)
    assert restarted.views()[0].remaining_seconds == pytest.approx(40)
    time.advance(41)
    await one.stored()
    assert restarted.may_start(OPENAI)
    assert resumed(one, two) == 1


async def test_a_pause_that_ended_while_nobody_ran_is_told_by_the_next(
    processes: tuple[Process, Process], time: HandTime
) -> None:
    one, two = processes
    one.refused(retry_after="5")
    await one.stored()
    one.limiter.close()
    time.advance(100)
    two.limiter.refresh()
    await two.stored()
    assert two.limiter.may_start(OPENAI)
    assert len(two.notices.of(LimitResumed)) == 1
    # The attempts of the one that is gone still count.
    two.refused()
    assert two.limiter.views()[0].remaining_seconds == 2
    await two.stored()


async def test_a_clock_set_back_a_day_does_not_bring_a_pause_back(
    processes: tuple[Process, Process], time: HandTime
) -> None:
    one, two = processes
    one.refused(retry_after="5")
    await one.stored()
    time.wall_ms -= 86_400_000
    two.limiter.refresh()
    assert not two.limiter.may_start(OPENAI)
    time.advance(5.1)
    for process in processes:
        await process.stored()
        process.limiter.refresh(at_once=True)
        assert process.limiter.may_start(OPENAI)
    assert resumed(one, two) == 1


async def test_a_clock_set_back_does_not_prolong_the_pause_of_a_process_that_is_gone(
    processes: tuple[Process, Process], time: HandTime
) -> None:
    one, two = processes
    one.refused(retry_after="5")
    await one.stored()
    one.limiter.close()
    time.wall_ms -= 86_400_000
    two.limiter.refresh()
    assert not two.limiter.may_start(OPENAI)
    time.advance(5)
    await two.stored()
    assert two.limiter.may_start(OPENAI)
    assert resumed(two) == 1


async def test_a_pause_whose_end_cannot_be_stored_does_not_come_back(
    processes: tuple[Process, Process], time: HandTime
) -> None:
    one, _ = processes
    await one.database.write(
        lambda c: c.execute(
            "CREATE TRIGGER stuck BEFORE UPDATE OF resumed_at ON limiter_states"
            " BEGIN SELECT RAISE(ABORT, 'stuck'); END"
        )
    )
    one.refused(retry_after="5")
    await one.stored()
    time.wall_ms -= 86_400_000
    time.advance(5.1)
    await one.stored()
    one.limiter.refresh(at_once=True)
    assert one.limiter.may_start(OPENAI)
    assert resumed(one) == 1


async def test_a_pause_after_one_ended_by_hand_is_a_new_one(
    processes: tuple[Process, Process], time: HandTime
) -> None:
    one, two = processes
    one.refused(retry_after="3600")
    await one.stored()
    one.limiter.resume(OPENAI)
    await one.stored()
    time.advance(1)
    one.refused(retry_after="5")
    await one.stored()
    two.limiter.refresh()
    assert two.limiter.views()[0].remaining_seconds == 5
    assert [body.attempt for body in one.notices.of(LimitPaused)] == [1, 2]


async def test_a_pause_ended_by_hand_ends_everywhere(
    processes: tuple[Process, Process], time: HandTime
) -> None:
    one, two = processes
    one.refused(retry_after="3600")
    await one.stored()
    two.limiter.refresh(at_once=True)
    assert two.limiter.resume(OPENAI)
    await two.stored()
    time.advance(TICK_SECONDS)
    await one.stored()
    assert one.limiter.may_start(OPENAI)
    assert resumed(one, two) == 1


async def test_a_store_that_fails_limits_this_process_all_the_same(
    tmp_path: Path, time: HandTime, caplog: pytest.LogCaptureFixture
) -> None:
    process = Process(tmp_path / "callboard.db", time)
    await process.database.write(lambda c: c.execute("DROP TABLE limiter_states"))
    process.refused(retry_after="2")
    await process.stored()
    assert not process.limiter.may_start(OPENAI)
    assert len(process.notices.of(LimitPaused)) == 1
    time.advance(2)
    await process.stored()
    assert process.limiter.may_start(OPENAI)
    assert len(process.notices.of(LimitResumed)) == 1
    assert "limiter_states" in caplog.text
    process.database.close()
    # Closed for good: the limiter goes on without it.
    process.refused(retry_after="2")
    assert not process.limiter.may_start(OPENAI)
    process.limiter.close()


OTHER_PROCESS = """
import asyncio, sys
from pathlib import Path
from callboard.models.traffic.limit_state import Credential
from callboard.models.traffic.limiter import Limiter
from callboard.models.traffic.shared_pauses import SharedPauses
from stores import open_store

async def main():
    database = open_store(Path(sys.argv[1]))
    limiter = Limiter(shared=SharedPauses(database))
    credential = Credential("openai", "0123abcd")
    limiter.limited(limiter.started(credential), {"retry-after": "600"})
    await database.write(lambda _: None)
    limiter.close()
    database.close()

asyncio.run(main())
"""


async def test_a_real_other_process_is_heard(tmp_path: Path) -> None:
    path = tmp_path / "callboard.db"
    database = open_store(path)
    limiter = Limiter(shared=SharedPauses(database))
    limiter.refresh()
    assert limiter.may_start(OPENAI)
    await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", OTHER_PROCESS, str(path)], check=True
    )
    # The other process may be done before the next look is due.
    limiter.refresh(at_once=True)
    assert not limiter.may_start(OPENAI)
    assert 590 < limiter.views()[0].remaining_seconds <= 600
    limiter.close()
    database.close()
