"""The limiter as a state machine: whatever happens in whatever order, no pause lasts for ever."""

from foyer import HandTime, Notices
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from callboard.core.events import LimitPaused, LimitResumed
from callboard.models.traffic.limit_state import Credential, Ticket
from callboard.models.traffic.limiter import Limiter

CREDENTIALS = [Credential("a", "1"), Credential("a", "2"), Credential("b")]
LONGEST_SECONDS = 400
HEADERS = st.one_of(
    st.just({}),
    st.integers(0, LONGEST_SECONDS).map(lambda seconds: {"retry-after": str(seconds)}),
    st.sampled_from(["soon", "-1", "0.25", "Thu, 01 Jan 1970 00:00:00 GMT"]).map(
        lambda text: {"retry-after": text}
    ),
)


class LimiterMachine(RuleBasedStateMachine):
    """Calls start, succeed, are refused, vanish; clocks run and jump; nobody asks in between."""

    tickets = Bundle("tickets")

    def __init__(self) -> None:
        super().__init__()
        self.time, self.notices = HandTime(), Notices()
        self.jitter = 0.0
        self.limiter = Limiter(
            clock=self.time,
            timer=self.time.after,
            notify=self.notices,
            jitter=lambda: self.jitter,
        )
        # A model far simpler than the code: until when each credential must be left alone.
        self.paused_until: dict[Credential, float] = {}
        self.pauses: dict[str, int] = {}
        self.epochs: dict[Credential, int] = {}
        self.attempts: dict[Credential, int] = {}

    @rule(target=tickets, credential=st.sampled_from(CREDENTIALS))
    def start(self, credential: Credential) -> tuple[Ticket, int]:
        if not self.limiter.may_start(credential):
            # Only ever without leave: the reply of a call that another process started.
            return self.limiter.ticket(credential), self.epochs.get(credential, 0)
        assert not self.is_paused(credential), "started during a pause"
        return self.limiter.started(credential), self.epochs.get(credential, 0)

    @rule(ticket=consumes(tickets))
    def succeed(self, ticket: tuple[Ticket, int]) -> None:
        proof, epoch = ticket
        was_paused = self.limiter.is_paused(proof.credential)
        self.limiter.succeeded(proof)
        assert self.limiter.is_paused(proof.credential) == was_paused, "a success ended a pause"
        if epoch == self.epochs.get(proof.credential, 0) and not was_paused:
            self.attempts[proof.credential] = 0

    @rule(ticket=consumes(tickets), headers=HEADERS, jitter=st.floats(0, 1))
    def refuse(self, ticket: tuple[Ticket, int], headers: dict[str, str], jitter: float) -> None:
        credential = ticket[0].credential
        was_paused = self.is_paused(credential)
        self.jitter = jitter
        self.limiter.limited(ticket[0], headers)
        (view,) = [v for v in self.limiter.views() if v.credential == credential.label]
        assert view.remaining_seconds <= LONGEST_SECONDS
        if not was_paused:
            self.pauses[credential.label] = self.pauses.get(credential.label, 0) + 1
            self.epochs[credential] = self.epochs.get(credential, 0) + 1
            self.attempts[credential] = self.attempts.get(credential, 0) + 1
            assert view.is_paused
        assert view.attempt == self.attempts[credential]
        self.paused_until[credential] = max(
            self.paused_until.get(credential, 0.0), self.time.seconds + view.remaining_seconds
        )

    @rule(ticket=consumes(tickets))
    def fail_otherwise(self, ticket: tuple[Ticket, int]) -> None:
        self.limiter.answered(ticket[0])

    @rule(ticket=consumes(tickets))
    def vanish(self, ticket: tuple[Ticket, int]) -> None:
        self.limiter.left(ticket[0])

    @rule(seconds=st.floats(0, 100))
    def pass_time(self, seconds: float) -> None:
        self.time.advance(seconds)

    @rule(days=st.integers(-2, 0))
    def set_the_clock_back(self, days: int) -> None:
        self.time.wall_ms += days * 86_400_000

    @invariant()
    def paused_exactly_as_long_as_said(self) -> None:
        for credential in CREDENTIALS:
            assert self.limiter.is_paused(credential) == self.is_paused(credential)

    @invariant()
    def a_pause_always_has_a_timer(self) -> None:
        paused = sum(view.is_paused for view in self.limiter.views())
        assert self.time.armed == paused

    @invariant()
    def every_end_is_told_once(self) -> None:
        ended: dict[str, int] = {}
        for body in self.notices.of(LimitResumed):
            ended[body.credential] = ended.get(body.credential, 0) + 1
        for credential in CREDENTIALS:
            begun = self.pauses.get(credential.label, 0)
            open_now = int(self.is_paused(credential))
            assert ended.get(credential.label, 0) == begun - open_now
        told = {body.credential for body in self.notices.of(LimitPaused)}
        assert told == {label for label, count in self.pauses.items() if count}

    def is_paused(self, credential: Credential) -> bool:
        return self.time.seconds < self.paused_until.get(credential, 0.0)

    def teardown(self) -> None:
        # Without anybody doing anything, time alone opens every credential.
        self.time.advance(LONGEST_SECONDS + 1)
        self.every_end_is_told_once()
        for credential in CREDENTIALS:
            assert not self.limiter.is_paused(credential)
        assert self.time.armed == 0


TestLimiterMachine = LimiterMachine.TestCase
TestLimiterMachine.settings = settings(stateful_step_count=40)
