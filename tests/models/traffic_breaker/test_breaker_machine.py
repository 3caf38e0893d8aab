"""The circuit breaker as a pure machine: examples first, then against a model of its own."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from callboard.core.breaker import (
    Breaker,
    BreakerOutcome,
    CircuitRefusal,
    CircuitState,
    Permit,
    admit,
    report,
    reset,
    rules_for,
)
from callboard.core.settings import Settings, resolve
from callboard.core.settings.circuit import GENERIC_RULES, BreakerRules, breaker_rules
from callboard.core.settings.layers import LayerName, SettingsLayer
from stores import ON_A_FILE

RULES = BreakerRules(
    consecutive_failures=3,
    failure_rate=0.5,
    window_size=6,
    cooldown_seconds=10.0,
    success_threshold=2,
    max_probes=1,
    probe_timeout_seconds=60.0,
)
OK, BAD, GONE = BreakerOutcome.SUCCEEDED, BreakerOutcome.FAILED, BreakerOutcome.ABANDONED


def call(
    breaker: Breaker, outcome: BreakerOutcome, now: int = 0, rules: BreakerRules = RULES
) -> Breaker:
    breaker, permit = admit(breaker, rules, now)
    assert isinstance(permit, Permit)
    return report(breaker, permit, outcome, rules, now)


def opened(now: int = 0) -> Breaker:
    breaker = Breaker()
    for _ in range(RULES.consecutive_failures):
        breaker = call(breaker, BAD, now)
    assert breaker.state is CircuitState.OPEN
    return breaker


def probing(now: int) -> tuple[Breaker, Permit]:
    breaker, permit = admit(opened(), RULES, now)
    assert isinstance(permit, Permit)
    return breaker, permit


@pytest.mark.req("ERR-34")
def test_closed_lets_pass_and_open_refuses_until_the_cooldown_ends() -> None:
    closed, permit = admit(Breaker(), RULES, 5)
    assert permit == Permit(0)
    assert closed == Breaker()
    same, refusal = admit(opened(), RULES, 9_999)
    assert refusal == CircuitRefusal(10_000)
    assert same == opened()


@pytest.mark.req("ERR-35")
def test_failures_in_a_row_open_it() -> None:
    breaker = call(call(Breaker(), BAD), BAD)
    assert breaker.state is CircuitState.CLOSED
    assert call(breaker, BAD).state is CircuitState.OPEN


@pytest.mark.req("ERR-37")
def test_a_success_in_between_starts_the_row_anew() -> None:
    breaker = Breaker()
    for outcome in (BAD, BAD, OK, BAD):
        breaker = call(breaker, outcome)
    assert (breaker.state, breaker.failures) == (CircuitState.CLOSED, 1)


@pytest.mark.req("ERR-35", "ERR-36")
def test_the_share_of_failures_counts_once_the_window_is_full() -> None:
    breaker = Breaker()
    for outcome in (BAD, BAD, OK, BAD, OK):
        breaker = call(breaker, outcome)
        assert breaker.state is CircuitState.CLOSED
    assert call(breaker, BAD).state is CircuitState.OPEN


@pytest.mark.req("ERR-36")
def test_the_window_forgets_what_is_older() -> None:
    breaker = Breaker()
    for outcome in (BAD, BAD, OK, OK, OK, OK, OK, BAD, BAD):
        breaker = call(breaker, outcome)
    assert breaker.window == (False, False, False, False, True, True)
    assert breaker.state is CircuitState.CLOSED


@pytest.mark.req("ERR-38")
def test_the_first_to_ask_after_the_cooldown_is_the_probe() -> None:
    breaker, permit = probing(10_000)
    assert breaker.state is CircuitState.HALF_OPEN
    assert permit.is_probe


@pytest.mark.req("ERR-41")
def test_only_so_many_probes_are_under_way_at_once() -> None:
    rules = RULES.model_copy(update={"max_probes": 2})
    breaker, first = admit(opened(), rules, 10_000)
    breaker, second = admit(breaker, rules, 10_001)
    assert isinstance(first, Permit)
    assert isinstance(second, Permit)
    _, third = admit(breaker, rules, 10_002)
    assert third == CircuitRefusal(70_000, is_probing=True)
    breaker = report(breaker, first, OK, rules, 10_003)
    _, fourth = admit(breaker, rules, 10_004)
    assert isinstance(fourth, Permit)


@pytest.mark.req("ERR-39")
def test_a_failed_probe_opens_it_again_for_a_whole_cooldown() -> None:
    breaker, permit = probing(12_000)
    breaker = report(breaker, permit, BAD, RULES, 15_000)
    assert breaker.state is CircuitState.OPEN
    assert admit(breaker, RULES, 24_999)[1] == CircuitRefusal(25_000)


@pytest.mark.req("ERR-39")
def test_a_probe_nobody_hears_of_again_has_failed() -> None:
    breaker, lost = probing(10_000)
    refused, answer = admit(breaker, RULES, 70_000)
    assert answer == CircuitRefusal(80_000)
    assert refused.state is CircuitState.OPEN
    # Nobody asked for a while: the cooldown ran from the moment the probe's time was up.
    later, again = admit(breaker, RULES, 80_000)
    assert isinstance(again, Permit)
    assert again.is_probe
    assert report(later, lost, OK, RULES, 80_001) == later


@pytest.mark.req("ERR-40")
def test_enough_good_probes_close_it_and_wipe_the_slate() -> None:
    breaker, permit = probing(10_000)
    breaker = report(breaker, permit, OK, RULES, 10_100)
    assert (breaker.state, breaker.successes) == (CircuitState.HALF_OPEN, 1)
    breaker = call(breaker, OK, 10_200)
    assert breaker.state is CircuitState.CLOSED
    assert (breaker.failures, breaker.successes, breaker.window) == (0, 0, ())
    # Old failures must not open it again at once.
    assert call(breaker, BAD, 10_300).state is CircuitState.CLOSED


@pytest.mark.req("ERR-40")
def test_a_bad_probe_takes_the_good_ones_with_it() -> None:
    breaker, permit = probing(10_000)
    breaker = report(breaker, permit, OK, RULES, 10_100)
    breaker = call(breaker, BAD, 10_200)
    breaker = call(breaker, OK, 20_200)
    assert (breaker.state, breaker.successes) == (CircuitState.HALF_OPEN, 1)


@pytest.mark.req("ERR-42")
@pytest.mark.parametrize("state", list(CircuitState))
def test_a_reset_closes_it_from_any_state(state: CircuitState) -> None:
    breakers = {
        CircuitState.CLOSED: call(Breaker(), BAD),
        CircuitState.OPEN: opened(),
        CircuitState.HALF_OPEN: probing(10_000)[0],
    }
    closed = reset(breakers[state], 99)
    assert closed.state is CircuitState.CLOSED
    assert (closed.failures, closed.successes, closed.window, closed.probes) == (0, 0, (), ())
    assert admit(closed, RULES, 99)[1] == Permit(closed.serial)


def test_stragglers_from_before_a_change_count_for_nothing() -> None:
    _, early = admit(Breaker(), RULES, 0)
    assert isinstance(early, Permit)
    for later in (opened(), probing(10_000)[0], reset(opened(), 5)):
        for outcome in BreakerOutcome:
            assert report(later, early, outcome, RULES, 20_000) == later


def test_an_abandoned_probe_makes_room_for_the_next() -> None:
    breaker, permit = probing(10_000)
    breaker = report(breaker, permit, GONE, RULES, 10_001)
    assert breaker.state is CircuitState.HALF_OPEN
    assert isinstance(admit(breaker, RULES, 10_002)[1], Permit)


def test_a_clock_set_back_does_not_keep_it_open_for_ever() -> None:
    day = 86_400_000
    breaker, answer = admit(opened(day), RULES, 0)
    assert isinstance(answer, Permit)
    lost, answer = admit(replace(breaker, probes=probing(day)[0].probes), RULES, 0)
    assert answer == CircuitRefusal(10_000)
    assert lost.state is CircuitState.OPEN


@pytest.mark.req("ERR-44")
def test_each_class_of_resource_has_its_own_defaults() -> None:
    shown = {
        name: (
            each.consecutive_failures,
            each.failure_rate,
            each.window_size,
            each.cooldown_seconds,
            each.success_threshold,
        )
        for name, each in breaker_rules.items()
    }
    assert shown == {
        "llm": (5, 0.5, 20, 30.0, 3),
        "file": (2, 0.3, 10, 10.0, 2),
        "network": (3, 0.5, 20, 30.0, 3),
        "subprocess": (3, 0.4, 15, 20.0, 2),
    }
    assert rules_for("llm:openai") is breaker_rules["llm"]
    assert rules_for("file:/etc/hosts") is breaker_rules["file"]
    assert rules_for("printer") is GENERIC_RULES
    assert Settings().circuit.rules() == dict(breaker_rules)


@pytest.mark.req("ERR-44")
def test_one_value_of_a_class_can_be_set_alone() -> None:
    data = {"circuit": {"file": {"cooldown_seconds": "3s"}, "llm": {"max_probes": 2}}}
    rules = resolve([SettingsLayer(LayerName.USER, "mine.yaml", data)]).settings.circuit.rules()
    assert rules["file"] == breaker_rules["file"].model_copy(update={"cooldown_seconds": 3.0})
    assert rules["llm"] == breaker_rules["llm"].model_copy(update={"max_probes": 2})


@dataclass
class Ghost:
    """The breaker once more, as a careless reader of the specification would write it down."""

    state: str = "closed"
    row: int = 0
    good: int = 0
    results: list[bool] = field(default_factory=list)
    until: int = 0
    era: int = 0
    probes: dict[int, int] = field(default_factory=dict)


class BreakerMachine(RuleBasedStateMachine):
    """Calls begin and end in any order, time passes, users reset; machine and ghost agree."""

    @initialize(
        row=st.integers(1, 4),
        share=st.sampled_from([0.25, 0.5, 0.75, 1.0]),
        size=st.integers(1, 8),
        good=st.integers(1, 3),
        probes=st.integers(1, 3),
    )
    def set_up(self, row: int, share: float, size: int, good: int, probes: int) -> None:
        self.rules = BreakerRules(
            consecutive_failures=row,
            failure_rate=share,
            window_size=size,
            cooldown_seconds=10.0,
            success_threshold=good,
            max_probes=probes,
            probe_timeout_seconds=30.0,
        )
        self.breaker, self.ghost = Breaker(), Ghost()
        self.now = 1_000
        self.calls: list[tuple[Permit, int, int]] = []

    @rule(seconds=st.sampled_from([0.0, 0.5, 3.0, 10.0, 29.0, 31.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += round(seconds * 1000)

    @rule()
    def somebody_asks(self) -> None:
        self.breaker, answer = admit(self.breaker, self.rules, self.now)
        expected = self.ghost_admits()
        assert isinstance(answer, Permit) == expected
        if isinstance(answer, CircuitRefusal):
            assert answer.retry_at_ms > self.now
            return
        assert answer.is_probe == (self.ghost.state == "half_open")
        if answer.is_probe:
            self.ghost.probes[answer.serial] = self.now + 30_000
        self.calls.append((answer, self.ghost.era, answer.serial))

    @precondition(lambda self: self.calls)
    @rule(pick=st.integers(0, 50), outcome=st.sampled_from(BreakerOutcome))
    def a_call_ends(self, pick: int, outcome: BreakerOutcome) -> None:
        permit, era, serial = self.calls.pop(pick % len(self.calls))
        self.breaker = report(self.breaker, permit, outcome, self.rules, self.now)
        if era == self.ghost.era:
            self.ghost_hears(permit.is_probe, serial, outcome)

    @rule()
    def a_user_resets(self) -> None:
        self.breaker = reset(self.breaker, self.now)
        self.ghost = Ghost(era=self.ghost.era + 1)

    @invariant()
    def they_agree(self) -> None:
        ghost = self.ghost
        assert self.breaker.state.value == ghost.state
        if ghost.state == "closed":
            assert self.breaker.failures == ghost.row
            assert list(self.breaker.window) == ghost.results
        else:
            assert self.breaker.successes == ghost.good
            assert {each.serial for each in self.breaker.probes} == set(ghost.probes)
            assert len(self.breaker.probes) <= self.rules.max_probes
        if ghost.state == "open":
            assert self.breaker.cooldown_until_ms == ghost.until

    @invariant()
    def nothing_stays_open_for_ever(self) -> None:
        """Whoever asks after probe timeout and cooldown is let through, whatever happened."""
        later = self.now + 30_000 + 10_000
        assert isinstance(admit(self.breaker, self.rules, later)[1], Permit)

    def ghost_admits(self) -> bool:
        lost = [until for until in self.ghost.probes.values() if until <= self.now]
        if lost:
            self.ghost_opens(lost[0])
        ghost = self.ghost
        if ghost.state == "open" and self.now >= ghost.until:
            ghost.state, ghost.good, ghost.era = "half_open", 0, ghost.era + 1
        if ghost.state == "half_open":
            return len(ghost.probes) < self.rules.max_probes
        return ghost.state == "closed"

    def ghost_hears(self, is_probe: bool, serial: int, outcome: BreakerOutcome) -> None:
        ghost = self.ghost
        if is_probe:
            del ghost.probes[serial]
        if outcome is BreakerOutcome.ABANDONED:
            return
        if is_probe and outcome is BreakerOutcome.FAILED:
            self.ghost_opens(self.now)
        elif is_probe:
            ghost.good += 1
            if ghost.good == self.rules.success_threshold:
                self.ghost = Ghost(era=ghost.era + 1)
        else:
            failed = outcome is BreakerOutcome.FAILED
            ghost.row = ghost.row + 1 if failed else 0
            ghost.results = [*ghost.results, failed][-self.rules.window_size :]
            is_full = len(ghost.results) == self.rules.window_size
            share = sum(ghost.results) / len(ghost.results)
            in_a_row = ghost.row >= self.rules.consecutive_failures
            if failed and (in_a_row or (is_full and share >= self.rules.failure_rate)):
                self.ghost_opens(self.now)

    def ghost_opens(self, at: int) -> None:
        self.ghost = Ghost("open", until=at + 10_000, era=self.ghost.era + 1)


@ON_A_FILE
@pytest.mark.req(
    "ERR-34", "ERR-35", "ERR-36", "ERR-37", "ERR-38", "ERR-39", "ERR-40", "ERR-41", "ERR-42"
)
def test_a_breaker_does_what_its_ghost_does() -> None:
    run_state_machine_as_test(BreakerMachine, settings=settings(stateful_step_count=30))
