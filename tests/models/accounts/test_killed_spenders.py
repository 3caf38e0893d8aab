"""64 children share a budget, their process is killed twice: the budget holds all the same."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from callboard.models.accounts import Scope, load_budgets
from stores import open_store

CHILD = Path(__file__).with_name("spending_child.py")
LIMIT = 3_000
RESERVATION = 3 + 10


def spend(folder: Path, kill_at: int) -> int:
    command = [sys.executable, str(CHILD), str(folder), str(LIMIT), str(kill_at)]
    return subprocess.run(command, check=False, timeout=100).returncode


@pytest.mark.req("LLM-61")
def test_a_budget_holds_over_64_children_killed_and_resumed_twice(tmp_path: Path) -> None:
    assert spend(tmp_path, kill_at=75) == -signal.SIGKILL
    assert spend(tmp_path, kill_at=110) == -signal.SIGKILL
    assert spend(tmp_path, kill_at=0) == 0
    served = [int(line) for line in (tmp_path / "served").read_text().split()]
    database = open_store(tmp_path / "callboard.db")
    try:
        run = Scope.parse("run:run_1")
        (budget,) = database.read(lambda c: load_budgets(c, [run]))
        (row,) = database.read(
            lambda c: c.execute(
                "SELECT SUM(input_tokens + output_tokens) AS tokens, COUNT(*) AS calls,"
                " SUM(CASE WHEN error_code = 'process_died' THEN 1 ELSE 0 END) AS lost,"
                " (SELECT COUNT(*) FROM reservations) AS open FROM calls"
            ).fetchall()
        )
    finally:
        database.close()
    # What the provider counted, what the ledger holds and what the budget says.
    assert sum(served) <= LIMIT + RESERVATION
    assert sum(served) <= row["tokens"] == budget.spent.tokens <= LIMIT
    # It was used to the last call that fitted, and nothing is held back for ever.
    assert budget.spent.tokens > LIMIT - RESERVATION
    assert row["open"] == 0
    # Both times calls were under way when the process died; none is on record twice.
    assert 2 <= row["lost"] <= 128
    assert row["calls"] - row["lost"] <= len(served) <= row["calls"]
