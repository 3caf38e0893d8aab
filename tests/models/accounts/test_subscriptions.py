"""Limits per day, week and month: counted for all sessions, warned once, blocked at the limit."""

import asyncio
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.events import QuotaWarning
from callboard.core.settings import Settings
from callboard.core.settings.budgets import BudgetsSettings, SubscriptionSettings
from callboard.core.vocabulary import RunRecord, RunState, SessionRecord, SessionState
from callboard.models import Line, Script, Usage
from callboard.models.accounts import (
    BudgetExceeded,
    Limits,
    Scope,
    Subscription,
    fair_limits,
    fair_share,
    limits_from,
    plans_from,
    status_of,
    subscriptions_from,
)
from callboard.models.accounts.scopes import Period, PeriodKind
from callboard.store.journal.events import read_events
from callboard.store.journal.runs import insert_run
from callboard.store.journal.sessions import insert_session

DAY = 24 * 3_600_000


def at(text: str, zone: Any = UTC) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=zone).timestamp() * 1000)


def plan(kind: PeriodKind = PeriodKind.WEEK, **limits: int) -> Subscription:
    return Subscription("priced", Period(kind), Limits(**limits))


def warnings(house: Any) -> list[QuotaWarning]:
    events = house.database.read(lambda c: read_events(c, limit=5000))
    found = [event for event in events if isinstance(event.body, QuotaWarning)]
    assert all(event.session_id is None and event.run_id is None for event in found)
    return [event.body for event in found]


@pytest.mark.anyio
@pytest.mark.req("ERR-111", "ERR-112", "ERR-118", "ERR-120")
async def test_usage_is_counted_per_provider_period_and_session(open_house: Any, ask: Any) -> None:
    week = plan(tokens=1000, calls=100)
    house = open_house(subscriptions=[week])
    gate = house.gate(Script(Line(usage=Usage(7, 3), times=None)))
    await asyncio.gather(*(gate.complete(ask(session_id=f"sess_{n % 3}")) for n in range(30)))
    (status,) = house.accounts.statuses()
    assert (status.requests_used, status.requests_remaining) == (30, 70)
    assert (status.tokens_used, status.tokens_remaining) == (300, 700)
    assert (status.microusd_remaining, status.level) == (None, 0)
    assert status.starts_at <= house.clock.ms < status.ends_at
    now = house.clock.ms
    mine = house.database.read(lambda c: status_of(c, week, now, "sess_1"))
    assert (mine.requests_used, mine.tokens_used) == (10, 100)


@pytest.mark.anyio
@pytest.mark.req("ERR-113", "LLM-59")
async def test_a_provider_without_a_plan_is_not_limited(open_house: Any, ask: Any) -> None:
    house = open_house(subscriptions=[plan(calls=1)])
    gate = house.gate(Script(Line("ok", times=None)))
    for _ in range(5):
        await gate.complete(ask(model="script"))
    assert house.rows("SELECT * FROM subscription_usage") == []


@pytest.mark.anyio
@pytest.mark.req("LLM-57", "LLM-58", "ERR-114", "ERR-115", "ERR-117", "ERR-119")
async def test_everybody_is_warned_once_per_level_and_blocked_until_the_period_ends(
    open_house: Any, ask: Any
) -> None:
    house = open_house(subscriptions=[plan(PeriodKind.DAY, calls=10, tokens=10_000)])
    script = Script(Line(usage=Usage(5, 5), times=None))
    gate = house.gate(script)
    for _ in range(7):
        await gate.complete(ask())
    assert warnings(house) == []
    for n in range(3):
        await gate.complete(ask(session_id=f"sess_{n}"))
    near, full = warnings(house)
    assert (near.level, near.requests_percent, near.tokens_percent) == (1, 80, 0)
    assert "80 % of the requests" in near.text
    assert (full.level, full.requests_percent) == (2, 100)
    for session in ("sess_1", "sess_2"):
        with pytest.raises(BudgetExceeded) as refused:
            await gate.complete(ask(session_id=session))
    error = refused.value
    assert error.context["scope"] == "provider:priced per day"
    assert error.context["ends_at"] == full.ends_at == near.ends_at
    assert "Wait until 2025-10-10 00:00 UTC" in (error.fix or "")
    assert len(warnings(house)) == 2
    assert len(script.calls) == 10
    # Another provider goes on, and the next day so does this one, without a warning left.
    await gate.complete(ask(model="script"))
    house.clock.ms = full.ends_at
    await gate.complete(ask())
    (status,) = house.accounts.statuses()
    assert (status.requests_used, status.level) == (1, 0)
    assert len(warnings(house)) == 2


@pytest.mark.anyio
@pytest.mark.req("ERR-115", "ERR-119")
async def test_a_call_that_no_longer_fits_is_blocked_before_it_is_sent_and_told_once(
    open_house: Any, ask: Any
) -> None:
    house = open_house(subscriptions=[plan(tokens=100)])
    script = Script(Line(usage=Usage(5, 5), times=None))
    gate = house.gate(script)
    for _ in range(2):
        with pytest.raises(BudgetExceeded):
            await gate.complete(ask(max_tokens=500))
    (told,) = warnings(house)
    assert (told.level, told.tokens_percent) == (2, 0)
    assert script.calls == []
    await gate.complete(ask(max_tokens=10))


@pytest.mark.anyio
@pytest.mark.req("ERR-115")
async def test_two_processes_that_cross_a_level_together_warn_once(
    open_house: Any, ask: Any
) -> None:
    houses = [open_house(subscriptions=[plan(calls=40)], process_id=f"proc_{n}") for n in "ab"]
    gates = [house.gate(Script(Line("ok", times=None))) for house in houses]
    await asyncio.gather(*(gates[n % 2].complete(ask()) for n in range(40)))
    assert [warning.level for warning in warnings(houses[0])] == [1, 2]


@pytest.mark.anyio
async def test_a_limit_set_within_a_period_counts_what_was_called_before(
    open_house: Any, ask: Any
) -> None:
    before = open_house()
    gate = before.gate(Script(Line(usage=Usage(5, 5), times=None)))
    for _ in range(4):
        await gate.complete(ask())
    house = open_house(subscriptions=[plan(calls=5)])
    (status,) = house.accounts.statuses()
    assert status.requests_used == 4
    await house.gate(Script("fifth")).complete(ask())
    with pytest.raises(BudgetExceeded):
        await house.gate(Script("sixth")).complete(ask())
    assert house.accounts.statuses()[0].requests_used == 5


@pytest.mark.req("ERR-122")
def test_a_session_gets_a_fair_share_of_what_is_left() -> None:
    assert fair_share(900, 3) == 300
    assert fair_share(900, 0) == 900
    assert fair_share(-5, 2) == 0
    assert fair_share(None, 4) is None


@pytest.mark.anyio
@pytest.mark.req("ERR-122")
async def test_the_fair_share_is_the_tightest_of_all_periods(open_house: Any, ask: Any) -> None:
    plans = [plan(PeriodKind.DAY, tokens=100, calls=50), plan(PeriodKind.MONTH, tokens=80)]
    house = open_house(subscriptions=plans)
    await house.gate(Script(Line(usage=Usage(10, 10)))).complete(ask())
    assert fair_limits(house.accounts.statuses(), 3) == Limits(tokens=20, calls=16)


@pytest.mark.anyio
@pytest.mark.req("ERR-122", "LLM-62")
async def test_a_session_budget_comes_from_the_settings_or_is_set_at_run_time(
    open_house: Any, ask: Any
) -> None:
    settings = BudgetsSettings.model_validate(
        {
            "session": {"tokens": 5},
            "run": {"usd": -1},
            "agents": {"critic": {"calls": 1}},
            "providers": {"script": {"minutes": 0.5}},
        }
    )
    limits = limits_from(settings)
    assert limits(Scope.parse("agent:critic")) == Limits(calls=1)
    assert limits(Scope.parse("provider:script")) == Limits(ms=30_000)
    assert limits(Scope.parse("project")).is_unlimited
    assert limits(Scope.parse("run:x")).is_unlimited
    house = open_house(default_limits=limits)
    gate = house.gate(Script(Line("ok", times=None)))
    with pytest.raises(BudgetExceeded):
        await gate.complete(ask())
    await house.accounts.set_limits(Scope.parse("session:sess_1"), Limits(tokens=50))
    await gate.complete(ask())


def test_settings_become_plans_and_what_is_not_limited_is_left_out() -> None:
    settings = SubscriptionSettings.model_validate(
        {
            "day": {"max_requests": 100, "max_usd": 2.5},
            "week": {"max_tokens": -1},
            "month": {"max_tokens": 5_000},
            "warn_threshold": 0.5,
            "week_starts_on": "sunday",
            "month_starts_on": 15,
            "time_zone": "Europe/Berlin",
        }
    )
    day, month = subscriptions_from({"anthropic": settings})
    assert (day.period.kind, day.limits) == (PeriodKind.DAY, Limits(2_500_000, None, 100))
    assert (month.period.first_day, month.warn_threshold) == (15, 0.5)
    assert month.period.zone == ZoneInfo("Europe/Berlin")


@pytest.mark.req("ERR-113")
@pytest.mark.parametrize(
    ("period", "now", "start", "end"),
    [
        (Period(PeriodKind.DAY), "2025-01-15T12:00", "2025-01-15", "2025-01-16"),
        (Period(PeriodKind.WEEK), "2025-01-15T12:00", "2025-01-13", "2025-01-20"),
        (Period(PeriodKind.WEEK, 6), "2025-01-15T12:00", "2025-01-12", "2025-01-19"),
        (Period(PeriodKind.MONTH), "2025-01-31T23:59", "2025-01-01", "2025-02-01"),
        (Period(PeriodKind.MONTH), "2025-12-31T23:59", "2025-12-01", "2026-01-01"),
        (Period(PeriodKind.MONTH, 0, 20), "2025-01-15T12:00", "2024-12-20", "2025-01-20"),
    ],
)
def test_periods_begin_on_their_day_and_end_where_the_next_begins(
    period: Period, now: str, start: str, end: str
) -> None:
    assert period.around(at(now)) == (at(start), at(end))
    assert period.around(at(end))[0] == at(end)


def test_a_day_is_as_long_as_the_clocks_of_its_zone_make_it() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    start, end = Period(PeriodKind.DAY, zone=berlin).around(at("2026-03-29T12:00", berlin))
    assert (end - start) == 23 * 3_600_000


@given(
    now=st.integers(0, 4_000_000_000_000),
    kind=st.sampled_from(list(PeriodKind)),
    weekday=st.integers(0, 6),
    day=st.integers(1, 28),
    zone=st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu"]),
)
def test_every_moment_lies_in_one_period_and_periods_leave_no_gap(
    now: int, kind: PeriodKind, weekday: int, day: int, zone: str
) -> None:
    period = Period(kind, weekday, day, ZoneInfo(zone))
    start, end = period.around(now)
    assert start <= now < end
    assert period.around(start) == period.around(end - 1) == (start, end)
    assert period.around(end)[0] == end
    assert end - start <= 31 * DAY + 2 * 3_600_000


async def working(house: Any, *sessions: str) -> None:
    """Put a run under way for each session."""

    def work(connection: Any) -> None:
        for session in sessions:
            insert_session(connection, SessionRecord(session, session, SessionState.ACTIVE))
            run = RunRecord(f"run_of_{session}", session, "x/y", RunState.RUNNING)
            insert_run(connection, run)

    await house.database.write(work)


@pytest.mark.anyio
@pytest.mark.req("ERR-122")
async def test_sessions_at_work_together_share_what_a_plan_has_left_unless_told_otherwise(
    open_house: Any, ask: Any
) -> None:
    house = open_house(subscriptions=[plan(PeriodKind.DAY, calls=10)])
    gate = house.gate(Script(Line("ok", times=None)))
    await working(house, "sess_1", "sess_2")
    for _ in range(8):
        await gate.complete(ask(session_id="sess_1"))
    # Two are left for two sessions: one each. The greedy one may take its own and no more.
    await gate.complete(ask(session_id="sess_1"))
    with pytest.raises(BudgetExceeded) as refused:
        await gate.complete(ask(session_id="sess_1"))
    assert "fair share" in refused.value.message
    assert "callboard budget set session:sess_1 --calls" in (refused.value.fix or "")
    # A budget of its own, in the settings or at runtime, takes the share's place.
    await house.accounts.set_limits(Scope.parse("session:sess_1"), Limits(calls=100))
    await gate.complete(ask(session_id="sess_1"))


@pytest.mark.anyio
async def test_a_session_that_works_alone_may_use_the_whole_plan(open_house: Any, ask: Any) -> None:
    house = open_house(subscriptions=[plan(PeriodKind.DAY, calls=3)])
    gate = house.gate(Script(Line("ok", times=None)))
    await working(house, "sess_1")
    for _ in range(3):
        await gate.complete(ask(session_id="sess_1"))
    with pytest.raises(BudgetExceeded) as refused:
        await gate.complete(ask(session_id="sess_1"))
    assert "fair share" not in refused.value.message


@pytest.mark.anyio
async def test_fair_shares_can_be_switched_off(open_house: Any, ask: Any) -> None:
    house = open_house(subscriptions=[plan(PeriodKind.DAY, calls=4)], is_shared=False)
    gate = house.gate(Script(Line("ok", times=None)))
    await working(house, "sess_1", "sess_2")
    for _ in range(4):
        await gate.complete(ask(session_id="sess_1"))


@pytest.mark.anyio
@pytest.mark.req("LLM-12", "LLM-58")
async def test_a_soft_limit_of_a_provider_warns_and_never_blocks(open_house: Any, ask: Any) -> None:
    settings = Settings.model_validate(
        {
            "models": {
                "providers": {
                    "priced": {"soft_limit": {"requests": 5, "period": "day", "warn_at": 0.6}},
                    "other": {"soft_limit": {"period": "day"}},
                    "plain": {},
                }
            },
            "budgets": {"subscriptions": {"priced": {"day": {"max_requests": 100}}}},
        }
    )
    hard, soft = plans_from(settings)
    assert (hard.name, soft.name, soft.is_soft) == ("day", "day (soft)", True)
    house = open_house(subscriptions=[hard, soft])
    gate = house.gate(Script(Line("ok", times=None)))
    for _ in range(7):
        await gate.complete(ask())
    told = warnings(house)
    assert [(each.provider, each.level, each.requests_percent) for each in told] == [
        ("priced", 1, 60),
        ("priced", 2, 100),
    ]
    assert all("Approaching" in each.text and "calls go on" in each.text for each in told)
    # Both limits count for themselves.
    by_period = {each.period: each.requests_used for each in house.accounts.statuses()}
    assert by_period == {"day": 7, "day (soft)": 7}
    house.clock.ms += DAY
    assert house.accounts.statuses()[1].level == 0
