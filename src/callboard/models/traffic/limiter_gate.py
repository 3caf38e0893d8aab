"""The limiter's own gate: reports every provider's answer, and sends nothing while it is paused.

It stands close to the provider, so that retries and switches to another model are seen as well.
It does not wait: a call for a paused credential is refused, and whoever can wait does.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from callboard.core.errors import ErrorTier, ProviderError
from callboard.models.errors import CredentialPaused
from callboard.models.gate import Gate, WrapperGate
from callboard.models.traffic.limit_state import Credential, CredentialOf, keyless
from callboard.models.traffic.limiter import Limiter
from callboard.models.types import Chunk, Finished, ModelRequest


class LimiterGate(WrapperGate):
    """Tells the limiter what a provider answers with each credential."""

    def __init__(
        self, inner: Gate, limiter: Limiter, *, credential_of: CredentialOf = keyless
    ) -> None:
        """Take the gate to wrap and the limiter that all gates share."""
        super().__init__(inner)
        self._limiter = limiter
        self._credential_of = credential_of

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        """Yield the reply as it is written."""
        credential = await self._credential_of(request)
        if self._limiter.is_paused(credential):
            raise paused(credential, request.model)
        ticket = self._limiter.ticket(credential)
        try:
            async with aclosing(self.inner.stream(request)) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, Finished):
                        self._limiter.succeeded(ticket)
                    yield chunk
        except ProviderError as error:
            if is_rate_limit(error) and "credential" not in error.context:
                error.context["credential"] = credential.key
                self._limiter.limited(ticket, error.headers, request)
            raise


def is_rate_limit(error: ProviderError) -> bool:
    """Say whether the provider asked us to wait."""
    return error.tier is ErrorTier.EXTERNAL_RATE_LIMIT


def paused(credential: Credential, model: str) -> CredentialPaused:
    """Return the refusal of a call that would be sent into a pause."""
    return CredentialPaused(
        f"{credential.label} asked us to wait, so {model!r} is not called now.",
        fix="Wait until it resumes by itself, or choose a model of another provider.",
        model=model,
        credential=credential.key,
    )
