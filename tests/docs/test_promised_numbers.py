"""Numbers, orders and events that the pages tell are those of the program."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from callboard.core import call_events, events
from callboard.core.settings import Settings
from callboard.core.vocabulary import ModelTier
from callboard.knowledge.vector_index import EXACT_UP_TO
from callboard.models.catalog import _FULL_FROM, _MEDIUM_FROM, UNKNOWN_WINDOW_TOKENS
from callboard.models.ladder.profiles import _GOOD_RATE
from callboard.models.providers import script_file
from callboard.models.providers.cassette_file import MOST_BYTES
from callboard.models.traffic.priority import Priority
from callboard.replies.evidence.quotes import MIN_QUOTE_CHARS, MIN_QUOTE_WORDS
from callboard.studio.opening import Opening
from callboard.studio.pack_file import PackFile
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.tools import tool
from callboard.tools.builtin import BUILTIN_TOOLS
from callboard.tools.result import PREVIEW_LIMIT_CHARS, SUMMARY_BUDGET_CHARS
from callboard.tools.text_tools import MAX_TEXT_BYTES
from callboard.tools.threads import MOST_THREADS
from callboard.tools.tool import DEFAULT_TIMEOUT_SECONDS

ROOT = Path(__file__).resolve().parents[2]
TIERS = (ModelTier.MINIMAL, ModelTier.MEDIUM, ModelTier.FULL)
PACKS = ROOT / "src" / "callboard" / "packs"
PAGES = sorted((ROOT / "docs").rglob("*.md"))
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def plain(value: float) -> str:
    return f"{value:,.6f}".rstrip("0").rstrip(".")


def promises() -> list[tuple[str, str]]:
    """Give sentences as the settings and constants of the program would have them."""
    settings = Settings()
    retry, circuit, told = settings.errors.retry, settings.circuit.llm, settings.errors.transient
    passing, trouble, limits = retry.transient, retry.external_degrading, retry.external_rate_limit
    summaries = [SUMMARY_BUDGET_CHARS[each] for each in TIERS]
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
        ("structured-replies", f"{_GOOD_RATE:.0%}".replace("%", " %")),
        ("knowledge", f"Up to {EXACT_UP_TO:,} vectors"),
        (
            "durability",
            f"in a row without a finished step ({settings.engine.give_up_after_deaths})",
        ),
        ("tools", f"when to give up; {plain(DEFAULT_TIMEOUT_SECONDS)} by default"),
        ("tools", f"in a thread of its own, {WORDS[MOST_THREADS]} at a time"),
        ("tools", f"folded to one line of {PREVIEW_LIMIT_CHARS} characters"),
        (
            "tools",
            "at most {:,}, {:,} or {:,} characters, by the tier".format(*summaries),
        ),
        ("tools", f"up to {MAX_TEXT_BYTES // 10**6} MB, outside hidden folders"),
        ("models", f"from {_FULL_FROM:,} tokens full, from {_MEDIUM_FROM:,} medium"),
        ("models", f"a regular file of up to {script_file.MOST_BYTES // 10**6} MB"),
        ("credentials", f"is guessed ({UNKNOWN_WINDOW_TOKENS:,} tokens, tier medium)"),
        *factory_promises(),
    ]


def factory_promises() -> list[tuple[str, str]]:
    """Give what the pages of Writers Factory tell of the thresholds in its settings."""
    told = yaml.safe_load((PACKS / "writers_factory" / "settings.yaml").read_text("utf-8"))
    health, analysis, voice = told["health"], told["analysis"], told["voice"]
    return [
        (
            "factory/health",
            f"an error costs {health['score_error']}, a warning {health['score_warning']}, a remark"
            f" {health['score_info']}",
        ),
        (
            "factory/health",
            f"{health['beat_warning_points']} points off its place: warning,"
            f" {health['beat_error_points']}: error",
        ),
        ("factory/health", f"a setup open for more than {health['setup_scenes']} scenes"),
        (
            "factory/health",
            f"more than {health['flaw_gap_warning']} scenes without one: warning,"
            f" {health['flaw_gap_error']}: error; none in the first {health['flaw_first_by']}",
        ),
        (
            "factory/health",
            f"below {health['theme_warning_below']} of 10: warning, below"
            f" {health['theme_error_below']}: error",
        ),
        (
            "factory/revision",
            f"`accept_from` ({analysis['accept_from']}), `six_pass_from`"
            f" ({analysis['six_pass_from']}), `stop_early_at` ({analysis['stop_early_at']}),"
            f" `pass_total_drop` ({analysis['pass_total_drop']}), `pass_length_tolerance`"
            f" ({analysis['pass_length_tolerance']})",
        ),
        ("factory/scenes", f"more than {analysis['length_retry'] * 100:.0f} % off its length"),
        ("factory/scenes", f"share more than {analysis['shared_phrases'] * 100:.0f} % of their"),
        (
            "factory/voice",
            f"of about {voice['passage_words']} words ({voice['passage_words_least']} to"
            f" {voice['passage_words_most']};",
        ),
        (
            "factory/memory",
            f"every {told['consolidation']['interval_minutes']} minutes while the server runs",
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
    # A loop tells by name what happens in it.
    source = (ROOT / "src" / "callboard" / "choreography" / "loop").glob("*.py")
    told = re.findall(r'tell\([^"()]*"([a-z.]+)"', "".join(each.read_text() for each in source))
    known |= {f"loop.{name}" for name in told}
    named = {
        (page.name, event)
        for page in PAGES
        for event in re.findall(r"event `([a-z]+\.[a-z_]+)`", page.read_text("utf-8"))
    }
    assert len(named) > 5
    assert {(page, event) for page, event in named if event not in known} == set()


def table_after(page: str, header: str) -> dict[str, str]:
    """Return a table of a page: what its first column sets as code, and the second column."""
    rows = (ROOT / "docs" / page).read_text("utf-8").split(header)[1].split("\n\n")[0].splitlines()
    return {
        name: row.split("|")[2].strip()
        for row in rows
        if row.startswith("| ")
        for name in re.findall(r"`(\w+)`", row.split("|")[1])
    }


def test_the_tables_of_the_pages_are_whole() -> None:
    assert set(table_after("tools.md", "| option of `@tool` | says |")) == set(
        inspect.signature(tool).parameters
    )
    assert table_after("tools.md", "| id | effect | does |") == {
        each.id: each.effect.value for each in BUILTIN_TOOLS
    }
    own = {"name", "title", "description"}
    assert set(table_after("packs.md", "| key | is |")) == set(PackFile.model_fields) - own


def test_an_operation_a_page_shows_is_the_one_there_is() -> None:
    source = "\n".join(path.read_text("utf-8") for path in PACKS.rglob("operations.py"))
    shown = re.findall(
        r"^@operation.*?(?=^```)",
        (ROOT / "docs" / "operations.md").read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    assert len(shown) == 2
    assert [each for each in shown if each.strip() not in source] == []
