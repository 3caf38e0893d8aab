"""The limiter alone: how long a pause lasts, who is told, and that it ends by itself."""

from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from foyer import HandTime, Notices, request
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.events import LimitPaused, LimitResumed
from callboard.models.traffic.limit_state import (
    LONGEST_PAUSE_SECONDS,
    Credential,
    fingerprint,
    keyless,
    retry_after_seconds,
)
from callboard.models.traffic.limiter import Limiter

OPENAI = Credential("openai", "0123abcd")
OTHER = Credential("openai", "ffff0000")


def limiter(time: HandTime, notices: Notices | None = None, jitter: float = 0.0) -> Limiter:
    return Limiter(clock=time, timer=time.after, notify=notices or Notices(), jitter=lambda: jitter)


def refuse(limiter: Limiter, credential: Credential = OPENAI, **headers: str) -> None:
    ticket = limiter.started(credential)
    limiter.limited(ticket, {name.replace("_", "-"): value for name, value in headers.items()})


def wait(limiter: Limiter) -> float:
    return max(view.remaining_seconds for view in limiter.views())


@pytest.mark.req("LLM-51", "LLM-54", "LLM-56")
def test_waits_double_until_a_success_and_start_over_after_it() -> None:
    time = HandTime()
    limits = limiter(time)
    waits: list[float] = []
    for _ in range(8):
        refuse(limits)
        waits.append(wait(limits))
        time.advance(waits[-1])
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]
    limits.succeeded(limits.started(OPENAI))
    refuse(limits)
    assert wait(limits) == 1


def test_jitter_adds_up_to_a_tenth_but_not_to_what_the_provider_named() -> None:
    time = HandTime()
    limits = limiter(time, jitter=1.0)
    refuse(limits)
    assert wait(limits) == pytest.approx(1.1)
    refuse(limits, OTHER, retry_after="7")
    assert limits.views()[1].remaining_seconds == 7


@pytest.mark.req("LLM-52")
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": " 12 "}, 12.0),
        ({"retry-after": "0"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "9" * 14}, LONGEST_PAUSE_SECONDS),
        ({}, None),
    ],
)
def test_retry_after_in_seconds(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_seconds(headers, 1_000) == seconds


@pytest.mark.req("LLM-52")
def test_retry_after_as_a_date() -> None:
    moment = datetime(2031, 5, 17, 12, 0, 42, tzinfo=UTC)
    now_ms = int(moment.timestamp() * 1000) - 42_000
    headers = {"retry-after": format_datetime(moment, usegmt=True)}
    assert retry_after_seconds(headers, now_ms) == pytest.approx(42)
    assert retry_after_seconds(headers, now_ms + 50_000) is None


@given(st.text(max_size=40))
def test_no_header_breaks_the_limiter(text: str) -> None:
    seconds = retry_after_seconds({"retry-after": text, "retry-after-ms": text[::-1]}, 0)
    assert seconds is None or 0 < seconds <= LONGEST_PAUSE_SECONDS


@pytest.mark.req("LLM-52", "LLM-53")
def test_a_pause_tells_who_until_when_why_and_how_often() -> None:
    time, notices = HandTime(), Notices()
    limits = limiter(time, notices)
    asked = request("who?", model="openai:gpt")
    limits.limited(limits.started(OPENAI), {"retry-after": "7"}, asked)
    paused = LimitPaused(
        "openai (key 0123abcd)", "openai", time.now_ms() + 7000, 1, "Rate limited by openai"
    )
    assert notices.told == [(paused, asked)]


def test_a_long_wait_is_honoured_and_said_to_be_long() -> None:
    time, notices = HandTime(), Notices()
    limits = limiter(time, notices)
    refuse(limits, retry_after="301")
    assert notices.of(LimitPaused)[0].is_long
    time.advance(300)
    assert not limits.may_start(OPENAI)
    time.advance(2)
    assert limits.may_start(OPENAI)
    refuse(limits, OTHER, retry_after="300")
    assert not notices.of(LimitPaused)[1].is_long


@pytest.mark.req("LLM-55")
def test_a_pause_ends_by_its_timer_and_is_told_once() -> None:
    time, notices = HandTime(), Notices()
    limits = limiter(time, notices)
    woken: list[float] = []
    limits.listen(lambda: woken.append(time.seconds))
    refuse(limits, retry_after="7")
    time.advance(6.9)
    assert not limits.may_start(OPENAI)
    assert woken == []
    # Nobody asks: with everything waiting there is nobody who could.
    time.advance(0.2)
    assert notices.of(LimitResumed) == [LimitResumed("openai (key 0123abcd)", "openai", 1)]
    assert woken == [pytest.approx(107)]
    assert limits.may_start(OPENAI)
    time.advance(100)
    assert len(notices.of(LimitResumed)) == 1
    assert time.armed == 0


def test_a_start_after_the_end_resumes_even_before_the_timer() -> None:
    time, notices = HandTime(), Notices()
    limits = limiter(time, notices)
    refuse(limits, retry_after="1")
    time.seconds += 2
    assert limits.may_start(OPENAI)
    limits.started(OPENAI)
    assert len(notices.of(LimitResumed)) == 1
    time.advance(5)
    assert len(notices.of(LimitResumed)) == 1


def test_refusals_during_a_pause_count_once_and_a_later_end_wins() -> None:
    time, notices = HandTime(), Notices()
    limits = limiter(time, notices)
    tickets = [limits.started(OPENAI) for _ in range(20)]
    for ticket in tickets:
        limits.limited(ticket, {"retry-after": "7"})
        time.seconds += 0.01
        time.wall_ms += 10
    assert limits.views()[0].attempt == 1
    assert len(notices.of(LimitPaused)) == 1
    limits.limited(tickets[0], {"retry-after": "30"})
    assert [body.attempt for body in notices.of(LimitPaused)] == [1, 1]
    assert wait(limits) == 30
    limits.limited(tickets[1], {"retry-after": "5"})
    limits.limited(tickets[2], {})
    assert wait(limits) == 30
    time.advance(29)
    assert not limits.may_start(OPENAI)
    time.advance(2)
    assert limits.may_start(OPENAI)
    assert len(notices.of(LimitResumed)) == 1


def test_a_refusal_between_the_end_of_a_pause_and_its_timer_begins_another() -> None:
    time, notices = HandTime(), Notices()
    limits = limiter(time, notices)
    late = limits.started(OPENAI)
    refuse(limits)
    time.seconds += 1.5
    limits.limited(late, {})
    assert [body.attempt for body in notices.of(LimitPaused)] == [1, 2]
    assert len(notices.of(LimitResumed)) == 1
    assert time.armed == 1
    time.advance(2)
    assert len(notices.of(LimitResumed)) == 2
    assert limits.may_start(OPENAI)


@pytest.mark.req("LLM-54")
def test_a_stray_success_neither_ends_a_pause_nor_forgives_it() -> None:
    time, notices = HandTime(), Notices()
    limits = limiter(time, notices)
    early, late = limits.started(OPENAI), limits.started(OPENAI)
    limits.limited(late, {})
    limits.succeeded(early)
    assert not limits.may_start(OPENAI)
    assert notices.of(LimitResumed) == []
    time.advance(1)
    limits.succeeded(early)
    refuse(limits)
    assert wait(limits) == 2


def test_after_a_pause_one_call_tries_before_the_others_follow() -> None:
    time = HandTime()
    limits = limiter(time)
    refuse(limits)
    time.advance(1)
    trial = limits.started(OPENAI)
    assert not limits.may_start(OPENAI)
    assert not limits.is_paused(OPENAI)
    limits.left(trial)
    assert limits.may_start(OPENAI)
    assert limits.answered(limits.started(OPENAI))
    assert limits.may_start(OPENAI)
    assert not limits.started(OPENAI).is_trial
    # Not refused is enough for the others to follow, but only a success is forgiveness.
    refuse(limits)
    assert wait(limits) == 2


@pytest.mark.parametrize("jump_ms", [-86_400_000, 86_400_000])
def test_a_clock_that_is_set_does_not_prolong_a_pause(jump_ms: int) -> None:
    time = HandTime()
    limits = limiter(time)
    refuse(limits, retry_after="5")
    time.wall_ms += jump_ms
    time.advance(5)
    assert limits.may_start(OPENAI)


def test_a_pause_can_be_ended_by_hand() -> None:
    time, notices = HandTime(), Notices()
    limits = limiter(time, notices)
    assert not limits.resume(OPENAI)
    refuse(limits, retry_after="3600")
    assert limits.resume(OPENAI)
    assert limits.may_start(OPENAI)
    time.advance(4000)
    assert len(notices.of(LimitResumed)) == 1


def test_every_credential_has_a_state_of_its_own() -> None:
    time = HandTime()
    limits = limiter(time)
    refuse(limits)
    assert not limits.may_start(OPENAI)
    assert limits.may_start(OTHER)
    assert limits.may_start(Credential("anthropic"))


def test_closing_stops_the_timers() -> None:
    time = HandTime()
    limits = limiter(time)
    refuse(limits)
    limits.close()
    assert time.armed == 0
    refuse(limits, OTHER)
    assert time.armed == 0


@pytest.mark.anyio
async def test_a_credential_shows_no_key() -> None:
    secret = "sk-very-" + "private"
    credential = Credential("openai", fingerprint(secret))
    assert len(credential.fingerprint) == 8
    assert secret not in repr(credential) + credential.key + credential.label
    assert fingerprint(secret) != fingerprint(secret + "x")
    assert Credential.from_key(credential.key) == credential
    assert (await keyless(request("x", model="openai:gpt"))).label == "openai"
