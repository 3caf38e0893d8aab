"""Where a remote provider is reached and which key goes there. Opens no connection itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from callboard.models.credentials import (
    KeySource,
    Secret,
    account_of,
    service_account_info,
    variables_of,
)
from callboard.models.errors import MissingKey, UnknownModel

if TYPE_CHECKING:
    from pydantic_ai.providers import Provider

_NAMES: Final = {"google-gla": "google", "google-vertex": "google-cloud"}
_CLOUD: Final = "google-cloud"
_OWN_URL: Final = ("anthropic", "google", "mistral", "groq", "ollama")
"""Providers whose own protocol is spoken at a configured address; all others speak OpenAI's."""
_DEFAULT_URLS: Final = {"ollama": "http://localhost:11434/v1"}
_URL_VARIABLES: Final = {"openai": "OPENAI_BASE_URL", "ollama": "OLLAMA_BASE_URL"}
# Without a placeholder the SDK would send whatever key it finds in the environment.
_NO_KEY: Final = "no-key"


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    """How to reach a provider: a known one with its own address or key, or a new name.

    A name pydantic-ai does not know needs a `base_url` and speaks the OpenAI protocol. `aliases`
    are the user's own names for its models. One that is not `enabled` is never asked.
    """

    base_url: str | None = None
    api_key_env: str | None = None
    enabled: bool = True
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Address:
    """A provider as it is reached: `known` is pydantic-ai's name, `url` replaces its own place."""

    given: str
    known: str
    url: str | None
    variables: tuple[str, ...]
    is_key_required: bool

    @property
    def kind(self) -> str:
        """The protocol spoken, as pydantic-ai names it."""
        return self.known if self.known in _OWN_URL or self.url is None else "openai-chat"

    @property
    def account(self) -> str:
        """The name under which its key is kept."""
        return account_of(self.known)

    def find_key(self, keys: KeySource) -> Secret | None:
        """Return the key that goes there; one that is missing where it is needed is an error."""
        found = keys.find(self.account, self.variables)
        if found is not None:
            return found.secret
        if not self.is_key_required or not self.variables:
            return None
        raise MissingKey(
            f"The provider {self.known!r} needs a key: no credentials found for "
            f"{self.account!r}, and {self.variables[0]} is not set.",
            fix=f"Run `callboard auth {self.account}`, set the environment variable "
            f"{self.variables[0]}, or use the model `local`.",
            variable=self.variables[0],
        )

    def open(self, secret: Secret | None) -> "Provider[Any]":
        """Return pydantic-ai's provider for this address."""
        from pydantic_ai.providers import infer_provider_class
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        account = service_account_info(secret)
        if account is not None:
            return _as_service_account(self.known, account)
        key = _NO_KEY if secret is None else secret.reveal()
        if self.url is not None and self.known not in _OWN_URL:
            return OpenAICompatibleProvider(self.known, base_url=self.url, api_key=key)
        options: dict[str, str] = {}
        if secret is not None or self.url is not None:
            options["api_key"] = key
        if self.url is not None:
            options["base_url"] = self.url
        return infer_provider_class(self.known)(**options)


def _as_service_account(known: str, account: dict[str, Any]) -> "Provider[Any]":
    from google.oauth2.service_account import Credentials
    from pydantic_ai.providers import infer_provider_class

    if known != _CLOUD:
        raise ValueError(f"a service account is for {_CLOUD!r}, not for {known!r}")
    scopes = ["https://www.googleapis.com/auth/cloud-platform"]
    made: Any = Credentials.from_service_account_info(account, scopes=scopes)  # pyright: ignore[reportUnknownMemberType]
    maker: Any = infer_provider_class(_CLOUD)
    return maker(credentials=made, project=account["project_id"])


def locate(given: str, config: ProviderConfig, environ: Mapping[str, str]) -> Address:
    """Return where a provider is reached."""
    if not config.enabled:
        raise UnknownModel(
            f"The provider {given!r} is switched off.",
            fix=f"Set `models.providers.{given}.enabled: true`, or choose another model.",
            provider=given,
        )
    known = _NAMES.get(given, given)
    url = config.base_url or environ.get(_URL_VARIABLES.get(known, ""))
    url = url or _DEFAULT_URLS.get(known)
    variables = (config.api_key_env,) if config.api_key_env else variables_of(known)
    is_required = url is None or config.api_key_env is not None
    return Address(given, known, url, variables, is_required)
