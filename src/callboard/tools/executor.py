"""Executor: checks a call, runs it in time, and drafts its receipt. Writes no receipt itself.

Whatever happens, one draft comes out: for what succeeded, failed, timed out, was refused or was
stopped. The caller seals it in the same transaction as the step the call belongs to.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Final, cast

from pydantic import BaseModel

from callboard.core.canonical import Json, canonical_json
from callboard.core.classify import Classifier
from callboard.core.clock import Clock
from callboard.core.errors import CallboardError, ErrorRecord
from callboard.core.ids import IdMaker
from callboard.core.vocabulary import Effect, ReceiptOutcome
from callboard.tools.audit.receipts import ReceiptDraft
from callboard.tools.bounds import checked_result, clean, clean_args, in_time, split_dry_run
from callboard.tools.errors import CallRefused, ToolCancelled, ToolError
from callboard.tools.files import ProjectFiles
from callboard.tools.permission import Nonces, NonceScope, Policy, shown_nonce
from callboard.tools.registry import ToolRegistry
from callboard.tools.result import ToolResult
from callboard.tools.tool import DRY_RUN_ARG, Kept, Tool, ToolContext

_HIDDEN: Final = "(hidden)"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A request to run a tool: data until it is checked.

    `nonce` is what an agent was given for this call; None means that the machinery or the user
    calls, and a nonce is made on the spot. `permit` is the id of a nonce that was spent already,
    in the transaction that recorded the decision to let the call through.
    """

    tool: str
    args: dict[str, Json]
    session_id: str
    run_id: str | None = None
    step_key: str | None = None
    agent_id: str | None = None
    nonce: str | None = None
    permit: str | None = None


@dataclass(frozen=True, slots=True)
class ToolExecution:
    """How a call ended: a result or an error, and the receipt to be sealed."""

    draft: ReceiptDraft
    result: ToolResult | None = None
    error: CallboardError | None = None

    def unwrap(self) -> ToolResult:
        """Return the result, or raise the error."""
        if self.result is None:
            raise self.error or ToolError("The execution left neither a result nor an error")
        return self.result


@dataclass(slots=True)
class _Attempt:
    call: ToolCall
    receipt_id: str
    created_at: int
    started: float
    args: dict[str, Json]
    nonce: str = ""
    detail: dict[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class _Admitted:
    tool: Tool
    args: BaseModel
    dry_run: bool

    @property
    def has_effect(self) -> bool:
        return self.tool.effect is not Effect.PURE and not self.dry_run


class ToolExecutor:
    """The one door through which every tool of a project is run."""

    def __init__(
        self,
        registry: ToolRegistry,
        files: ProjectFiles,
        nonces: Nonces,
        ids: IdMaker,
        clock: Clock,
        classifier: Classifier | None = None,
        hide: Callable[[Json], Json] | None = None,
    ) -> None:
        """Take what calls are checked against, what tools may touch, and what hides secrets."""
        self._registry = registry
        self._files = files
        self._nonces = nonces
        self._ids = ids
        self._clock = clock
        self._classifier = classifier or Classifier()
        self._kept = Kept()
        self._hide = hide or _as_it_is

    async def execute(
        self,
        call: ToolCall,
        policy: Policy,
        *,
        on_cancel: Callable[[ReceiptDraft], None] | None = None,
        on_begin: Callable[[ReceiptDraft], Awaitable[None]] | None = None,
    ) -> ToolExecution:
        """Run a call if everything allows it; only cancellation leaves by another door.

        `on_cancel` is handed the draft of an execution that was stopped half-way. `on_begin` is
        handed the draft of one that is about to have an effect, and finishes before it has.
        """
        attempt = self._begin(call)
        try:
            admitted = await self._admit(attempt, policy)
        except CallRefused as refusal:
            attempt.args = self._without_secrets(attempt)
            return self._ended(attempt, ReceiptOutcome.REFUSED, refusal)
        if on_begin is not None and admitted.has_effect:
            await on_begin(self._draft(attempt, ReceiptOutcome.UNKNOWN))
        try:
            result = await self._run(attempt, admitted)
        except CallboardError as error:
            return self._ended(attempt, _outcome_of(error, admitted), error)
        except asyncio.CancelledError:
            if on_cancel is not None:
                stopped = ToolCancelled(f"Tool {call.tool} was stopped while it ran")
                on_cancel(self._ended(attempt, _outcome_of(stopped, admitted), stopped).draft)
            raise
        return ToolExecution(self._draft(attempt, ReceiptOutcome.SUCCEEDED, result=result), result)

    async def observe(self, call: ToolCall) -> Json:
        """Look at what a `once` call is about to change; None if its tool has nothing to look at.

        Arguments that do not fit show nothing: the call itself will be refused for them.
        """
        if call.tool not in self._registry:
            return None
        tool = self._registry.get(call.tool)
        if tool.observe is None:
            return None
        try:
            return await in_time(tool, tool.observe(self._context(call), tool.parse(call.args)))
        except CallboardError:
            return None

    async def resolve(self, call: ToolCall, before: Json = None) -> ToolExecution | bool | None:
        """Look what became of an interrupted `once` call, by what was observed before it.

        Returns an execution if it happened, False if it did not, None if nobody can tell.
        """
        tool = self._registry.get(call.tool)
        if tool.probe is None:
            return None
        attempt = self._begin(call)
        attempt.nonce = self._nonces.make_id()
        args = tool.parse(call.args)
        attempt.args = clean_args(tool.id, args.model_dump(mode="json"))
        attempt.detail["resolved_by"] = "probe"
        context = replace(self._context(call), before=before)
        probe = await in_time(tool, tool.probe(context, args))
        if not probe.happened:
            return probe.happened
        result = self._checked(probe.result or ToolResult({}, "it had happened"), tool)
        return ToolExecution(self._draft(attempt, ReceiptOutcome.SUCCEEDED, result=result), result)

    def context(self, session_id: str) -> ToolContext:
        """Return what a tool would be given that is called in a session outside of any run."""
        return ToolContext(self._files, session_id, kept=self._kept)

    def accept(self, call: ToolCall, told: str) -> ToolExecution:
        """Draft the receipt of an interrupted call that the human vouches for."""
        tool = self._registry.get(call.tool)
        attempt = self._begin(call)
        attempt.nonce = self._nonces.make_id()
        attempt.args = clean_args(tool.id, tool.parse(call.args).model_dump(mode="json"))
        attempt.detail["resolved_by"] = "human"
        result = ToolResult({}, told)
        return ToolExecution(self._draft(attempt, ReceiptOutcome.UNKNOWN, result=result), result)

    def _begin(self, call: ToolCall) -> _Attempt:
        return _Attempt(
            call=call,
            receipt_id=self._ids.make("receipt"),
            created_at=self._clock.now_ms(),
            started=self._clock.monotonic(),
            args={},
            nonce=call.permit or ("" if call.nonce is None else shown_nonce(call.nonce)),
        )

    async def _admit(self, attempt: _Attempt, policy: Policy) -> _Admitted:
        call = attempt.call
        attempt.args = clean_args(call.tool, call.args)
        tool = self._registry.get(call.tool)
        raw, dry_run = split_dry_run(tool, attempt.args)
        policy.check(tool, dry_run=dry_run)
        args = tool.parse(raw)
        attempt.args = clean_args(tool.id, args.model_dump(mode="json"))
        if dry_run:
            attempt.args[DRY_RUN_ARG] = attempt.detail["dry_run"] = True
        # Last, so that a call that could not have run leaves its nonce unspent.
        if call.nonce is None:
            attempt.nonce = call.permit or self._nonces.make_id()
        else:
            scope = NonceScope(call.session_id, call.run_id, call.step_key, tool.id)
            attempt.nonce = await self._nonces.use(call.nonce, scope)
        return _Admitted(tool, args, dry_run)

    async def _run(self, attempt: _Attempt, admitted: _Admitted) -> ToolResult:
        tool, context = admitted.tool, self._context(attempt.call)
        if admitted.dry_run and tool.dry_run is not None:
            plan = await in_time(tool, tool.dry_run(context, admitted.args))
            return self._checked(plan.as_result(), tool)
        return self._checked(await in_time(tool, tool.function(context, admitted.args)), tool)

    def _checked(self, result: object, tool: Tool) -> ToolResult:
        """Return a result as it may be stored and shown."""
        checked = checked_result(result, tool)
        payload = cast("dict[str, Json]", self._hide(checked.payload))
        preview, summary = self._hide([checked.preview, checked.summary])
        return ToolResult(payload, preview, summary, checked.file_refs)

    def _without_secrets(self, attempt: _Attempt) -> dict[str, Json]:
        if attempt.call.tool not in self._registry:
            return attempt.args
        hidden = self._registry.get(attempt.call.tool).secret_args()
        return {name: _HIDDEN if name in hidden else attempt.args[name] for name in attempt.args}

    def _context(self, call: ToolCall) -> ToolContext:
        return ToolContext(
            self._files, call.session_id, call.run_id, call.step_key, call.agent_id, self._kept
        )

    def _ended(
        self, attempt: _Attempt, outcome: ReceiptOutcome, error: CallboardError
    ) -> ToolExecution:
        record = self._classifier.record(error)
        return ToolExecution(self._draft(attempt, outcome, error=record), error=error)

    def _draft(
        self,
        attempt: _Attempt,
        outcome: ReceiptOutcome,
        *,
        result: ToolResult | None = None,
        error: ErrorRecord | None = None,
    ) -> ReceiptDraft:
        call = attempt.call
        return ReceiptDraft(
            id=attempt.receipt_id,
            session_id=call.session_id,
            tool=clean(call.tool[:80]),
            args=self._hide(attempt.args),
            outcome=outcome,
            payload_json="null" if result is None else canonical_json(result.payload),
            preview="" if result is None else result.preview,
            summary="" if result is None else result.summary,
            file_refs=() if result is None else tuple(ref.to_json() for ref in result.file_refs),
            error=None
            if error is None
            else ErrorRecord.from_json(self._hide(clean(error.to_json()))),
            agent_id=call.agent_id,
            run_id=call.run_id,
            step_key=call.step_key,
            nonce=attempt.nonce,
            created_at=attempt.created_at,
            duration_ms=round((self._clock.monotonic() - attempt.started) * 1000),
            detail=attempt.detail,
        )


def _as_it_is(value: Json) -> Json:
    return value


def _outcome_of(error: CallboardError, admitted: _Admitted) -> ReceiptOutcome:
    # Whether an effect took place that was begun is not known until somebody looks.
    is_begun = admitted.tool.effect is Effect.ONCE and not admitted.dry_run
    in_doubt = is_begun and not error.is_refusal
    return ReceiptOutcome.UNKNOWN if in_doubt else ReceiptOutcome.FAILED
