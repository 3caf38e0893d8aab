"""Cookable: the best matches among very many recipes, without reading all of them.

The database tells which ingredients recipes lack altogether; that is the least they can lack. From
the most promising on, recipes are read and matched exactly, until no other can be better. What
comes out is what `match_recipes` makes of all rows.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import heapify, heappop
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from callboard.packs.alfred.kitchen.compute.matching import (
    Match,
    MatchOptions,
    best,
    match_of,
    match_order,
    tagged,
)
from callboard.packs.alfred.kitchen.compute.rows import FoodCatalogue, Stock
from callboard.packs.alfred.kitchen.food.checking import Eater, check_for, is_allowed
from callboard.packs.alfred.kitchen.rules.links import Links

if TYPE_CHECKING:
    from sqlalchemy import Connection

DEFAULT_LIMIT: Final = 20
_CHUNK: Final = 50
# So many recipes are looked through one by one rather than all that hold something.
_FEW: Final = 2_000
Row = dict[str, Any]
# What a recipe is sorted by at best, as `match_order` has it; its id comes last.
Bound = tuple[Any, ...]
Counts = Mapping[str, int]


def match_in_database(
    connection: "Connection", user_id: str, eater: Eater, options: MatchOptions
) -> list[Match]:
    """Return somebody's best matches, at most `options.limit`."""
    wanted = replace(options, limit=DEFAULT_LIMIT if options.limit is None else options.limit)
    search = _Search(connection, user_id, eater, wanted)
    return search.run()


class _Search:
    """One search through one user's recipes."""

    def __init__(
        self, connection: "Connection", user_id: str, eater: Eater, options: MatchOptions
    ) -> None:
        self.connection = connection
        self.user_id = user_id
        self.eater = eater
        self.options = options
        self.catalogue = FoodCatalogue.of(self._all(_CATALOGUE))
        self.stock = Stock.of(self._all(_STOCK, user=user_id), self.catalogue)

    def run(self) -> list[Match]:
        limit = self.options.limit or 0
        found: list[Match] = []
        for chunk in _chunks(self._bounds(), max(_CHUNK, limit)):
            if len(found) >= limit and match_order(found[limit - 1]) <= chunk[0]:
                break
            found = best([*found, *self._exact([bound[-1] for bound in chunk])], self.options)
        return found

    def _bounds(self) -> Iterator[Bound]:
        """Yield recipes as good as they can be at most, the best first."""
        stocked = {key[1:] for key in self.stock.by_key if key.startswith("#")}
        staples = self.options.staples
        absent = [
            key
            for key, row in self.catalogue.by_id.items()
            if key not in stocked and row["name_key"] not in staples
        ]
        lacking = self._lacking(absent)
        expiring = self._counts(_USING, [key for key in stocked if self._expires_soon(key)])
        yield from self._ordered(lacking, expiring)

    def _lacking(self, absent: Sequence[str]) -> Counts:
        """Return how many required ingredients recipes lack, counted from the shorter side."""
        there = self.catalogue.by_id.keys() - set(absent)
        if len(absent) <= len(there):
            return self._counts(_NEEDING, absent)
        found = self._counts(_NEEDING, there)
        sizes = _tuples(self.connection.execute(_text(_SIZES), {"user": self.user_id}))
        return {key: required - found.get(key, 0) for key, required in sizes}

    def _ordered(self, lacking: Counts, expiring: Counts) -> Iterator[Bound]:
        by_lack: dict[int, list[tuple[Any, ...]]] = {}
        found = self.connection.execute(_text(_RECIPES), {"user": self.user_id})
        for recipe in _tuples(found):
            by_lack.setdefault(lacking.get(recipe[0], 0), []).append(recipe)
        forbidden = self._forbidden()
        most = self.options.max_missing
        for lack in sorted(by_lack):
            if most is not None and lack > most:
                return
            held = self._holding(forbidden, [recipe[0] for recipe in by_lack[lack]])
            bounds = [
                (lack, -expiring.get(key, 0), -(rating or 0), name_key, key)
                for key, name_key, rating in by_lack[lack]
                if key not in held
            ]
            # Hardly ever more than the first few are looked at: sorting all would be wasted.
            heapify(bounds)
            while bounds:
                yield heappop(bounds)

    def _expires_soon(self, ingredient_id: str) -> bool:
        first = self.stock.by_key[f"#{ingredient_id}"][0]["expires_on"]
        return first is not None and first <= self.options.soon

    def _forbidden(self) -> set[str]:
        if not self.eater.has_limits:
            return set()
        return {
            key
            for key, row in self.catalogue.by_id.items()
            if not is_allowed(self.eater, str(row["name"]), row["allergen_tags"])
        }

    def _exact(self, recipe_ids: Sequence[str]) -> Iterator[Match]:
        """Yield the recipes somebody may eat, matched line by line."""
        recipes = self._all(_SOME_RECIPES, ids=recipe_ids)
        lines = _by_recipe(self._all(_SOME_LINES, ids=recipe_ids))
        # Only who checks what people eat looks at these.
        checked = (
            {
                "tags": _by_recipe(self._all(_SOME_TAGS, ids=recipe_ids)),
                "steps": _by_recipe(self._all(_SOME_STEPS, ids=recipe_ids)),
            }
            if self.eater.has_limits
            else {}
        )
        for whole in self._linked(recipes, lines, checked):
            key = whole["id"]
            if key in lines and not check_for(self.eater, tagged(whole, self.catalogue)):
                yield match_of(whole, self.stock, self.options)

    def _linked(
        self, recipes: Sequence[Row], lines: Mapping[Any, list[Row]], checked: Mapping[str, Any]
    ) -> Sequence[Row]:
        """Return recipes as a whole; who must not eat something looks into those they link to."""
        wholes: list[Row] = []
        for recipe in recipes:
            beside = {name: rows.get(recipe["id"], []) for name, rows in checked.items()}
            named = [self._named(line) for line in lines.get(recipe["id"], [])]
            wholes.append({**recipe, "ingredients": named, **beside})
        if not self.eater.has_limits:
            return wholes
        return Links(self.connection, self.user_id).followed(wholes)

    def _named(self, line: Row) -> Row:
        known = self.catalogue.by_id.get(str(line.get("ingredient_id"))) or {}
        return {"name": known.get("name"), **line}

    def _counts(self, statement: str, ingredient_ids: Collection[str]) -> Counts:
        """Return how many of some ingredients recipes use; one that uses none is not there."""
        if not ingredient_ids:
            return {}
        values = {"user": self.user_id, "ids": self._ids(ingredient_ids)}
        return dict(_tuples(self.connection.execute(self._listing(statement), values)))

    def _holding(self, ingredient_ids: Collection[str], among: Sequence[str]) -> set[str]:
        """Return the recipes that hold any of some ingredients: all of some recipes, or more."""
        if not ingredient_ids:
            return set()
        if len(among) <= _FEW:
            lines = self._all(_SOME_FOOD, ids=among)
            return {each["recipe_id"] for each in lines if each["ingredient_id"] in ingredient_ids}
        values = {"user": self.user_id, "ids": self._ids(ingredient_ids)}
        found = self.connection.execute(self._listing(_HOLDING), values)
        return {each[0] for each in _tuples(found)}

    def _all(self, statement: str, ids: Collection[str] = (), **values: str) -> list[Row]:
        if ids:
            values["ids"] = self._ids(ids)
        found = self.connection.execute(self._listing(statement), values)
        names = tuple(found.keys())
        return [_decoded(dict(zip(names, row, strict=True))) for row in _tuples(found)]

    def _listing(self, statement: str) -> Any:
        """Return a statement with the dialect's way to ask for many ids by one value."""
        is_sqlite = self.connection.dialect.name == "sqlite"
        many = (
            "(SELECT value FROM json_each(:ids))"
            if is_sqlite
            else "(SELECT jsonb_array_elements_text(CAST(:ids AS jsonb)))"
        )
        return _text(statement.replace(":many", many))

    def _ids(self, ids: Collection[str]) -> str:
        return json.dumps(sorted(ids))


_CATALOGUE: Final = "SELECT id, name, name_key, g_per_ml, category, allergen_tags FROM ingredients"
_STOCK: Final = (
    "SELECT id, ingredient_id, quantity, unit, expires_on FROM inventory_items"
    " WHERE user_id = :user"
)
_SIZES: Final = "SELECT recipe_id, required FROM recipe_sizes WHERE user_id = :user"
_NEEDING: Final = (
    "SELECT recipe_id, count(*) FROM recipe_ingredients WHERE user_id = :user"
    " AND ingredient_id IN :many AND optional = false GROUP BY recipe_id"
)
# A recipe may name an ingredient twice; it is used up once.
_USING: Final = (
    "SELECT recipe_id, count(DISTINCT ingredient_id) FROM recipe_ingredients WHERE user_id = :user"
    " AND ingredient_id IN :many GROUP BY recipe_id"
)
_HOLDING: Final = (
    "SELECT DISTINCT recipe_id FROM recipe_ingredients WHERE user_id = :user"
    " AND ingredient_id IN :many"
)
_RECIPES: Final = (
    "SELECT id, name_key, rating FROM recipes WHERE user_id = :user AND archived_at IS NULL"
)
_SOME_RECIPES: Final = (
    "SELECT id, name, description, notes, rating, total_minutes, servings FROM recipes"
    " WHERE id IN :many"
)
_SOME_LINES: Final = (
    "SELECT recipe_id, ingredient_id, quantity, unit, optional, preparation, raw_text"
    " FROM recipe_ingredients WHERE recipe_id IN :many ORDER BY recipe_id, position"
)
_SOME_FOOD: Final = (
    "SELECT recipe_id, ingredient_id FROM recipe_ingredients WHERE recipe_id IN :many"
)
_SOME_TAGS: Final = (
    "SELECT recipe_id, tag FROM recipe_tags WHERE recipe_id IN :many ORDER BY recipe_id, tag"
)

_SOME_STEPS: Final = (
    "SELECT recipe_id, text FROM recipe_steps WHERE recipe_id IN :many ORDER BY recipe_id, position"
)


def _text(statement: str) -> Any:
    from sqlalchemy import text

    return text(statement)


def _tuples(found: Any) -> list[tuple[Any, ...]]:
    """Return rows as the driver gives them: there are very many."""
    return found.cursor.fetchall()


def _decoded(row: Row) -> Row:
    """Return a row whose lists are lists: a plain statement gives SQLite's as text."""
    tags = row.get("allergen_tags")
    if isinstance(tags, str):
        row["allergen_tags"] = json.loads(tags)
    return row


def _by_recipe(rows: Iterable[Row]) -> dict[Any, list[Row]]:
    return {key: list(group) for key, group in groupby(rows, key=lambda row: row["recipe_id"])}


def _chunks(bounds: Iterator[Bound], size: int) -> Iterator[list[Bound]]:
    chunk: list[Bound] = []
    for bound in bounds:
        chunk.append(bound)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
