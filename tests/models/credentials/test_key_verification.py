"""A key is checked by a light call through each provider's own SDK, over real sockets."""

import asyncio
from typing import Any

import pytest

from callboard.core.errors import CallboardError, ErrorTier, ProviderError
from callboard.models import ProviderConfig, ProviderTimeout
from callboard.models.credentials import InvalidKey, Secret
from callboard.models.providers.verification import verify_key

pytestmark = pytest.mark.anyio

PROVIDERS = ("openai", "anthropic", "google", "mistral", "groq", "deepseek", "openrouter", "house")


@pytest.mark.parametrize("name", PROVIDERS)
async def test_a_good_key_is_accepted_by_every_sdk(provider: Any, good_key: str, name: str) -> None:
    await verify_key(name, Secret(good_key), ProviderConfig(base_url=provider.url), {})
    (path,) = provider.paths
    assert path.partition("?")[0].endswith("/key" if name == "openrouter" else "/models")


@pytest.mark.req("TOOL-93")
@pytest.mark.parametrize("name", PROVIDERS)
async def test_a_bad_key_is_named_invalid_and_not_shown(
    provider: Any, bad_key: str, name: str
) -> None:
    with pytest.raises(InvalidKey, match="Invalid API key for") as caught:
        await verify_key(name, Secret(bad_key), ProviderConfig(base_url=provider.url), {})
    assert caught.value.tier is ErrorTier.USER_FIXABLE
    assert len(provider.paths) == 1, "a refused key is not tried again"
    assert bad_key not in _everything(caught.value)


async def test_google_says_400_to_a_key_it_does_not_know(provider: Any, bad_key: str) -> None:
    provider.status = 400
    with pytest.raises(ProviderError) as caught:
        await verify_key("google", Secret(bad_key), ProviderConfig(base_url=provider.url), {})
    assert not isinstance(caught.value, InvalidKey)
    assert bad_key not in _everything(caught.value)


@pytest.mark.parametrize("status", [404, 500])
async def test_a_server_that_cannot_tell_leaves_the_choice_to_the_user(
    provider: Any, bad_key: str, status: int
) -> None:
    provider.status = status
    with pytest.raises(ProviderError, match="could not be checked") as caught:
        await verify_key("house", Secret(bad_key), ProviderConfig(base_url=provider.url), {})
    assert "--no-verify" in (caught.value.fix or "")
    assert bad_key not in _everything(caught.value)


@pytest.mark.req("TOOL-93")
async def test_a_silent_server_is_given_up_in_time(provider: Any, good_key: str) -> None:
    provider.hang.clear()
    with pytest.raises(ProviderTimeout, match="did not answer"):
        config = ProviderConfig(base_url=provider.url)
        await verify_key("house", Secret(good_key), config, {}, timeout_seconds=0.3)
    # It was still silent when it was given up.
    assert not provider.hang.is_set()


async def test_verifying_leaves_no_task_behind(provider: Any, bad_key: str) -> None:
    before = asyncio.all_tasks()
    with pytest.raises(CallboardError):
        await verify_key("house", Secret(bad_key), ProviderConfig(base_url=provider.url), {})
    assert asyncio.all_tasks() == before


def _everything(error: BaseException) -> str:
    seen: list[str] = []
    link: BaseException | None = error
    while link is not None:
        seen.append(f"{link!r} {link} {vars(link)!r}")
        link = link.__cause__ or link.__context__
    return " ".join(seen)
