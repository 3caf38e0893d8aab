"""Where a remote provider is reached and which key goes there. Opens no connection itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from callboard.core.errors import InvalidInput
from callboard.core.places import without_user
from callboard.models.credentials import (
    FoundKey,
    KeyPlace,
    KeySource,
    Secret,
    Tie,
    Ties,
    account_of,
    address_of,
    service_account_info,
    variables_of,
)
from callboard.models.errors import KeyNotTied, MissingKey, UnknownModel

if TYPE_CHECKING:
    from pydantic_ai.providers import Provider

_NAMES: Final = {"google-gla": "google", "google-vertex": "google-cloud"}
_CLOUD: Final = "google-cloud"
_OWN_URL: Final = ("anthropic", "google", "mistral", "groq", "ollama")
"""Providers whose own protocol is spoken at a configured address; all others speak OpenAI's."""
_DEFAULT_URLS: Final = {"ollama": "http://localhost:11434/v1"}
_OWN_ADDRESSES: Final = {
    "openai": "https://api.openai.com:443",
    "anthropic": "https://api.anthropic.com:443",
    "google": "https://generativelanguage.googleapis.com:443",
    "mistral": "https://api.mistral.ai:443",
    "groq": "https://api.groq.com:443",
    "xai": "https://api.x.ai:443",
    "deepseek": "https://api.deepseek.com:443",
    "openrouter": "https://openrouter.ai:443",
    "ollama": "http://localhost:11434",
}
"""Where a provider's key goes without being tied: to the provider."""
_URL_VARIABLES: Final = {"openai": "OPENAI_BASE_URL", "ollama": "OLLAMA_BASE_URL"}
# Without a placeholder the SDK would send whatever key it finds in the environment.
_NO_KEY: Final = "no-key"


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    """How to reach a provider: a known one with its own address or key, or a new name.

    A name pydantic-ai does not know needs a `base_url` and speaks the OpenAI protocol. `aliases`
    are the user's own names for its models. One that is not `enabled` is never asked.
    `is_url_own` and `is_key_own` say that address and variable were chosen by the user, not by
    something that arrived with a project.
    """

    base_url: str | None = None
    api_key_env: str | None = None
    enabled: bool = True
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])
    is_url_own: bool = True
    is_key_own: bool = True


@dataclass(frozen=True, slots=True)
class Address:
    """A provider as it is reached: `known` is pydantic-ai's name, `url` replaces its own place."""

    given: str
    known: str
    url: str | None
    variables: tuple[str, ...]
    is_key_required: bool
    config: ProviderConfig = field(default_factory=ProviderConfig)

    @property
    def kind(self) -> str:
        """The protocol spoken, as pydantic-ai names it."""
        return self.known if self.known in _OWN_URL or self.url is None else "openai-chat"

    @property
    def account(self) -> str:
        """The name under which its key is kept."""
        return account_of(self.known)

    @property
    def place(self) -> str:
        """Scheme, host and port; empty for the provider's own."""
        place = "" if self.url is None else address_of(self.url)
        return "" if place == _OWN_ADDRESSES.get(self.account) else place

    def find_key(self, keys: KeySource, ties: Ties) -> Secret | None:
        """Return the key that goes there; one that is missing where it is needed is an error.

        So is one that nobody tied to this address.
        """
        found = keys.find(self.account, self.variables)
        if not self._is_settled(found):
            self.require_tie(ties, None if found is None else found.variable)
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

    def require_tie(self, ties: Ties, variable: str | None = None) -> None:
        """Raise unless the user tied the key, or the one in a variable, to this address."""
        usual = variable is None or variable in variables_of(self.known)
        wanted = Tie(self.account, self.place, None if usual else variable)
        if wanted in ties.all():
            return
        whose = f"the key in {variable}" if variable else f"the key of {self.account!r}"
        where = f"to {without_user(self.url)}" if self.place and self.url else "to it"
        command = f"callboard auth tie {self.account}"
        command += f" --url {wanted.address}" if wanted.address else ""
        command += f" --env {wanted.variable}" if wanted.variable else ""
        raise KeyNotTied(
            f"The provider {self.given!r} is not asked: you have not tied {whose} {where}, and "
            "whoever answers there would get it and the prompt.",
            fix=f"If you trust that address, run `{command}`; or set `base_url` and `api_key_env` "
            "together in your own config.yaml.",
            provider=self.given,
            address=self.place,
        )

    def _is_settled(self, found: FoundKey | None) -> bool:
        """Say whether what goes there was decided by the user without any tie."""
        config = self.config
        chosen = config.api_key_env is not None and config.api_key_env not in variables_of(
            self.known
        )
        if chosen and not config.is_key_own and found is not None:
            return False
        if not self.place:
            return True
        if config.base_url is not None and not config.is_url_own:
            # Not even a prompt goes where a clone wants it.
            return False
        if found is None:
            return True
        if config.base_url is None:
            # Address and key stand side by side in the user's environment.
            return found.place is KeyPlace.ENVIRONMENT
        is_paired = found.variable is not None and found.variable == config.api_key_env
        return is_paired and config.is_key_own

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
    if url is not None:
        _refuse_user(given, url)
    return Address(given, known, url, variables, is_required, config)


def _refuse_user(given: str, url: str) -> None:
    """Raise for an address with a password in it, and for one that is none."""
    try:
        address_of(url)
    except InvalidInput as error:
        raise UnknownModel(
            f"The provider {given!r} cannot be reached: {error.message}",
            fix=error.fix,
            provider=given,
        ) from None
