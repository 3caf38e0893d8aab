"""A timer that is up is seen at every door: over HTTP, and in a chat while nobody types."""

import io
import json
import os
import sys
import threading
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from al_door_stage import Household

from callboard.cli import exits
from callboard.cli.main import main

NOW_MS = 1_779_265_800_000
MINUTE = 60_000


class MovedClock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.ms = NOW_MS

    def now_ms(self) -> int:
        return self.ms

    def monotonic(self) -> float:
        return self.ms / 1000


@pytest.mark.anyio
@pytest.mark.req("AL-75", "AL-156")
async def test_a_timer_is_part_of_what_a_session_shows(household: Household) -> None:
    clock = MovedClock()
    household.clock = clock
    async with household.serve() as table:
        await table.post("/seed", {})
        seat = await table.sit_down()
        assert await seat.get("/cooking") is None
        await seat.say("I'm making hummus", mode="cook")
        await seat.say("next")
        await seat.say("timer 5 minutes")
        stove = await seat.get("/cooking")
        assert (stove["name"], stove["step"]) == ("Hummus", 1)
        (timer,) = stove["timers"]
        assert (timer["seconds"], timer["is_up"], timer["has_rung"]) == (300, False, False)
        assert timer["ends_at"].startswith("2026-05-20T08:35:00")
        clock.ms += 6 * MINUTE
        (timer,) = (await seat.get("/cooking"))["timers"]
        assert (timer["is_up"], timer["has_rung"]) == (True, False)
        assert (await seat.say("again"))["message"].startswith("Ring! The 5 min timer for Hummus")
        (timer,) = (await seat.get("/cooking"))["timers"]
        assert (timer["is_up"], timer["has_rung"]) == (True, True)
        await seat.say("stop")
        assert await seat.get("/cooking") is None


class Ear(io.StringIO):
    """Standard error that notices a ring."""

    def __init__(self) -> None:
        super().__init__()
        self.has_rung = threading.Event()

    def write(self, text: str, /) -> int:
        written = super().write(text)
        if "Ring!" in text:
            self.has_rung.set()
        return written


class Cook(io.StringIO):
    """Somebody who types some lines, then nothing until it rings, then leaves."""

    def __init__(self, ear: Ear, *lines: str) -> None:
        super().__init__()
        self.ear = ear
        self.lines = [*lines]

    def readline(self, _size: int = -1, /) -> str:
        if self.lines:
            return f"{self.lines.pop(0)}\n"
        self.ear.has_rung.wait(30)
        return "/quit\n"


@pytest.mark.req("AL-75", "AL-157")
def test_a_timer_rings_in_a_chat_while_nobody_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "staff.json").write_text(json.dumps({"replies": []}))
    monkeypatch.setenv("CALLBOARD_MODELS_DEFAULT", f"script:{tmp_path / 'staff.json'}")
    for name in ("CACHE", "DATA"):
        monkeypatch.setenv(f"CALLBOARD_{name}_DIR", str(tmp_path / name.casefold()))
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)
    (tmp_path / "kitchen").mkdir()
    monkeypatch.chdir(tmp_path / "kitchen")
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(Ear()) as ear:
        assert main(["init", "--for", "alfred"]) == exits.OK
        assert main(["alfred", "seed"]) == exits.OK
        cook = Cook(ear, "/mode cook", "I'm making hummus", "timer 2 seconds")
        monkeypatch.setattr(sys, "stdin", cook)
        assert main(["chat"]) == exits.OK
    assert "Timer set: 2 s." in out.getvalue()
    assert ear.getvalue().count("Ring! The 2 s timer for Hummus is up") == 1
