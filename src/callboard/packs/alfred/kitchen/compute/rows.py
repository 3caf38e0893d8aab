"""Rows as the arithmetic reads them, what they add up to, and what needs a look."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from callboard.knowledge.entities.matching import name_key
from callboard.packs.alfred.kitchen.compute.amounts import convert

Row = Mapping[str, Any]
STAPLES: Final = ("salt", "pepper", "black pepper", "water", "oil", "olive oil", "vegetable oil")
"""What every kitchen has; configurable where functions are made."""


@dataclass(frozen=True, slots=True)
class FoodCatalogue:
    """The ingredients' own rows, by id; empty when they were not read."""

    by_id: Mapping[str, Row] = field(default_factory=dict[str, Row])

    @classmethod
    def of(cls, rows: Iterable[Row]) -> "FoodCatalogue":
        """Return the catalogue that rows make."""
        return cls({str(row["id"]): row for row in rows if row.get("id")})

    def facts(self, row: Row) -> Row:
        """Return what is known of a row's ingredient."""
        inner: Any = row.get("ingredient")
        if isinstance(inner, Mapping):
            return cast("Row", inner)
        return self.by_id.get(str(row.get("ingredient_id")), {})

    def name(self, row: Row) -> str:
        """Return the name of a row's ingredient."""
        inner: Any = row.get("ingredient")
        said = inner if isinstance(inner, str) else None
        name = row.get("name") or said or self.facts(row).get("name") or row.get("raw_text")
        return str(name or "")

    def density(self, row: Row) -> float | None:
        """Return the grams per millilitre of a row's ingredient, if known."""
        found = row.get("g_per_ml")
        return found if found is not None else self.facts(row).get("g_per_ml")

    def keys(self, row: Row) -> Iterator[str]:
        """Yield what a row's ingredient is found by: its id, and its name."""
        if row.get("ingredient_id"):
            yield f"#{row['ingredient_id']}"
        key = self.name_key(row)
        if key:
            yield key

    def name_key(self, row: Row) -> str:
        """Return the name of a row's ingredient, as names are compared."""
        known = self.facts(row).get("name_key")
        return str(known) if known else name_key(self.name(row))


@dataclass(frozen=True, slots=True)
class Available:
    """How much there is of an ingredient, in one unit."""

    quantity: float = 0.0
    # Whether some is there whose amount is not known or cannot be compared.
    is_unclear: bool = False
    is_there: bool = False


_NOTHING: Final = Available()


@dataclass(slots=True)
class Stock:
    """An inventory, found by ingredient; the first to expire comes first."""

    catalogue: FoodCatalogue
    by_key: dict[str, list[Row]] = field(default_factory=dict[str, list[Row]])
    # Lines ask for the same ingredient in the same unit again and again.
    _known: dict[tuple[str, str | None], Available] = field(
        default_factory=dict[tuple[str, str | None], Available]
    )

    @classmethod
    def of(cls, inventory: Iterable[Row], catalogue: FoodCatalogue | None = None) -> "Stock":
        """Return what is in stock; an empty row is nothing."""
        stock = cls(catalogue or FoodCatalogue())
        filled = (row for row in inventory if row.get("quantity") != 0)
        for row in sorted(filled, key=expiry_order):
            for key in stock.catalogue.keys(row):
                stock.by_key.setdefault(key, []).append(row)
        return stock

    def key(self, line: Row) -> str | None:
        """Return what a line's ingredient is found by here, if there is any of it."""
        return next((key for key in self.catalogue.keys(line) if key in self.by_key), None)

    def items(self, line: Row) -> Sequence[Row]:
        """Return what there is of a line's ingredient."""
        key = self.key(line)
        return () if key is None else self.by_key[key]

    def available(self, line: Row) -> Available:
        """Return how much there is of a line's ingredient, in the line's unit."""
        key = self.key(line)
        if key is None:
            return _NOTHING
        unit = line.get("unit")
        found = self._known.get((key, unit))
        if found is None:
            density = self.catalogue.density(line)
            found = self._known[key, unit] = _sum_of(self.by_key[key], unit, density)
        return found


def _sum_of(items: Iterable[Row], unit: str | None, density: float | None) -> Available:
    total, is_unclear = 0.0, False
    for item in items:
        have = item.get("quantity")
        own = density if density is not None else _density_in(item)
        converted = None if have is None else convert(have, item.get("unit"), unit, own)
        if converted is None:
            is_unclear = True
        else:
            total += converted
    return Available(total, is_unclear, is_there=True)


def _density_in(item: Row) -> float | None:
    inner: Any = item.get("ingredient")
    return cast("Row", inner).get("g_per_ml") if isinstance(inner, Mapping) else None


def expiry_order(row: Row) -> tuple[str, str]:
    """Sort what expires first to the front, and what never does to the end."""
    return (str(row.get("expires_on") or "9999-99-99"), str(row.get("id") or ""))


def ingredient_lines(recipe: Row) -> list[Row]:
    """Return a recipe's ingredient lines."""
    return list(cast("Iterable[Row]", recipe.get("ingredients") or ()))


def staple_keys(staples: Iterable[str]) -> frozenset[str]:
    """Return the names of what every kitchen has, as names are compared."""
    return frozenset(name_key(staple) for staple in staples)


def scale_of(recipe: Row, servings: float | None) -> float:
    """Return what a recipe's quantities are multiplied by.

    One that does not say for how many it is is taken as it is written; whoever asks for a number
    looks at `is_scalable` first.
    """
    own = float(recipe.get("servings") or 0)
    return 1.0 if not servings or own <= 0 else float(servings) / own


def is_scalable(recipe: Row) -> bool:
    """Say whether a recipe says for how many it is."""
    return float(recipe.get("servings") or 0) > 0


def with_mind(done: Row, recipes: Sequence[Row]) -> dict[str, Any]:
    """Return what was worked out, ahead of it why somebody must not eat the recipes it is about."""
    told = dict.fromkeys(str(each) for row in recipes for each in row.get("mind") or ())
    rest = {name: value for name, value in done.items() if name != "mind"}
    return {"mind": "; ".join(told), **rest} if told else rest
