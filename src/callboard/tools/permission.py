"""Permission: who may use which tool, and nonces that are good for one place and one use.

What a reply asks for is data; nothing in it can widen a policy.

A nonce carries a signature over what it is bound to, so minting stores nothing and a nonce that
was never minted is refused without asking anybody. Only uses are stored: that is what a restart
must not forget.
"""

import hmac
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from callboard.core.canonical import canonical_json
from callboard.core.clock import Clock
from callboard.core.ids import IdMaker
from callboard.core.vocabulary import Agent, Effect
from callboard.store.database import Connection, Database
from callboard.tools.audit.signing import Signer
from callboard.tools.errors import CallRefused, NonceInvalid
from callboard.tools.tool import Tool


@dataclass(frozen=True, slots=True)
class Policy:
    """What one caller may do in one session.

    `role_tools` is None for the user and for the machinery, which have no role; for an agent an
    empty set means no tools. `session_tools` is what the session allows; empty means all.
    """

    role_tools: frozenset[str] | None = None
    session_tools: frozenset[str] = field(default_factory=frozenset[str])
    read_only: bool = False
    is_closed: bool = False
    agent_id: str | None = None

    @classmethod
    def for_agent(
        cls, agent: Agent, *, session_tools: frozenset[str] = frozenset(), read_only: bool = False
    ) -> "Policy":
        """Return what an agent's role allows within the session's limits."""
        return cls(agent.tools, session_tools, read_only, agent_id=agent.id)

    @classmethod
    def closed(cls, agent_id: str | None = None) -> "Policy":
        """Return a policy under which no tool is ever run."""
        return cls(is_closed=True, agent_id=agent_id)

    def check(self, tool: Tool, *, dry_run: bool = False) -> None:
        """Refuse the call unless role, session and mode all allow it."""
        if self.is_closed:
            raise _refusal(tool, "no tools may be used here", "closed")
        if self.role_tools is not None and tool.for_machinery:
            raise _refusal(tool, "only the machinery may use it, whatever a role says", "machinery")
        if self.role_tools is not None and tool.id not in self.role_tools:
            who = f"agent {self.agent_id}" if self.agent_id else "this role"
            raise _refusal(tool, f"{who} may use {_names(self.role_tools)}", "role")
        if self.session_tools and tool.id not in self.session_tools:
            raise _refusal(tool, f"the session allows {_names(self.session_tools)}", "session")
        if self.read_only and tool.effect is not Effect.PURE and not dry_run:
            raise _refusal(tool, "the session is read-only", "read_only")

    def allows(self, tool: Tool) -> bool:
        """Say whether a call of the tool would be let through."""
        try:
            self.check(tool)
        except CallRefused:
            return False
        return True


def _refusal(tool: Tool, why: str, rule: str) -> CallRefused:
    return CallRefused(
        f"Tool {tool.id} was not run: {why}",
        fix="Use an allowed tool, or let the user change the role or the session's settings.",
        tool=tool.id,
        rule=rule,
    )


def _names(ids: Iterable[str]) -> str:
    return ", ".join(sorted(ids)) or "no tools"


_PURPOSE: Final = "nonce"
_PROOF_CHARS: Final = 16


@dataclass(frozen=True, slots=True)
class NonceScope:
    """What a nonce is good for; without a tool it is good for any one tool of that step."""

    session_id: str
    run_id: str | None = None
    step_key: str | None = None
    tool: str | None = None


class Nonces:
    """The nonces of one project."""

    def __init__(self, database: Database, signer: Signer, ids: IdMaker, clock: Clock) -> None:
        """Take where uses are remembered and what proves that a nonce is ours."""
        self._database = database
        self._signer = signer
        self._ids = ids
        self._clock = clock

    def mint(self, scope: NonceScope) -> str:
        """Return a new nonce to hand to an agent."""
        nonce_id = self._ids.make("nonce")
        return f"{nonce_id}.{self._proof(nonce_id, scope)}"

    def make_id(self) -> str:
        """Return an id for a call the machinery makes itself; nobody can present it as a nonce."""
        return self._ids.make("nonce")

    async def use(self, nonce: str, scope: NonceScope) -> str:
        """Spend a nonce and return its id; durable before this returns, so it works only once."""
        nonce_id = self.check(nonce, scope)
        await self._database.write(partial(self.spend, nonce_id=nonce_id, scope=scope))
        return nonce_id

    def spend(self, connection: Connection, nonce_id: str, scope: NonceScope) -> None:
        """Mark a checked nonce as used, in a transaction of the caller; the second time fails."""
        row = connection.execute(
            "INSERT INTO used_nonces (nonce, session_id, used_at)"
            " VALUES (:nonce, :session_id, :used_at)"
            " ON CONFLICT (nonce) DO NOTHING RETURNING nonce",
            {"nonce": nonce_id, "session_id": scope.session_id, "used_at": self._clock.now_ms()},
        ).fetchone()
        if row is None:
            raise NonceInvalid(
                f"The nonce {nonce_id} was used before",
                fix="Every call needs its own nonce; use the newest one you were given.",
            )

    def check(self, nonce: str, scope: NonceScope) -> str:
        """Return the id of a nonce that was minted for this place, or refuse it."""
        nonce_id, _, proof = nonce.partition(".")
        for candidate in (scope, replace(scope, tool=None)):
            expected = self._proof(nonce_id, candidate).encode()
            if hmac.compare_digest(expected, proof.encode("utf-8", "surrogatepass")):
                return nonce_id
        raise NonceInvalid(
            "The nonce was not minted for this session, step and tool",
            fix="Copy the nonce exactly as it was given for this step.",
        )

    def _proof(self, nonce_id: str, scope: NonceScope) -> str:
        bound = [nonce_id, scope.session_id, scope.run_id, scope.step_key, scope.tool]
        return self._signer.sign(_PURPOSE, canonical_json(bound))[-_PROOF_CHARS:]


def shown_nonce(nonce: str) -> str:
    """Return the part of a presented nonce that may be written down: never a usable one."""
    return nonce.partition(".")[0].encode("utf-8", "replace").decode()[:64]
