"""Nonces: permission for one call, minted here, good for one place and one use.

A nonce carries a signature over what it is bound to, so minting stores nothing and a nonce that
was never minted is refused without asking anybody. Only uses are stored: that is what a restart
must not forget.
"""

import hmac
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from callboard.core.canonical import canonical_json
from callboard.core.clock import Clock
from callboard.core.ids import IdMaker
from callboard.store.database import Connection, Database
from callboard.tools.audit.signing import Signer
from callboard.tools.errors import NonceInvalid

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
