"""Credential: whose allowance a call uses up. Holds a fingerprint, never a key."""

from collections.abc import Awaitable, Callable, Container
from dataclasses import dataclass
from hashlib import sha256

from callboard.models.credentials import Secret, account_of
from callboard.models.model_id import provider_of, sent_model
from callboard.models.types import ModelRequest


@dataclass(frozen=True, slots=True)
class Credential:
    """A provider and the fingerprint of the key it is asked with; empty without a key."""

    provider: str
    fingerprint: str = ""

    @classmethod
    def from_key(cls, key: str) -> "Credential":
        """Read the stored name back."""
        provider, _, mark = key.rpartition("#")
        return cls(provider, mark)

    @property
    def key(self) -> str:
        """The name under which the state of this credential is stored."""
        return f"{self.provider}#{self.fingerprint}"

    @property
    def label(self) -> str:
        """The name people see."""
        if not self.fingerprint:
            return self.provider
        return f"{self.provider} (key {self.fingerprint})"


CredentialOf = Callable[[ModelRequest], Awaitable[Credential]]
"""Tells which credential a request will be sent with; the first look for a key may take a while."""


def fingerprint(secret: str) -> str:
    """Return a short name for a key from which the key cannot be found again."""
    return sha256(b"callboard:" + secret.encode()).hexdigest()[:8] if secret else ""


def credentials_of(
    key_of: Callable[[str], Awaitable[Secret | None]], without_key: Container[str]
) -> CredentialOf:
    """Return the credentials of requests whose keys are found by `key_of`.

    Providers in `without_key` answer on this machine. Names of one provider that share a key are
    one credential.
    """

    async def credential_of(request: ModelRequest) -> Credential:
        model = sent_model(request.model)
        provider = model.partition(":")[0]
        if provider in without_key:
            return Credential(provider)
        secret = await key_of(model)
        mark = "" if secret is None else fingerprint(secret.reveal())
        return Credential(account_of(provider), mark)

    return credential_of


async def keyless(request: ModelRequest) -> Credential:
    """Take every provider to be asked with one key only."""
    return Credential(provider_of(request.model))
