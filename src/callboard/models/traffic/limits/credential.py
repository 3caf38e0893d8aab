"""Credential: whose allowance a call uses up. Holds a fingerprint, never a key."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

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


CredentialOf = Callable[[ModelRequest], Credential]
"""Tells which credential a request will be sent with."""


def fingerprint(secret: str) -> str:
    """Return a short name for a key from which the key cannot be found again."""
    return sha256(b"callboard:" + secret.encode()).hexdigest()[:8] if secret else ""


def provider_of(model: str) -> str:
    """Return the provider a model id names."""
    return model.partition(":")[0]


def keyless(request: ModelRequest) -> Credential:
    """Take every provider to be asked with one key only."""
    return Credential(provider_of(request.model))
