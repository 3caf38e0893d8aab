"""Usage reports add up: any breakdown to the total, the total to the ledger."""

from datetime import UTC, timedelta, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.errors import InvalidInput
from callboard.models import Usage
from callboard.models.accounts import (
    BREAKDOWNS,
    CallOutcome,
    CallRecord,
    Spender,
    Totals,
    UsageFilter,
    calls_matching,
    estimator_report,
    usage_report,
)
from callboard.models.accounts.calls import insert_call
from callboard.store.database import Database
from stores import ON_A_FILE, open_store

HOUR = 3_600_000

names = st.sampled_from([None, "a", "b", "c/d"])
calls = st.lists(
    st.builds(
        lambda at, who, usage, cost, outcome, requests, estimated: (
            at,
            who,
            usage,
            cost,
            outcome,
            requests,
            estimated,
        ),
        st.integers(0, 40 * 24 * HOUR),
        st.builds(
            Spender,
            model=st.sampled_from(["x:1", "x:2", "y:1"]),
            provider=st.sampled_from(["x", "y"]),
            session_id=names,
            run_id=names,
            step_key=names,
            agent_id=names,
            pack=names,
            estimated_tokens=st.integers(0, 99),
        ),
        st.builds(Usage, st.integers(0, 999), st.integers(0, 999), st.integers(0, 9)),
        st.none() | st.integers(0, 10**9),
        st.sampled_from(list(CallOutcome)),
        st.integers(0, 2),
        st.booleans(),
    ),
    max_size=25,
)


def stored(folder: Path, made: list[Any]) -> Database:
    database = open_store(folder / "callboard.db")

    def work(connection: Any) -> None:
        for n, (at, who, usage, cost, outcome, requests, estimated) in enumerate(made):
            insert_call(
                connection,
                CallRecord(
                    f"call_{n:04}", at, who, outcome, usage, cost, requests, estimated, latency_ms=n
                ),
            )

    database.submit(work).result()
    return database


@ON_A_FILE
@pytest.mark.req("LLM-65", "LLM-66")
@given(
    made=calls,
    by=st.lists(st.sampled_from(BREAKDOWNS), unique=True, max_size=3),
    offset=st.integers(-12 * 4, 14 * 4),
    session=names,
    since=st.none() | st.integers(0, 40 * 24 * HOUR),
)
def test_the_sum_over_any_breakdown_is_the_total_and_the_total_is_the_ledger(
    made: list[Any], by: list[str], offset: int, session: str | None, since: int | None
) -> None:
    zone = timezone(timedelta(minutes=15 * offset))
    only = UsageFilter(session_id=session, since=since)
    with TemporaryDirectory() as folder:
        database = stored(Path(folder), made)
        try:
            report = database.read(lambda c: usage_report(c, by, only, zone))
            listed = database.read(lambda c: calls_matching(c, only))
        finally:
            database.close()
    assert sum((line.totals for line in report.lines), Totals()) == (
        report.total if by else Totals()
    )
    assert len({line.names for line in report.lines}) == len(report.lines)
    assert report.total == Totals(
        calls=sum(call.requests for call in listed),
        failed=sum(call.outcome is not CallOutcome.OK for call in listed),
        input_tokens=sum(call.usage.input_tokens for call in listed),
        output_tokens=sum(call.usage.output_tokens for call in listed),
        cached_tokens=sum(call.usage.cached_tokens for call in listed),
        microusd=sum(call.microusd or 0 for call in listed),
        unpriced=sum(call.microusd is None for call in listed),
        latency_ms=sum(call.latency_ms for call in listed),
    )
    wanted = [
        each
        for each in made
        if (session is None or each[1].session_id == session)
        and (since is None or each[0] >= since)
    ]
    assert len(listed) == len(wanted)


def one(at: int, model: str = "x:1", estimated: int = 10, given_: int = 10, **more: Any) -> Any:
    who = Spender(model, model.partition(":")[0], estimated_tokens=estimated)
    return (at, who, Usage(given_, 5), 7, CallOutcome.OK, 1, more.get("counted_here", False))


def test_days_are_those_of_the_time_zone_also_when_clocks_change(tmp_path: Path) -> None:
    # 2026-03-29 00:30 and 22:30 UTC: one day in London, two in Berlin after clocks went forward.
    first, last = 1774744200000, 1774744200000 + 22 * HOUR
    database = stored(tmp_path, [one(first), one(last)])
    try:
        by_day = {
            zone: [
                line.names[0]
                for line in database.read(
                    lambda c, z=zone: usage_report(c, ["day"], None, ZoneInfo(z))
                ).lines
            ]
            for zone in ("UTC", "Europe/Berlin", "Asia/Kathmandu")
        }
    finally:
        database.close()
    assert by_day == {
        "UTC": ["2026-03-29"],
        "Europe/Berlin": ["2026-03-29", "2026-03-30"],
        "Asia/Kathmandu": ["2026-03-29", "2026-03-30"],
    }


def test_estimates_are_judged_by_what_providers_told_and_by_nothing_else(tmp_path: Path) -> None:
    made = [
        one(1, "x:1", estimated=90, given_=100),
        one(2, "x:1", estimated=60, given_=100),
        one(3, "x:1", estimated=999, given_=1, counted_here=True),
        one(4, "y:1", estimated=30, given_=20),
    ]
    database = stored(tmp_path, made)
    try:
        judged = database.read(estimator_report)
    finally:
        database.close()
    assert [(line.model, line.calls, line.ratio) for line in judged] == [
        ("x:1", 2, 0.75),
        ("y:1", 1, 1.5),
    ]


def test_a_breakdown_nobody_knows_is_refused_with_those_that_are_known(tmp_path: Path) -> None:
    database = stored(tmp_path, [])
    try:
        with pytest.raises(InvalidInput) as refused:
            database.read(lambda c: usage_report(c, ["mood"], None, UTC))
    finally:
        database.close()
    assert "session" in (refused.value.fix or "")
