"""`callboard usage` and `callboard budget`, as a user calls them."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from callboard.cli.main import main
from callboard.cli.reports.usage import parse_since
from callboard.core.clock import SystemClock
from callboard.core.errors import InvalidInput
from callboard.models import Usage
from callboard.models.accounts import CallOutcome, CallRecord, Spender
from callboard.models.accounts.booking import book_call
from callboard.studio.database import admit, open_database
from callboard.studio.project import Project

DAY = 86_400_000


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "story"
    root.mkdir()
    Project.init(root)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def spent(project: Path) -> Path:
    """A project with two runs in two sessions, one call of which failed and one has no price."""
    now = SystemClock().now_ms()

    def work(connection: Any) -> None:
        for n, session in enumerate(("first", "second"), 1):
            connection.execute(
                "INSERT INTO sessions (id, position, name, state, context, created_at,"
                " last_active_at) VALUES (:id, :n, :name, 'active', '{}', 0, 0)",
                {"id": f"sess_{n}", "n": n, "name": session},
            )
            connection.execute(
                "INSERT INTO runs (id, position, session_id, choreography, title, state, args,"
                " parent_seq, origin, created_at, updated_at) VALUES (:id, :n, :session, 'x/y', '',"
                " 'done', '{}', 0, 'start', 0, 0)",
                {"id": f"run_{n}aaaa", "n": n, "session": f"sess_{n}"},
            )
        for n, (run, agent, model, cost, outcome, age) in enumerate(
            [
                (1, "writer", "openai:gpt-4o", 1500, CallOutcome.OK, 10 * DAY),
                (1, "critic", "openai:gpt-4o", 500, CallOutcome.ERROR, 10 * DAY),
                (2, "writer", "house:big", None, CallOutcome.OK, 0),
                (2, "writer", "openai:gpt-4o", 2000, CallOutcome.OK, 0),
            ]
        ):
            who = Spender(
                model,
                model.partition(":")[0],
                f"sess_{run}",
                f"run_{run}aaaa",
                f"b/{n}",
                agent,
                "tales",
                estimated_tokens=90,
            )
            call = CallRecord(
                f"call_{n}", now - age, who, outcome, Usage(100, 10), cost, latency_ms=5
            )
            book_call(connection, call, now - age)

    database = open_database(admit(Project.find(project)))
    database.submit(work).result()
    database.close()
    return project


@pytest.fixture
def tell(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*words: str) -> Any:
        capsys.readouterr()
        code = main(list(words))
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


@pytest.mark.req("LLM-65", "LLM-67")
def test_usage_tells_the_total_and_what_it_went_to(spent: Path, tell: Any) -> None:
    code, out, _ = tell("usage")
    assert code == 0
    assert "4 (1 failed)" in out
    assert "400 in, 40 out" in out
    assert "$0.0040 + 1 unpriced" in out
    for word in ("openai:gpt-4o", "writer", "critic", "b/3", "unknown", "0.90"):
        assert word in out


@pytest.mark.req("LLM-65", "LLM-66", "LLM-67")
@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (["--by", "agent"], {"writer": 3, "critic": 1}),
        (["--by", "agent", "--session", "second"], {"writer": 2}),
        (["--by", "agent", "--run", "last"], {"writer": 2}),
        (["--by", "agent", "--provider", "house"], {"writer": 1}),
        (["--by", "agent", "--agent", "critic"], {"critic": 1}),
        (["--by", "agent", "--since", "7d"], {"writer": 2}),
        (["--by", "provider"], {"openai": 3, "house": 1}),
        (["--by", "pack"], {"tales": 4}),
        (["--by", "session"], {"sess_1": 2, "sess_2": 2}),
        (["--by", "outcome"], {"ok": 3, "error": 1}),
    ],
)
def test_usage_is_broken_down_and_narrowed(
    spent: Path, tell: Any, words: list[str], lines: dict[str, int]
) -> None:
    code, out, _ = tell("usage", *words, "--json")
    told = json.loads(out)
    (breakdown,) = told["breakdowns"]
    name = words[1]
    assert code == 0
    assert {line[name]: line["calls"] for line in breakdown["lines"]} == lines
    assert told["total"]["calls"] == sum(lines.values())


@pytest.mark.req("LLM-65")
def test_one_breakdown_within_another(spent: Path, tell: Any) -> None:
    _, out, _ = tell("usage", "--by", "provider", "--by", "model", "--by", "day", "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == 3
    assert {(row["provider"], row["model"]) for row in rows} == {
        ("openai", "openai:gpt-4o"),
        ("house", "house:big"),
    }
    assert sum(float(row["cost_usd"]) for row in rows) == pytest.approx(0.004)


def test_csv_without_a_breakdown_is_the_ledger_itself(spent: Path, tell: Any) -> None:
    _, out, _ = tell("usage", "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["id"] for row in rows] == ["call_0", "call_1", "call_2", "call_3"]
    assert (rows[1]["outcome"], rows[2]["cost_usd"], rows[3]["cost_usd"]) == ("error", "", "0.002")


def test_usage_where_nothing_was_called(project: Path, tell: Any) -> None:
    assert tell("usage") == (0, "", "No model has been called.\n")
    code, out, _ = tell("usage", "--json")
    assert (code, json.loads(out)["total"]["calls"]) == (0, 0)


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        (["usage", "--by", "mood"], 2, "day, model"),
        (["usage", "--since", "yesterday"], 2, "7d"),
        (["usage", "--run", "run_9"], 4, "run_9"),
        (["budget", "set", "everything", "--usd", "1"], 2, "provider:NAME"),
        (["budget", "set", "run:last"], 2, "--minutes"),
        (["budget", "set", "run:last", "--usd", "lots"], 2, "+5"),
        (["budget", "set", "run:last", "--usd", "0"], 2, "-1"),
        (["budget", "set", "step:last", "--usd", "1"], 2, "step:RUN/KEY"),
        (["budget", "clear", "session:nobody"], 4, "nobody"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_way_out(
    spent: Path, tell: Any, words: list[str], code: int, hint: str
) -> None:
    got, _, err = tell(*words)
    assert got == code
    assert hint in err


def test_a_budget_is_set_listed_and_cleared(spent: Path, tell: Any) -> None:
    code, out, _ = tell("budget", "set", "run:last", "--usd", "0.01", "--calls", "5")
    assert code == 0
    assert "run:run_2aaaa" in out
    # Two thousand micro-dollars were spent before, and they count.
    assert "$0.008" in out
    tell("budget", "set", "session:first", "--tokens", "+1000")
    tell("budget", "set", "global", "--minutes", "2")
    code, out, _ = tell("budget", "list", "--json")
    listed = {each["scope"]: each for each in json.loads(out)["budgets"]}
    assert listed["run:run_2aaaa"]["limits"] == {"microusd": 10_000, "calls": 5}
    assert listed["run:run_2aaaa"]["spent"]["calls"] == 2
    assert listed["session:sess_1"]["limits"] == {"tokens": 1220}
    assert listed["project"]["limits"] == {"ms": 120_000}
    assert tell("budget", "clear", "run:last")[1] == "run:run_2aaaa is not limited any more.\n"
    assert tell("budget", "clear", "run:last")[1] == "run:run_2aaaa had no limit set.\n"
    _, out, _ = tell("budget", "list")
    assert "run:run_2aaaa" not in out
    assert "1,220 tokens" in out


def test_a_step_of_a_run_can_be_limited(spent: Path, tell: Any) -> None:
    _, out, _ = tell("budget", "set", "step:last/b", "--calls", "+1", "--json")
    budget = json.loads(out)["budget"]
    assert (budget["scope"], budget["limits"]) == ("step:run_2aaaa/b", {"calls": 3})


def test_the_list_shows_what_the_settings_allow_and_where_plans_stand(
    spent: Path, tell: Any
) -> None:
    (spent / ".callboard" / "config.yaml").write_text(
        "budgets:\n"
        "  project: {usd: 2}\n"
        "  session: {tokens: 5000}\n"
        "  agents: {critic: {calls: 1}}\n"
        "  subscriptions: {openai: {month: {max_requests: 1000}, day: {max_requests: 1}}}\n"
    )
    _, out, _ = tell("budget", "list")
    assert "$1.996" in out
    assert "agent:critic" in out
    assert "Each session may spend 5,000 tokens." in out
    assert "openai per month" in out
    assert "used up" in out


def test_without_any_limit_the_list_says_so(project: Path, tell: Any) -> None:
    code, out, err = tell("budget", "list")
    assert (code, out) == (0, "")
    assert "Nothing is limited" in err


def test_times_to_look_back_to() -> None:
    now = 1_760_000_000_000
    assert parse_since("24h", now) == now - DAY
    assert parse_since("2w", now) == now - 14 * DAY
    assert parse_since("2025-01-01T00:00+00:00", now) == 1_735_689_600_000
    with pytest.raises(InvalidInput):
        parse_since("7 days", now)
