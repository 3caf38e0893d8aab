"""Where keys come from, as whoever sends them sees it: a name goes in, a key or nothing comes out.

Also the table of providers whose keys have a usual place.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from callboard.models.credentials.secret import Secret

KEY_VARIABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "mistral": ("MISTRAL_API_KEY",),
    "groq": ("GROQ_API_KEY",),
    "xai": ("XAI_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "together": ("TOGETHER_API_KEY",),
    "fireworks": ("FIREWORKS_API_KEY",),
    "cerebras": ("CEREBRAS_API_KEY",),
    "cohere": ("CO_API_KEY",),
    "google-cloud": (),
}
"""The environment variables of each provider's key, in order; others find theirs by themselves."""

_ACCOUNTS: Final = {
    "openai-chat": "openai",
    "openai-responses": "openai",
    "google-gla": "google",
    "gemini": "google",
    "google-vertex": "google-cloud",
}
"""Names under which a provider is asked that share another one's key."""


class KeyPlace(StrEnum):
    """The places where a key can lie, in the order they are searched."""

    ENVIRONMENT = "environment"
    PROJECT = "project"
    KEYRING = "keyring"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class FoundKey:
    """A key and where it was found; `variable` names the environment variable, if it was one."""

    secret: Secret
    place: KeyPlace
    variable: str | None = None


class KeySource(Protocol):
    """Finds the keys of providers."""

    def find(self, account: str, variables: tuple[str, ...]) -> FoundKey | None:
        """Return the first key found for a provider; the variables are looked at first."""
        ...


class EnvironmentKeys:
    """Keys from environment variables and nowhere else."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Take the environment."""
        self._environ = environ

    def find(self, account: str, variables: tuple[str, ...]) -> FoundKey | None:
        """Return the key in the first variable that is not empty."""
        for name in variables:
            value = self._environ.get(name, "").strip()
            if value:
                return FoundKey(Secret(value), KeyPlace.ENVIRONMENT, name)
        return None


def account_of(provider: str) -> str:
    """Return the name under which a provider's key is kept."""
    return _ACCOUNTS.get(provider, provider)


def variables_of(provider: str) -> tuple[str, ...]:
    """Return the environment variables in which a provider's key is usually found."""
    return KEY_VARIABLES.get(account_of(provider), ())
