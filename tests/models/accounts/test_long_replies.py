"""A reply far longer than was reserved for: watched all the way, and never counted twice."""

from typing import Any

import pytest

from callboard.models import Line, Script
from callboard.models.accounts import Limits, Scope

pytestmark = pytest.mark.anyio


async def test_a_long_reply_is_counted_once_however_often_it_outgrows_its_reservation(
    open_house: Any, ask: Any
) -> None:
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return len(text.split())

    house = open_house(count_tokens=count)
    await house.accounts.set_limits(Scope.parse("run:run_1"), Limits(tokens=10**9))
    text = "word " * 40_000
    reply = await house.gate(Script(Line(text))).complete(ask(max_tokens=16))
    assert reply.text == text
    assert sum(counted) < 2 * len(text)
    (kept,) = house.rows("SELECT * FROM budgets WHERE scope = 'run:run_1'")
    assert kept["spent_tokens"] == 3 + 40_000
