"""The queue as a state machine: random traffic, and after every move the books must balance."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from foyer import HandTime, Notices, Prompter, Readers, direct, quiet
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from callboard.core.errors import ProviderError
from callboard.core.events import CallRequeued
from callboard.core.settings.sections import QueueSettings
from callboard.models import ModelRequest, ProviderChunk
from callboard.models.errors import RateLimited
from callboard.models.traffic.limit_state import Credential
from callboard.models.traffic.limiter import Limiter
from callboard.models.traffic.priority import is_interactive
from callboard.models.traffic.queue import QueueGate

PROVIDERS = ("x", "y")
SESSIONS = ("one", "two", "three", None)
UNLIMITED = 1000
SESSION_LIMITS = st.sampled_from([1, 2, 3, UNLIMITED, UNLIMITED])
PRIORITIES = (100, 84, 80, 60, 40, 20)


@dataclass
class Arrived:
    """What the machine knows of a call it made."""

    name: str
    provider: str
    priority: int
    session: str | None
    attempts: int = 0
    cancelled: bool = False


@dataclass
class Watchman(Prompter):
    """A provider that checks every call at its door."""

    machine: "QueueMachine | None" = None
    calls: dict[str, Arrived] = field(default_factory=dict)

    def __post_init__(self) -> None:
        Prompter.__init__(self, "Once ")

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderChunk]:
        assert self.machine is not None
        self.machine.at_the_door(request.prompt_text)
        async for chunk in Prompter.stream(self, request):
            yield chunk


class QueueMachine(RuleBasedStateMachine):
    """Calls arrive, end, fail, are refused or abandoned; limits change; time passes."""

    @initialize(
        global_limit=st.integers(1, 5),
        provider_limit=st.integers(1, 4),
        session_limit=SESSION_LIMITS,
        user_preemption=st.booleans(),
    )
    def open(
        self, global_limit: int, provider_limit: int, session_limit: int, user_preemption: bool
    ) -> None:
        self.loop = asyncio.new_event_loop()
        self.tasks: set[asyncio.Task[object]] = set()
        self.loop.set_task_factory(self.new_task)
        self.limits = QueueSettings(
            global_limit=global_limit,
            provider_limit=provider_limit,
            session_limit=session_limit,
            user_preemption=user_preemption,
        )
        self.time, self.notices, self.violations = HandTime(), Notices(), list[str]()
        self.calls: dict[str, Arrived] = {}
        # For each session that waits: how often each other session was served meanwhile.
        self.passed_by: dict[tuple[str, int, str | None], dict[str | None, int]] = {}
        self.provider = Watchman()
        self.provider.machine = self
        self.limiter = Limiter(clock=self.time, timer=self.time.after, jitter=lambda: 0.5)
        self.gate = QueueGate(
            direct(self.provider, *PROVIDERS),
            self.limits,
            limiter=self.limiter,
            notify=self.notices,
        )
        self.readers = Readers(self.gate)

    def new_task(self, loop: asyncio.AbstractEventLoop, work: Any, **more: Any) -> Any:
        task = asyncio.Task(work, loop=loop, **more)
        self.tasks.add(task)
        return task

    def settle(self) -> None:
        self.loop.run_until_complete(quiet())

    def in_task(self, action: object) -> None:
        async def act() -> None:
            action()  # type: ignore[operator]

            await quiet()

        self.loop.run_until_complete(act())

    # what may happen

    @rule(
        priority=st.sampled_from(PRIORITIES),
        session=st.sampled_from(SESSIONS),
        provider=st.sampled_from(PROVIDERS),
        count=st.integers(1, 4),
    )
    def arrive(self, priority: int, session: str | None, provider: str, count: int) -> None:
        names = [f"c{len(self.calls) + number}" for number in range(count)]

        def act() -> None:
            for name in names:
                self.calls[name] = Arrived(name, provider, priority, session)
                self.readers.ask(name, model=provider, priority=priority, session_id=session)

        self.in_task(act)

    @rule(data=st.data(), how=st.sampled_from(["finish", "finish", "fail", "refuse"]))
    def end(self, data: st.DataObject, how: str) -> None:
        names = [name for name, ending in self.provider.open.items() if not ending.done()]
        if not names:
            return
        name = data.draw(st.sampled_from(names))
        actions = {
            "finish": lambda: self.provider.finish(name),
            "fail": lambda: self.provider.fail(name, 500),
            "refuse": lambda: self.provider.fail(name, 429),
        }
        self.in_task(actions[how])

    @rule(data=st.data())
    def abandon(self, data: st.DataObject) -> None:
        names = [name for name, task in self.readers.tasks.items() if not task.done()]
        if not names:
            return
        name = data.draw(st.sampled_from(names))
        self.calls[name].cancelled = True
        self.in_task(self.readers.tasks[name].cancel)

    @rule(limits=st.fixed_dictionaries({}, optional={
        "global_limit": st.integers(1, 6),
        "session_limit": SESSION_LIMITS,
        "user_preemption": st.booleans(),
        "provider_limits": st.fixed_dictionaries({}, optional={
            "x": st.integers(1, 4), "y": st.integers(1, 4),
        }),
    }))  # fmt: skip
    def retune(self, limits: Mapping[str, object]) -> None:
        def act() -> None:
            self.gate.retune(**limits)  # type: ignore[arg-type]
            self.limits = self.gate.snapshot().limits

        self.in_task(act)

    @rule(seconds=st.floats(0.1, 70))
    def pass_time(self, seconds: float) -> None:
        self.in_task(lambda: self.time.advance(seconds))

    # what must always hold

    def at_the_door(self, name: str) -> None:
        """Check a call in the moment its provider hears of it."""
        call = self.calls[name]
        call.attempts += 1
        others = [self.calls[each] for each in self.provider.open]
        if self.limiter.is_paused(Credential(call.provider)):
            self.violations.append(f"{name} started during a pause")
        if len(others) >= self.limits.global_limit:
            self.violations.append(f"{name} exceeds the global limit")
        at_provider = [each for each in others if each.provider == call.provider]
        if len(at_provider) >= self.limits.of_provider(call.provider):
            self.violations.append(f"{name} exceeds its provider's limit")
        in_session = [each for each in others if each.session == call.session]
        is_limited = call.session is not None and not is_interactive(call.priority)
        if is_limited and len(in_session) >= self.limits.session_limit:
            self.violations.append(f"{name} exceeds its session's limit")
        self._count_turns(call)

    def _count_turns(self, call: Arrived) -> None:
        """Fairness: who can start is served before any other session is served twice."""
        if self.limits.session_limit != UNLIMITED:
            # A session at its limit is passed by rightly, if only for a moment nobody can see.
            self.passed_by.clear()
            return
        if call.attempts > 1 or is_interactive(call.priority):
            return
        mine = (call.provider, call.priority, call.session)
        self.passed_by.pop(mine, None)
        for kind in {
            (each.provider, each.priority, each.session)
            for each in self.waiting()
            if each.attempts == 0
        }:
            provider, priority, session = kind
            if (provider, priority) == mine[:2] and session != call.session:
                passed = self.passed_by.setdefault(kind, {})
                passed[call.session] = passed.get(call.session, 0) + 1
                if passed[call.session] > 1:
                    self.violations.append(f"{session} is passed by again and again")

    def _session_is_full(self, session: str | None) -> bool:
        if session is None:
            return False
        # Asked of the queue: a call may have its slot while its provider has not heard of it yet.
        held = self.gate.snapshot().in_flight
        count = sum(group.count for group in held if group.session_id == session)
        return count >= self.limits.session_limit

    def waiting(self) -> list[Arrived]:
        return [
            self.calls[name]
            for name, task in self.readers.tasks.items()
            if not task.done() and name not in self.provider.open
        ]

    @invariant()
    def nothing_was_violated(self) -> None:
        assert self.violations == [], self.violations

    @invariant()
    def the_books_balance(self) -> None:
        snapshot = self.gate.snapshot()
        alive = sum(not task.done() for task in self.readers.tasks.values())
        assert snapshot.in_flight_count == len(self.provider.open)
        assert snapshot.waiting_count == alive - len(self.provider.open)
        # The queue starts no task of its own: each one alive is a reader of ours.
        self.tasks = {task for task in self.tasks if not task.done()}
        assert len(self.tasks) == alive

    @invariant()
    def no_slot_is_idle_while_somebody_could_use_it(self) -> None:
        if len(self.provider.open) >= self.limits.global_limit:
            return
        for call in self.waiting():
            under_way = [self.calls[name] for name in self.provider.open]
            at_provider = sum(each.provider == call.provider for each in under_way)
            if at_provider >= self.limits.of_provider(call.provider):
                continue
            if not is_interactive(call.priority) and self._session_is_full(call.session):
                continue
            assert not self.limiter.may_start(Credential(call.provider)), f"{call} waits idly"

    @invariant()
    def no_user_waits_for_work_that_could_give_way(self) -> None:
        if not self.limits.user_preemption:
            return
        displaced: dict[int, int] = {}
        for body in self.notices.of(CallRequeued):
            if body.reason == "preempted":
                displaced[body.call] = displaced.get(body.call, 0) + 1
        assert all(count <= 3 for count in displaced.values())
        for call in self.waiting():
            if not is_interactive(call.priority):
                continue
            if not self.limiter.may_start(Credential(call.provider)):
                continue
            for name in self.provider.open:
                other = self.calls[name]
                number = list(self.calls).index(name) + 1
                if other.provider == call.provider and not is_interactive(other.priority):
                    assert displaced.get(number, 0) == 3, f"{call} waits for {other}"

    def teardown(self) -> None:
        if not hasattr(self, "loop"):
            return
        try:
            self.play_to_the_end()
        finally:
            self.limiter.close()
            for task in self.tasks:
                task.cancel()
            self.settle()
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
            self.loop.close()

    def play_to_the_end(self) -> None:
        for _ in range(2000):
            if all(task.done() for task in self.readers.tasks.values()):
                break
            self.in_task(lambda: self.provider.finish(*self.provider.open))
            self.in_task(lambda: self.time.advance(61))
        self.nothing_was_violated()
        self.the_books_balance()
        for name, task in self.readers.tasks.items():
            # Nothing is lost: a call ends with its answer, its failure, or because it was left.
            if self.calls[name].cancelled:
                assert task.cancelled() or task.exception() is not None or task.result()
            elif (error := task.exception()) is not None:
                assert isinstance(error, ProviderError)
                assert error.status == 500 or isinstance(error, RateLimited)
            else:
                assert task.result() == f"Once upon {name}"
        assert not self.provider.open
        assert self.gate.snapshot().waiting == self.gate.snapshot().in_flight == ()


TestQueueMachine = pytest.mark.req("ERR-124", "ERR-128", "ERR-129")(QueueMachine.TestCase)
TestQueueMachine.settings = settings(stateful_step_count=30)
