"""Amounts: what a call takes and costs, what a budget allows, in all four dimensions.

Arithmetic and prices in millionths of a dollar; knows no account and keeps no record.

Prices of the settings' catalog win over the bundled price list; models on this machine cost
nothing; of everything else the price is unknown, which is not the same as nothing.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from enum import StrEnum
from importlib import import_module
from typing import Final

from callboard.models.catalog import REPLAY, Catalog, Rates, asked_model, provider_of
from callboard.models.types import Usage

MICROUSD_PER_USD: Final = 1_000_000


class Dimension(StrEnum):
    """What is limited; the values are the names of the columns and fields."""

    MONEY = "microusd"
    TOKENS = "tokens"
    CALLS = "calls"
    TIME = "ms"

    @property
    def noun(self) -> str:
        """The dimension as people say it."""
        return {"microusd": "money", "tokens": "tokens", "calls": "calls", "ms": "time"}[self.value]

    def told(self, amount: int) -> str:
        """Return an amount of this dimension in words."""
        match self:
            case Dimension.MONEY:
                return f"${amount / MICROUSD_PER_USD:,.6f}".rstrip("0").rstrip(".")
            case Dimension.TIME:
                return f"{amount / 60_000:,.2f} min"
            case Dimension.TOKENS | Dimension.CALLS:
                return f"{amount:,} {self.noun if amount != 1 else self.noun[:-1]}"


@dataclass(frozen=True, slots=True)
class Amounts:
    """So much money (millionths of a dollar), tokens in and out, provider calls, milliseconds."""

    microusd: int = 0
    tokens: int = 0
    calls: int = 0
    ms: int = 0

    def __add__(self, other: "Amounts") -> "Amounts":
        """Return both together."""
        return Amounts(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def of(self, dimension: Dimension) -> int:
        """Return the amount in one dimension."""
        return int(getattr(self, dimension.value))


@dataclass(frozen=True, slots=True)
class Limits:
    """What a budget allows; `None`, zero and less mean unlimited."""

    microusd: int | None = None
    tokens: int | None = None
    calls: int | None = None
    ms: int | None = None

    @classmethod
    def make(
        cls,
        *,
        usd: float | None = None,
        tokens: int | None = None,
        calls: int | None = None,
        minutes: float | None = None,
    ) -> "Limits":
        """Return limits from the units people use."""
        return cls(
            None if usd is None else round(usd * MICROUSD_PER_USD),
            tokens,
            calls,
            None if minutes is None else round(minutes * 60_000),
        )

    def of(self, dimension: Dimension) -> int | None:
        """Return the limit in one dimension, or None if there is none."""
        value: int | None = getattr(self, dimension.value)
        return value if value is not None and value > 0 else None

    def limited(self) -> Iterator[tuple[Dimension, int]]:
        """Go through the dimensions that have a limit."""
        for dimension in Dimension:
            value = self.of(dimension)
            if value is not None:
                yield dimension, value

    @property
    def is_unlimited(self) -> bool:
        """Whether nothing is limited."""
        return not any(True for _ in self.limited())

    def on_top_of(self, spent: Amounts) -> "Limits":
        """Return the limits that leave so much beyond what is spent."""
        told = zip(astuple(self), astuple(spent), strict=True)
        return Limits(*(None if more is None else more + used for more, used in told))

    def over(self, default: "Limits") -> "Limits":
        """Return these limits, with the default's where these say nothing."""
        return Limits(
            *(
                getattr(default, each.name)
                if getattr(self, each.name) is None
                else getattr(self, each.name)
                for each in fields(self)
            )
        )


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
