"""Amounts: what a call takes, what a budget allows, in all four dimensions. Arithmetic only."""

from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from enum import StrEnum
from typing import Final

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
