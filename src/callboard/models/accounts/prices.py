"""Prices: what a call costs, in millionths of a dollar. Knows no budget and keeps no record.

Prices of the settings' catalog win over the bundled price list; models on this machine cost
nothing; of everything else the price is unknown, which is not the same as nothing.
"""

import asyncio
from importlib import import_module
from typing import Final

from callboard.models.accounts.amounts import MICROUSD_PER_USD
from callboard.models.catalog import Catalog, Rates
from callboard.models.model_id import REPLAY, asked_model, provider_of
from callboard.models.types import Usage

FREE_PROVIDERS: Final = frozenset({"local", "script", REPLAY, "ollama"})
# Names of ours that the price list spells otherwise.
_PROVIDER_NAMES: Final = {
    "openai-chat": "openai",
    "openai-responses": "openai",
    "google-gla": "google",
    "google-vertex": "google",
    "google-cloud": "google",
    "grok": "x-ai",
    "xai": "x-ai",
}


class Prices:
    """Prices calls; the bundled price list is loaded at the first call that needs it."""

    def __init__(
        self, catalog: Catalog | None = None, free_providers: frozenset[str] = FREE_PROVIDERS
    ) -> None:
        """Take the catalog whose prices win, and the providers that cost nothing."""
        self._catalog = catalog
        self._free = free_providers
        self._is_loaded = False
        # Models the price list does not hold; asking it again costs more than remembering.
        self._unknown: set[str] = set()

    async def prepare(self, model: str) -> None:
        """Load the price list if this model needs it, off the event loop: it is large."""
        if self._is_loaded or self._own_rates(model) is not None:
            return
        await asyncio.to_thread(_load)
        self._is_loaded = True

    def cost(self, model: str, usage: Usage) -> int | None:
        """Return what a call cost in millionths of a dollar, or None if nobody knows."""
        rates = self._own_rates(model)
        if rates is not None:
            return _at_rates(rates, usage)
        if model in self._unknown:
            return None
        listed = _listed(model, usage)
        if listed is None:
            self._unknown.add(model)
        return listed

    def _own_rates(self, model: str) -> Rates | None:
        provider = provider_of(model)
        facts = self._catalog.facts(asked_model(model)) if self._catalog is not None else None
        if facts is not None and facts.price is not None and provider != REPLAY:
            return facts.price
        return Rates(0.0, 0.0) if provider in self._free else None


def _at_rates(rates: Rates, usage: Usage) -> int:
    cached = min(usage.cached_tokens, usage.input_tokens)
    cached_rate = rates.input_usd if rates.cached_usd is None else rates.cached_usd
    # Dollars per million tokens are millionths of a dollar per token.
    return round(
        (usage.input_tokens - cached) * rates.input_usd
        + cached * cached_rate
        + usage.output_tokens * rates.output_usd
    )


def _load() -> None:
    import_module("genai_prices")


def _listed(model: str, usage: Usage) -> int | None:
    from genai_prices import Usage as ListedUsage
    from genai_prices import calc_price

    given = provider_of(model)
    name = asked_model(model).partition(":")[2]
    counted = ListedUsage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=min(usage.cached_tokens, usage.input_tokens),
    )
    try:
        price = calc_price(counted, name, provider_id=_PROVIDER_NAMES.get(given, given))
    except LookupError:
        return None
    return round(price.total_price * MICROUSD_PER_USD)
