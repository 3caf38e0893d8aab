"""Where keys come from: a name goes in, a key, a service account's file or nothing comes out.

All failures are for the user to fix, and none quotes a key.

Also the table of providers whose keys have a usual place.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol, cast

from callboard.core.canonical import compact_json
from callboard.core.errors import CallboardError, ErrorTier, Fault, InvalidInput
from callboard.models.credentials.secret import Secret
from callboard.models.errors import MissingKey

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


_NEEDED: Final = ("client_email", "private_key", "token_uri", "project_id")


def service_account(text: str) -> Secret:
    """Return a service account's file as one secret."""
    content = _content(text)
    missing = [name for name in _NEEDED if not content.get(name)]
    if content.get("type") != "service_account" or missing:
        lacks = f": it has no {', '.join(missing)}" if missing else ""
        raise InvalidInput(
            f"This is not the file of a service account{lacks}.",
            fix="Create a key of type JSON for the service account, and name the file you get.",
        )
    return Secret(compact_json(content))


def service_account_info(secret: Secret | None) -> dict[str, Any] | None:
    """Return what a service account's secret holds; of a plain key nothing."""
    if secret is None or not secret.reveal().startswith("{"):
        return None
    return _content(secret.reveal())


def _content(text: str) -> dict[str, Any]:
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError):
        content = None
    return cast("dict[str, Any]", content) if isinstance(content, dict) else {}


class CredentialsUnreadable(CallboardError):
    """The encrypted file is damaged, or was made by somebody else or on another machine."""

    code = "credentials_unreadable"
    tier = ErrorTier.USER_FIXABLE


class CredentialsUnusable(CallboardError):
    """Keys cannot be kept here."""

    code = "credentials_unusable"
    tier = ErrorTier.USER_FIXABLE


class UnknownProvider(InvalidInput):
    """A provider was named that nobody knows."""

    code = "unknown_provider"
    fault = Fault.MISSING


class InvalidKey(MissingKey):
    """The provider does not accept the key."""

    code = "invalid_key"
