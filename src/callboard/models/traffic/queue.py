"""The queue before the models: who goes next, how many at once, and who makes room for the user.

It decides when a call starts, never what becomes of it: errors pass through, except that a call
the provider refused as one too many waits here for the credential to open again. Nothing is ever
dropped: a call ends with its answer, its error, or when its reader leaves.
"""

from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from itertools import count
from typing import Final

from callboard.core.errors import ProviderError
from callboard.core.events import CallRequeued
from callboard.core.settings.sections import QueueSettings
from callboard.models.errors import CredentialPaused, QueueClosed, RateLimited
from callboard.models.gate import Gate, WrapperGate
from callboard.models.traffic.limit_state import Credential, CredentialOf, Ticket, keyless
from callboard.models.traffic.limiter import Limiter
from callboard.models.traffic.limiter_gate import is_rate_limit
from callboard.models.traffic.line import GaveWay, QueuedCall, WaitingLine
from callboard.models.traffic.priority import effective
from callboard.models.traffic.slots import QueueSnapshot, Slots, grouped
from callboard.models.types import (
    Chunk,
    Finished,
    ModelRequest,
    Notify,
    Restarted,
    TextChunk,
    Working,
    say_nothing,
)

_PREEMPTED: Final = "preempted"
_LIMITED: Final = "rate_limited"
_WORDS: Final = {
    _PREEMPTED: "It made room for the user and starts again.",
    _LIMITED: "The provider asked us to wait; it starts again afterwards.",
}


class QueueGate(WrapperGate):
    """Lets calls through by priority, within limits, the user's own always first."""

    def __init__(
        self,
        inner: Gate,
        limits: QueueSettings | None = None,
        *,
        limiter: Limiter | None = None,
        credential_of: CredentialOf = keyless,
        notify: Notify = say_nothing,
    ) -> None:
        """Take the gate to wrap; without a limiter a rate limit is an error like any other."""
        super().__init__(inner)
        self._line = WaitingLine()
        self._slots = Slots(limits or QueueSettings())
        self._limiter = limiter
        self._credential_of = credential_of
        self._notify = notify
        self._numbers = count(1)
        self._is_closed = False
        self._is_dispatching = False
        if limiter is not None:
            limiter.listen(self._dispatch)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        """Wait for a slot, then yield the reply as it is written."""
        call = await self._enter(request)
        try:
            while True:
                if call.is_waiting:
                    call.is_read = False
                    yield Working("waiting for a slot")
                    call.is_read = True
                await call.wait()
                call.start()
                try:
                    async with aclosing(self.inner.stream(request)) as chunks:
                        while (chunk := await call.pull(chunks)) is not None:
                            self._watch(call, chunk)
                            if isinstance(chunk, Finished):
                                break
                            call.is_read = False
                            yield chunk
                            call.is_read = True
                    # The slot is free before the reader gets the answer and does what it likes.
                    self._leave(call)
                    if chunk is not None:
                        yield chunk
                    return
                except GaveWay:
                    reason = _PREEMPTED
                except ProviderError as error:
                    reason = self._judge(call, error)
                self._requeue(call, reason)
                call.is_read = False
                yield Restarted(_WORDS[reason])
                call.is_read = True
        finally:
            self._leave(call)

    async def close(self) -> None:
        """Refuse everybody who waits or comes, stop the limiter, then close the gate inside."""
        self._is_closed = True
        if self._limiter is not None:
            self._limiter.close()
        for call in list(self._line):
            self._line.remove(call)
            call.refuse(_closed(call.request))
        await self.inner.close()

    def snapshot(self) -> QueueSnapshot:
        """Return who waits and who is under way."""
        views = () if self._limiter is None else self._limiter.views()
        return QueueSnapshot(
            grouped(self._line),
            grouped(self._slots.calls),
            self._slots.limits,
            tuple(view for view in views if view.is_paused),
        )

    def retune(
        self,
        *,
        global_limit: int | None = None,
        provider_limits: Mapping[str, int] | None = None,
        session_limit: int | None = None,
        user_preemption: bool | None = None,
    ) -> None:
        """Change limits at once; calls under way beyond a lower limit finish undisturbed."""
        limits = self._slots.limits
        self._slots.limits = limits.retuned(
            global_limit=global_limit,
            provider_limits=provider_limits and {**limits.provider_limits, **provider_limits},
            session_limit=session_limit,
            user_preemption=user_preemption,
        )
        self._dispatch()

    async def _enter(self, request: ModelRequest) -> QueuedCall:
        credential = await self._credential_of(request)
        if self._is_closed:
            raise _closed(request)
        call = QueuedCall(next(self._numbers), request, effective(request.priority), credential)
        self._line.add(call)
        self._dispatch()
        return call

    def _leave(self, call: QueuedCall) -> None:
        if call.is_waiting:
            self._line.remove(call)
        elif call.ticket is not None:
            self._free(call)
            self._dispatch()

    def _free(self, call: QueuedCall) -> None:
        if self._limiter is not None and call.ticket is not None:
            self._limiter.left(call.ticket)
        self._slots.free(call)
        call.ticket, call.is_leaving = None, False

    def _requeue(self, call: QueuedCall, reason: str) -> None:
        """Let a call that had started wait again, ahead of its equals."""
        if reason == _PREEMPTED:
            call.preemptions += 1
        times = call.preemptions if reason == _PREEMPTED else call.limited
        body = CallRequeued(
            call.number, call.request.model, call.priority, reason, times, call.partial
        )
        call.goes_first = True
        self._free(call)
        if call.limited_by is not None:
            call.credential, call.limited_by = call.limited_by, None
        self._line.add(call)
        self._notify(body, call.request)
        self._dispatch()

    def _watch(self, call: QueuedCall, chunk: Chunk) -> None:
        """Tell the limiter what an answer means for its credential."""
        if self._limiter is None or call.ticket is None:
            return
        if isinstance(chunk, TextChunk) and len(call.parts) == 1:
            if self._limiter.answered(call.ticket):
                self._dispatch()
        elif isinstance(chunk, Finished) and chunk.reply.switched_from is None:
            self._limiter.succeeded(call.ticket)

    def _judge(self, call: QueuedCall, error: ProviderError) -> str:
        """Return why a failed call waits again, or raise its error."""
        limiter, ticket = self._limiter, call.ticket
        if limiter is None or ticket is None:
            raise error
        if not is_rate_limit(error):
            limiter.answered(ticket)
            raise error
        key = error.context.get("credential")
        if isinstance(key, str):
            # Somebody closer to the provider has seen it and told the limiter.
            call.limited_by = Credential.from_key(key)
        else:
            limiter.limited(ticket, error.headers, call.request)
        if not isinstance(error, CredentialPaused):
            call.limited += 1
        if call.limited >= limiter.policy.max_attempts:
            raise _given_up(call, error) from error
        return _LIMITED

    def _dispatch(self) -> None:
        """Start everybody who may, then make room for users who still wait."""
        # Starting a call may end a pause, and that calls for a dispatch: this one is under way.
        if self._is_dispatching or not self._line:
            return
        self._is_dispatching = True
        try:
            if self._limiter is not None:
                self._limiter.refresh()
            while not self._slots.is_full:
                call = self._line.first(self._is_open, self._slots.has_room_for)
                if call is None:
                    break
                self._line.remove(call, was_served=True)
                self._slots.take(call)
                call.grant(self._start(call.credential))
        finally:
            self._is_dispatching = False
        if self._slots.limits.user_preemption:
            self._make_room()

    def _is_open(self, credential: Credential) -> bool:
        return self._slots.room_at(credential.provider) > 0 and self._may_start(credential)

    def _may_start(self, credential: Credential) -> bool:
        return self._limiter is None or self._limiter.may_start(credential)

    def _start(self, credential: Credential) -> Ticket:
        if self._limiter is None:
            return Ticket(credential, 0)
        return self._limiter.started(credential)

    def _make_room(self) -> None:
        """Ask calls to give way for users who wait for want of a slot, one for each user."""
        wanted: Counter[str] = Counter()
        for credential, waiting in self._line.interactive():
            if self._may_start(credential):
                wanted[credential.provider] += waiting
        anywhere, claimed = 0, 0
        for provider, waiting in wanted.items():
            room = self._slots.room_at(provider)
            if room:
                # Its provider would take it: any slot of this process will do.
                anywhere += min(room, waiting)
                continue
            self._preempt(waiting - self._slots.leaving(provider), provider)
            claimed += min(waiting, self._slots.leaving(provider))
        if anywhere and self._slots.is_full:
            self._preempt(anywhere - (self._slots.leaving() - claimed))

    def _preempt(self, times: int, provider: str | None = None) -> None:
        for _ in range(times):
            victim = self._slots.victim(provider)
            if victim is None:
                return
            victim.give_way()


def _closed(request: ModelRequest) -> QueueClosed:
    return QueueClosed(
        f"The call to {request.model!r} was not made: the queue is closed.",
        fix="Open the project again, then retry the run.",
        model=request.model,
    )


def _given_up(call: QueuedCall, error: ProviderError) -> RateLimited:
    return RateLimited(
        f"Model {call.request.model!r} refused {call.limited} attempts as too many requests.",
        status=error.status,
        headers=error.headers,
        partial=error.partial or call.partial or None,
        fix="Wait for the provider's limit to refill, lower the queue's limits, or choose"
        " another model; then retry the run.",
        model=call.request.model,
        attempts=call.limited,
    )
