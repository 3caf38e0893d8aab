"""ToolService: the tools of one project behind one door, with their receipts and audit trail.

Inside a run, `execute` a call and `seal` its draft in the transaction that records the step, then
`sync_mirror`. Outside of runs `run` does all three.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from callboard.core import tracing
from callboard.core.canonical import Json, canonical_json
from callboard.core.classify import Classifier
from callboard.core.clock import Clock
from callboard.core.ids import IdMaker
from callboard.core.tracing import NoTracer, Span, Tracer
from callboard.core.vocabulary import Receipt
from callboard.store.database import Connection, Database
from callboard.store.faults import FaultPoints
from callboard.tools.audit.folder import Trail
from callboard.tools.audit.intents import IsAlive, abandoned_intents, drop_intent, store_intent
from callboard.tools.audit.mirror import MirrorIndex, sync_mirror
from callboard.tools.audit.receipts import ReceiptDraft, seal
from callboard.tools.audit.signing import Signer
from callboard.tools.executor import ToolCall, ToolExecution, ToolExecutor
from callboard.tools.files import ProjectFiles
from callboard.tools.permission import Nonces, NonceScope, Policy
from callboard.tools.registry import ToolRegistry
from callboard.tools.tool import ToolContext


@dataclass(frozen=True, slots=True)
class Ran:
    """A call that is over and on record."""

    execution: ToolExecution
    receipt: Receipt


class ToolService:
    """Runs tools for one project and keeps its audit trail."""

    def __init__(
        self,
        database: Database,
        root: Path,
        registry: ToolRegistry,
        *,
        trail: Trail,
        kept: Path,
        ids: IdMaker,
        clock: Clock,
        classifier: Classifier | None = None,
        hide: Callable[[Json], Json] | None = None,
        faults: FaultPoints | None = None,
        trace: Tracer | None = None,
        process_id: str = "",
    ) -> None:
        """Wire the room for a project folder; `kept` is where backups of its files go."""
        self.trace: Tracer = trace or NoTracer()
        self.registry = registry
        self.files = ProjectFiles(root, kept)
        self._database = database
        self._trail = trail
        self._mirrored = MirrorIndex(trail.folder)
        self._process_id = process_id
        self._faults = faults
        self._signer = Signer(trail)
        self._nonces = Nonces(database, self._signer, ids, clock)
        self._executor = ToolExecutor(
            registry, self.files, self._nonces, ids, clock, classifier, hide
        )

    async def execute(
        self,
        call: ToolCall,
        policy: Policy,
        *,
        on_cancel: Callable[[ReceiptDraft], None] | None = None,
        on_begin: Callable[[ReceiptDraft], Awaitable[None]] | None = None,
    ) -> ToolExecution:
        """Run a call if everything allows it; its draft is for the caller to seal."""
        act = partial(self._executor.execute, call, policy, on_cancel=on_cancel, on_begin=on_begin)
        if not self.trace.is_on:
            return await act()
        # Only a name that is known: what an agent makes up may be anything.
        name = call.tool if call.tool in self.registry else "unknown"
        said = {tracing.OPERATION: "execute_tool", tracing.TOOL_NAME: name}
        with self.trace.span(f"execute_tool {name}", said) as span:
            execution = await act()
            self._say(span, execution)
        return execution

    def _say(self, span: Span, execution: ToolExecution) -> None:
        draft = execution.draft
        span.set(tracing.TOOL_CALL, draft.id)
        span.set(tracing.CONVERSATION, draft.session_id)
        if execution.error is not None:
            span.fail(tracing.error_type(execution.error))
        if self.trace.shows_content:
            span.set(tracing.TOOL_ARGUMENTS, canonical_json(draft.args))
            span.set(tracing.TOOL_RESULT, draft.payload_json)

    def context(self, session_id: str) -> ToolContext:
        """Return what a tool would be given, for code that prepares calls."""
        return self._executor.context(session_id)

    async def observe(self, call: ToolCall) -> Json:
        """Look at what a call is about to change, for whoever may have to ask what became of it."""
        return await self._executor.observe(call)

    async def resolve(self, call: ToolCall, before: Json = None) -> ToolExecution | bool | None:
        """Look what became of an interrupted call: what it did, False, or None for unknown."""
        return await self._executor.resolve(call, before)

    def accept(self, call: ToolCall, told: str) -> ToolExecution:
        """Put an interrupted call on record that the human vouches for."""
        return self._executor.accept(call, told)

    def mint_nonce(self, scope: NonceScope) -> str:
        """Return a nonce an agent can use for one call."""
        return self._nonces.mint(scope)

    def check_nonce(self, nonce: str, scope: NonceScope) -> str:
        """Return the id of a nonce minted for this place; anything else is refused."""
        return self._nonces.check(nonce, scope)

    def spend_nonce(self, connection: Connection, nonce_id: str, scope: NonceScope) -> None:
        """Mark a checked nonce as used, inside a write transaction of the caller."""
        self._nonces.spend(connection, nonce_id, scope)

    def seal(self, connection: Connection, draft: ReceiptDraft) -> Receipt:
        """Append a draft to its session's chain, inside a write transaction of the caller."""
        return seal(connection, draft, self._signer)

    async def run(self, call: ToolCall, policy: Policy) -> Ran:
        """Execute a call outside of any run, and put it on record: before it acts, and after."""
        stopped: list[ReceiptDraft] = []
        try:
            execution = await self.execute(
                call, policy, on_cancel=stopped.append, on_begin=self._intend
            )
        except asyncio.CancelledError:
            for draft in stopped:
                await self._database.write(partial(self._conclude, draft=draft))
            raise
        receipt = await self._database.write(partial(self._conclude, draft=execution.draft))
        await self.sync_mirror(call.session_id)
        return Ran(execution, receipt)

    async def conclude_abandoned(self, is_alive: IsAlive) -> list[Receipt]:
        """Put calls on record as unknown whose process died before it could say how they ended."""

        def work(connection: Connection) -> list[Receipt]:
            drafts = abandoned_intents(connection, is_alive)
            return [self._conclude(connection, draft) for draft in drafts]

        if not self._database.read(lambda c: abandoned_intents(c, is_alive)):
            return []
        receipts = await self._database.write(work)
        for session_id in sorted({receipt.session_id for receipt in receipts}):
            await self.sync_mirror(session_id)
        return receipts

    async def _intend(self, draft: ReceiptDraft) -> None:
        await self._database.write(partial(store_intent, draft=draft, process_id=self._process_id))

    def _conclude(self, connection: Connection, draft: ReceiptDraft) -> Receipt:
        drop_intent(connection, draft.id)
        return self.seal(connection, draft)

    async def sync_mirror(self, session_id: str) -> int:
        """Bring a session's mirror up to date with the database; return the lines appended."""
        return await asyncio.to_thread(
            sync_mirror, self._database, self._trail.folder, session_id, self._faults
        )

    def is_signature_valid(self, receipt: Receipt) -> bool:
        """Say whether a receipt may be believed: as it is stored, and in the audit trail."""
        return self._mirrored.is_trustworthy(receipt, self._signer)
