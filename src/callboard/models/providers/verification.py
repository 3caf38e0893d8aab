"""A light call that shows whether a provider accepts a key: it lists models and asks none."""

import asyncio
from collections.abc import Awaitable, Mapping
from typing import Any, Final

from callboard.core.classify import Classifier, status_of
from callboard.core.errors import ProviderError
from callboard.models.credentials import InvalidKey, Secret, Ties, UnknownProvider
from callboard.models.errors import ProviderTimeout
from callboard.models.providers.address import Address, ProviderConfig, locate
from callboard.models.providers.wire import WireLog, provider_error

_REFUSALS: Final = (401, 403)
_TITLES: Final = {
    "openai": "OpenAI",
    "anthropic": "Anthropic",
    "google": "Google",
    "google-cloud": "Google Cloud",
    "mistral": "Mistral",
    "groq": "Groq",
    "xai": "xAI",
    "deepseek": "DeepSeek",
    "openrouter": "OpenRouter",
}
_KEY_PATHS: Final = {"openrouter": "/key"}
"""Providers that list their models to everybody, with a path that only a key opens."""


async def verify_key(
    provider: str,
    secret: Secret,
    config: ProviderConfig,
    environ: Mapping[str, str],
    *,
    ties: Ties | None = None,
    timeout_seconds: float = 10.0,
) -> None:
    """Return if the provider accepts the key, else raise what is wrong with it or on the way.

    The key goes to no address that came with a project, unless the user tied it to that.
    """
    address = locate(provider, config, environ)
    if address.place and not config.is_url_own:
        address.require_tie(ties or Ties())
    title = title_of(provider)
    try:
        async with asyncio.timeout(timeout_seconds):
            await _list_models(address, secret)
            return
    except TimeoutError:
        raise ProviderTimeout(
            f"{title} did not answer within {timeout_seconds:g} seconds.",
            fix="Check the network and the address, or store the key unchecked: `--no-verify`.",
        ) from None
    except UnknownProvider:
        raise
    except Exception as error:  # noqa: BLE001 - the border to the SDKs: always raised anew
        failure = _failure(error, provider, secret)
    # Outside of the handler: the SDK's error may quote the key and must not travel along.
    raise failure


def title_of(provider: str) -> str:
    """Return a provider's name as its owners write it."""
    return _TITLES.get(provider, provider)


async def _list_models(address: Address, secret: Secret) -> None:
    # Off the loop: the first use imports a provider's whole SDK.
    try:
        opened = await asyncio.to_thread(address.open, secret)
    except (ImportError, ValueError) as error:
        raise UnknownProvider(
            f"The provider {address.given!r} cannot be used: {error}",
            fix="Install what is missing, or configure its `base_url`.",
        ) from None
    wire_log = WireLog()
    wire_log.watch(secret)
    try:
        async with opened:
            await _asking(address, opened.client)
    finally:
        wire_log.release()


def _asking(address: Address, client: Any) -> Awaitable[Any]:
    """Return the call that lists models, under the name each SDK has for it."""
    if address.kind in ("google", "google-cloud"):
        return client.aio.models.list(config={"page_size": 1})
    if address.kind == "mistral":
        return client.models.list_async()
    # One attempt: the user waits, and a wrong key does not get better.
    once = client.with_options(max_retries=0)
    path = _KEY_PATHS.get(address.known)
    return once.models.list() if path is None else once.get(path, cast_to=object)


def _failure(error: Exception, provider: str, secret: Secret) -> Exception:
    status = _status(error)
    # Google answers 400 to a key it does not know.
    is_unknown = status == 400 and "api key not valid" in str(error).lower()
    if status in _REFUSALS or is_unknown:
        return InvalidKey(
            f"Invalid API key for {title_of(provider)}",
            status=status,
            fix="Copy the key again from the provider's page, or make a new one.",
        )
    known = provider_error(error, provider, secret, Classifier())
    words = known.message.partition(" failed: ")[2] or known.message
    return ProviderError(
        f"The key could not be checked. {title_of(provider)} said: {words}",
        status=status,
        tier=known.tier,
        fix="Try again later, or store the key unchecked: `--no-verify`.",
    )


def _status(error: Exception) -> int | None:
    code = getattr(error, "code", None)
    return code if isinstance(code, int) else status_of(error)
