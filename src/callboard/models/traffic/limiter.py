"""The limiter: "too many requests" pauses one credential for everybody, and time resumes it.

It owns when calls may start again and who is told. It sends nothing, queues nothing and counts no
usage. A pause always ends by itself: a timer is armed for as long as one is in force.
"""

import random
from collections.abc import Callable, Mapping
from typing import Final

from callboard.core.clock import Clock, SystemClock
from callboard.core.events import LimitPaused, LimitResumed
from callboard.core.settings.errors import RATE_LIMITED, RateLimitPolicy
from callboard.models.traffic.limit_state import (
    Credential,
    LimitState,
    LimitView,
    Ticket,
    Timer,
    loop_timer,
    retry_after_seconds,
)
from callboard.models.traffic.shared_pauses import PauseRow, SharedPauses
from callboard.models.types import ModelRequest, Notify, say_nothing

TICK_SECONDS: Final = 0.5
"""How old the view of other processes' pauses may be, and how often a pause is looked at."""
LONG_PAUSE_SECONDS: Final = 300.0
JITTER: Final = 0.1
_NEWS_SECONDS: Final = 1.0


class Limiter:
    """Says whether calls with a credential may start, for all processes of a project."""

    def __init__(
        self,
        *,
        policy: RateLimitPolicy = RATE_LIMITED,
        shared: SharedPauses | None = None,
        notify: Notify = say_nothing,
        clock: Clock | None = None,
        timer: Timer = loop_timer,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Take how long to wait and, if other processes are to know, where pauses are shared.

        `jitter` returns a number from 0 to 1: its part of ten percent is added to every wait the
        provider did not name itself.
        """
        self.policy = policy
        self._shared = shared
        self._notify = notify
        self._clock = clock or SystemClock()
        self._timer = timer
        self._jitter = jitter
        # One state per credential that was ever limited; all others are open and cost nothing.
        self._states: dict[Credential, LimitState] = {}
        self._listeners: list[Callable[[], None]] = []
        self._look_at = 0.0
        self._is_closed = False

    def listen(self, listener: Callable[[], None]) -> None:
        """Call a quick function whenever calls may start that might not before."""
        self._listeners.append(listener)

    def may_start(self, credential: Credential) -> bool:
        """Say whether a call may start now."""
        state = self._states.get(credential)
        return state is None or state.lets_start(self._clock.now_ms(), self._clock.monotonic())

    def is_paused(self, credential: Credential) -> bool:
        """Say whether the credential is paused; unlike `may_start`, no matter who is on trial."""
        state = self._states.get(credential)
        return state is not None and self._holds(state)

    def ticket(self, credential: Credential) -> Ticket:
        """Note the start of a call that nobody has to wait for."""
        state = self._states.get(credential)
        return Ticket(credential, 0 if state is None else state.epoch)

    def started(self, credential: Credential) -> Ticket:
        """Note the start of a call that `may_start` allowed."""
        state = self._states.get(credential)
        if state is None:
            return Ticket(credential, 0)
        if state.is_paused and not self._holds(state):
            self._resume(state)
        if state.is_trial:
            state.has_trial_call = True
        return Ticket(credential, state.epoch, state.is_trial)

    def limited(
        self, ticket: Ticket, headers: Mapping[str, str], request: ModelRequest | None = None
    ) -> None:
        """Pause the credential, because the provider asked for it."""
        self.refresh(at_once=True)
        state = self._state(ticket.credential)
        now = self._clock.now_ms()
        asked = retry_after_seconds(headers, now) if self.policy.use_retry_after else None
        if self._holds(state):
            self._prolong(state, asked, request)
            return
        if state.is_paused:
            # Its time is over and its timer about to say so; nobody is woken for nothing.
            self._end(state)
        state.attempt += 1
        seconds = self.policy.delay_seconds(state.attempt, asked)
        if asked is None:
            seconds *= 1 + JITTER * self._jitter()
        until = self._clock.monotonic() + seconds
        reason = f"Rate limited by {ticket.credential.provider}"
        state.begin(now, now + round(seconds * 1000), until, reason)
        self._arm(state)
        self._publish(state, request)

    def answered(self, ticket: Ticket) -> bool:
        """Note that the provider did something else than refuse; say whether more may start."""
        state = self._states.get(ticket.credential)
        if state is None or not state.is_trial_of(ticket):
            return False
        state.is_trial = state.has_trial_call = False
        return True

    def succeeded(self, ticket: Ticket) -> None:
        """Forget earlier pauses, if the call started after the latest of them began."""
        self.answered(ticket)
        state = self._states.get(ticket.credential)
        if state is None or state.is_paused or ticket.epoch != state.epoch or not state.attempt:
            return
        state.attempt = 0
        if self._shared is not None:
            self._shared.clear(state.credential.key, state.paused_at)

    def left(self, ticket: Ticket) -> None:
        """Note that a call ended without telling anything about the provider."""
        state = self._states.get(ticket.credential)
        if state is not None and state.is_trial_of(ticket):
            state.has_trial_call = False

    def resume(self, credential: Credential) -> bool:
        """End a pause by hand; say whether there was one."""
        state = self._states.get(credential)
        if state is None or not state.is_paused:
            return False
        self._resume(state)
        return True

    def refresh(self, *, at_once: bool = False) -> None:
        """Learn what other processes stored, if the last look is not too recent."""
        now = self._clock.monotonic()
        if self._shared is None or (now < self._look_at and not at_once):
            return
        self._look_at = now + TICK_SECONDS
        for row in self._shared.load():
            self._adopt(row)

    def views(self) -> tuple[LimitView, ...]:
        """Return the state of every credential that is or was limited."""
        self.refresh()
        return tuple(self._view(state) for state in self._states.values())

    def close(self) -> None:
        """Stop the timers; a pause in force stays stored."""
        self._is_closed = True
        for state in self._states.values():
            state.disarm()

    def _state(self, credential: Credential) -> LimitState:
        return self._states.setdefault(credential, LimitState(credential))

    def _holds(self, state: LimitState) -> bool:
        return state.holds(self._clock.now_ms(), self._clock.monotonic())

    def _prolong(
        self, state: LimitState, asked: float | None, request: ModelRequest | None
    ) -> None:
        """Let a later end win while paused; anything else was said before."""
        remaining = state.remaining_seconds(self._clock.now_ms(), self._clock.monotonic())
        if asked is None or asked <= remaining:
            return
        state.resume_at = self._clock.now_ms() + round(asked * 1000)
        state.until = self._clock.monotonic() + asked
        # Twenty calls refused together all name the same end, a few milliseconds apart.
        self._publish(state, request, is_told=asked > remaining + _NEWS_SECONDS)

    def _publish(
        self, state: LimitState, request: ModelRequest | None, *, is_told: bool | None = None
    ) -> None:
        """Store the pause. Whether it is told the store decides, unless that is known: once."""
        body = self._paused_body(state)
        paused_at = state.paused_at

        def stored(is_new: bool, known: PauseRow | None) -> None:
            if known is not None and state.is_paused and state.paused_at == paused_at:
                state.paused_at = known.paused_at
            if is_new if is_told is None else is_told:
                self._notify(body, request)

        if self._shared is None:
            stored(True, None)
            return
        key = state.credential.key
        row = PauseRow(key, state.attempt, paused_at, state.resume_at, state.reason)
        self._shared.begin(row, stored)

    def _resume(self, state: LimitState, *, is_told: bool = False) -> None:
        self._end(state, is_told=is_told)
        for listener in self._listeners:
            listener()

    def _end(self, state: LimitState, *, is_told: bool = False) -> None:
        """Leave a pause; exactly one of all processes tells it."""
        state.disarm()
        state.end()
        if not is_told:
            self._tell_end(state)

    def _tell_end(self, state: LimitState) -> None:
        credential = state.credential
        body = LimitResumed(credential.label, credential.provider, state.attempt)
        if self._shared is None:
            self._notify(body, None)
            return

        def ended(is_mine: bool) -> None:
            if is_mine:
                self._notify(body, None)

        self._shared.end(credential.key, state.paused_at, self._clock.now_ms(), ended)

    def _adopt(self, row: PauseRow) -> None:
        """Take over what another process stored."""
        state = self._state(Credential.from_key(row.credential))
        if row.resumed_at is not None:
            if row.paused_at >= state.paused_at:
                state.attempt = row.attempt
                if state.is_paused:
                    self._resume(state, is_told=True)
            return
        if row.paused_at <= state.over_at:
            return
        # Never longer than the pause itself, wherever the clocks have been set to meanwhile.
        length = min(row.resume_at - self._clock.now_ms(), row.resume_at - row.paused_at)
        until = self._clock.monotonic() + length / 1000
        state.attempt = max(state.attempt, row.attempt)
        if length <= 0 and not state.is_paused:
            # Whoever paused it is gone: its end has not been told yet.
            state.paused_at = row.paused_at
            state.end()
            self._tell_end(state)
        elif not state.is_paused:
            state.begin(row.paused_at, row.resume_at, until, row.reason)
            self._arm(state)
        elif row.resume_at > state.resume_at:
            state.resume_at, state.until = row.resume_at, until

    def _arm(self, state: LimitState) -> None:
        state.disarm()
        if self._is_closed:
            return
        remaining = state.remaining_seconds(self._clock.now_ms(), self._clock.monotonic())
        state.stop_timer = self._timer(min(remaining, TICK_SECONDS), lambda: self._tick(state))

    def _tick(self, state: LimitState) -> None:
        state.stop_timer = None
        self.refresh(at_once=True)
        if not state.is_paused or state.stop_timer is not None:
            return
        if self._holds(state):
            self._arm(state)
        else:
            self._resume(state)

    def _view(self, state: LimitState) -> LimitView:
        remaining = state.remaining_seconds(self._clock.now_ms(), self._clock.monotonic())
        return LimitView(
            credential=state.credential.label,
            provider=state.credential.provider,
            is_paused=remaining > 0,
            attempt=state.attempt,
            resume_at=state.resume_at if remaining > 0 else 0,
            remaining_seconds=remaining,
            reason=state.reason if remaining > 0 else "",
        )

    def _paused_body(self, state: LimitState) -> LimitPaused:
        seconds = state.remaining_seconds(self._clock.now_ms(), self._clock.monotonic())
        return LimitPaused(
            state.credential.label,
            state.credential.provider,
            state.resume_at,
            state.attempt,
            state.reason,
            is_long=seconds > LONG_PAUSE_SECONDS,
        )
