"""Numbers, orders and events that the pages tell are those of the program."""

import re
from pathlib import Path
from typing import Any

import pytest

from callboard.core import call_events, events
from callboard.core.settings import Settings
from callboard.knowledge.vector_index import EXACT_UP_TO
from callboard.models.ladder.profiles import _GOOD_RATE
from callboard.models.providers.cassette_file import MOST_BYTES
from callboard.models.traffic.priority import Priority
from callboard.replies.evidence.quotes import MIN_QUOTE_CHARS, MIN_QUOTE_WORDS
from callboard.studio.project import Project
from callboard.studio.studio import Opening, Studio

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def plain(value: float) -> str:
    return f"{value:,.6f}".rstrip("0").rstrip(".")


def promises() -> list[tuple[str, str]]:
    """Give sentences as the settings and constants of the program would have them."""
    settings = Settings()
    retry, circuit, told = settings.errors.retry, settings.circuit.llm, settings.errors.transient
    passing, trouble, limits = retry.transient, retry.external_degrading, retry.external_rate_limit
    names = ("USER", "PLANNING", "EXECUTION", "VALIDATION", "BACKGROUND")
    numbers = [Priority[name].value for name in names]
    return [
        (
            "gate",
            "your own requests ({}), planning ({}), execution ({}), validation ({}),"
            " background ({})".format(*numbers),
        ),
        ("gate", f"at most {WORDS[settings.queue.max_preemptions]} times"),
        (
            "gate",
            f"{passing.max_attempts} times ({plain(passing.initial_delay_seconds)} s doubling to"
            f" {plain(passing.max_delay_seconds)} s), providers in trouble"
            f" {trouble.max_attempts} times ({plain(trouble.initial_delay_seconds)} s to"
            f" {plain(trouble.max_delay_seconds)} s)",
        ),
        (
            "gate",
            f"{WORDS[told.frequency_count].capitalize()} blips within"
            f" {plain(told.frequency_window_seconds)} s are told, then there is silence for"
            f" {plain(told.notification_cooldown_seconds)} s",
        ),
        ("gate", f"After {WORDS[limits.max_attempts]} attempts the call fails"),
        (
            "gate",
            f"{WORDS[circuit.consecutive_failures].capitalize()} failures in a row, or half of the"
            f" last {circuit.window_size}, and a provider is left alone for"
            f" {plain(circuit.cooldown_seconds)} s",
        ),
        ("gate", f"{WORDS[circuit.success_threshold]} good ones close the circuit"),
        ("evidence", f"at least {WORDS[MIN_QUOTE_WORDS]} words and {WORDS[MIN_QUOTE_CHARS]}"),
        ("cassettes", f"up to {MOST_BYTES // 10**6} MB"),
        ("structure", f"{_GOOD_RATE:.0%}".replace("%", " %")),
        ("knowledge", f"Up to {EXACT_UP_TO:,} vectors"),
        (
            "durability",
            f"in a row without a finished step ({settings.engine.give_up_after_deaths})",
        ),
    ]


@pytest.mark.parametrize(("page", "promise"), promises())
def test_a_number_on_a_page_is_the_one_in_the_program(page: str, promise: str) -> None:
    text = " ".join((ROOT / "docs" / f"{page}.md").read_text("utf-8").split())
    assert promise in text


LAYERS = {
    "discretion": "DiscreetGate",
    "fallback": "FallbackGate",
    "structure": "LadderGate",
    "queue": "QueueGate",
    "retries": "RetryGate",
    "budget": "BudgetGate",
    "pauses": "LimiterGate",
    "circuits": "BreakerGate",
    "ledger": "MeterGate",
    "provider": "DirectGate",
}


@pytest.mark.anyio
async def test_a_call_meets_the_layers_in_the_order_the_page_tells(tmp_path: Path) -> None:
    table = (ROOT / "docs" / "gate.md").read_text("utf-8").split("| layer | does |")[1]
    told = re.findall(r"^\| (\w+) \|", table.split("\n\n")[0], re.MULTILINE)
    Project.init(tmp_path)
    async with Studio.open(tmp_path, Opening(recover=False)) as studio:
        met: list[str] = []
        gate: Any = studio.gate
        while gate is not None:
            met.append(type(gate).__name__)
            gate = getattr(gate, "inner", None)
    assert [each for each in met if each in LAYERS.values()] == [
        LAYERS[name] for name in told if name in LAYERS
    ]


def test_every_event_a_page_names_can_happen() -> None:
    known = {
        each.type
        for module in (events, call_events)
        for each in vars(module).values()
        if isinstance(each, type) and isinstance(getattr(each, "type", None), str)
    }
    named = {
        (page.name, event)
        for page in PAGES
        for event in re.findall(r"event `([a-z]+\.[a-z_]+)`", page.read_text("utf-8"))
    }
    assert len(named) > 5
    assert {(page, event) for page, event in named if event not in known} == set()
