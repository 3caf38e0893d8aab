"""Joining: names find their ingredient; what is there already takes up what comes, and says so."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from callboard.choreography.turn.requests import WriteError
from callboard.knowledge.entities.matching import name_key
from callboard.library.relational.dates import WriteMoment
from callboard.library.relational.rules import Joined
from callboard.library.relational.tables import Tables
from callboard.packs.alfred.kitchen.compute.amounts import convert, rounded, spoken_amount
from callboard.packs.alfred.kitchen.food.foods import FoodFacts, category_words, food_facts
from callboard.packs.alfred.kitchen.food.groups import allergens_in
from callboard.packs.alfred.kitchen.food.household import is_common
from callboard.packs.alfred.kitchen.food.naming import objection, unquoted

if TYPE_CHECKING:
    from sqlalchemy import Connection

FUZZY_FROM: Final = 92
LONGEST_NAME: Final = 200


@dataclass(frozen=True, slots=True)
class Ingredient:
    """A row of the catalogue."""

    id: str
    name: str
    category: str
    g_per_ml: float | None
    default_unit: str | None


@dataclass(frozen=True, slots=True)
class IngredientCatalogue:
    """Finds ingredients by name within a transaction, and adds the ones that are not there."""

    connection: "Connection"
    tables: Tables
    new_id: Callable[[], str]
    now: str
    user_id: str
    # Told to the user afterwards.
    notes: list[str]

    def find(self, name: str) -> Ingredient | None:
        """Return what a name means: its key, an alias, or one that is almost the same."""
        key = name_key(_checked(name))
        return self._by_key(key) or self._by_alias(key) or self._near(key, name)

    def named(self, said: str) -> str:
        """Return the name of what is kept or bought; a sentence about it raises."""
        name, is_quoted = unquoted(_checked(said))
        key = name_key(name)
        why = "" if is_quoted else objection(name)
        # What a recipe has brought in stays a name, however it is worded.
        if why and self._by_key(key) is None and self._by_alias(key) is None:
            raise WriteError(
                "validation",
                f"{name[:60]!r} is no name of a thing: {why}",
                column="name",
                value=name[:60],
                hint="Give the name alone; if it is called just that, put it in quotation marks.",
            )
        return _checked(name)

    def find_or_add(self, name: str) -> Ingredient:
        """Return what a name means, as a new row if nothing is near."""
        return self.find(name) or self._add(_checked(name))

    def by_id(self, ingredient_id: str) -> Ingredient | None:
        """Return a row by its id."""
        return self._one(self._table.c.id == ingredient_id)

    @property
    def _table(self) -> Any:
        return self.tables["ingredients"].table

    def _by_key(self, key: str) -> Ingredient | None:
        return self._one(self._table.c.name_key == key)

    def _by_alias(self, key: str) -> Ingredient | None:
        from sqlalchemy import select

        aliases: Any = self._table.metadata.tables["ingredient_aliases"]
        found = select(aliases.c.ingredient_id).where(aliases.c.alias_key == key)
        return self._one(self._table.c.id == found.scalar_subquery())

    def _near(self, key: str, name: str) -> Ingredient | None:
        from rapidfuzz import fuzz, process
        from sqlalchemy import select

        known = select(self._table.c.name_key)
        visible = self.tables["ingredients"].visible
        if visible is not None:
            # What somebody else calls their food is nobody's business.
            known = known.where(visible(self._table, self.user_id))
        keys = [str(row[0]) for row in self.connection.execute(known)]
        near = process.extractOne(key, keys, scorer=fuzz.ratio, score_cutoff=FUZZY_FROM)
        if near is None or allergens_in(key) != allergens_in(near[0]):
            return None
        found = self._by_key(near[0])
        if found is not None:
            self.notes.append(f"Took {name.strip()!r} for {found.name!r}.")
        return found

    def _add(self, name: str) -> Ingredient:
        facts: FoodFacts = food_facts(name)
        key = name_key(name)
        values: dict[str, Any] = {
            "id": self.new_id(),
            "name": name,
            "name_key": key,
            "category": facts.category,
            "aisle": facts.aisle,
            "g_per_ml": facts.g_per_ml,
            "allergen_tags": sorted(allergens_in(name)),
            "is_shared": is_common(name),
            "created_at": self.now,
            "updated_at": self.now,
        }
        # Somebody else may add the same name at this moment; then theirs is the one.
        insert: Any = _insert_of(self.connection)(self._table).values(**values)
        self.connection.execute(insert.on_conflict_do_nothing(index_elements=["name_key"]))
        self.notes.append(f"{name!r} is new here; filed under {category_words(facts.category)}.")
        found = self._by_key(key)
        assert found is not None  # noqa: S101 - it was just put in
        return found

    def _one(self, where: Any) -> Ingredient | None:
        from sqlalchemy import select

        columns = self._table.c
        row = self.connection.execute(
            select(
                columns.id, columns.name, columns.category, columns.g_per_ml, columns.default_unit
            ).where(where)
        ).first()
        return None if row is None else Ingredient(*row)


def _insert_of(connection: "Connection") -> Any:
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects.sqlite import insert
    else:
        from sqlalchemy.dialects.postgresql import insert
    return insert


def _checked(name: str) -> str:
    text = name.replace("\x00", "").strip()
    if not text or len(text) > LONGEST_NAME:
        raise WriteError(
            "validation",
            f"{text[:60]!r} cannot be the name of an ingredient",
            column="ingredient",
            value=text[:60],
            hint=f"Give a name of 1 to {LONGEST_NAME} characters.",
        )
    return text


Values = dict[str, Any]
OPEN: Final = ("needed", "in_cart")


@dataclass(frozen=True, slots=True)
class Merge:
    """Finds the row that a new one joins, within a transaction."""

    moment: WriteMoment
    tables: Tables
    ingredient: Callable[[str], Ingredient | None]

    def joined(self, table: str, values: Values) -> Joined | None:
        """Return the row that a new one joins, if there is one."""
        match table:
            case "shopping_items":
                if values.get("status", "needed") not in OPEN:
                    return None
                return self._amounts(self._listed(values), values)
            case "inventory_items":
                return self._amounts(self._stocked(values), values)
            case "meal_plans":
                return self._slot(values)
            case "user_profile":
                return self._profile(values)
            case _:
                return None

    def occupied(self, values: Mapping[str, Any]) -> Values | None:
        """Return the meal that is planned where another is to go."""
        table = self.tables["meal_plans"].table
        return self._first(
            table,
            table.c.plan_date == values.get("plan_date"),
            table.c.meal_type == values.get("meal_type", "dinner"),
            table.c.position == values.get("position", 0),
        )

    def _listed(self, values: Values) -> list[Values]:
        table = self.tables["shopping_items"].table
        if values.get("ingredient_id"):
            same = table.c.ingredient_id == values["ingredient_id"]
        else:
            same = table.c.ingredient_id.is_(None) & (
                table.c.name_key == name_key(str(values.get("name", "")))
            )
        return self._all(table, same, table.c.status.in_(OPEN))

    def _stocked(self, values: Values) -> list[Values]:
        table = self.tables["inventory_items"].table
        expires = values.get("expires_on")
        return self._all(
            table,
            table.c.ingredient_id == values.get("ingredient_id"),
            table.c.location == values.get("location", "pantry"),
            table.c.expires_on.is_(None) if expires is None else table.c.expires_on == expires,
        )

    def _amounts(self, rows: Sequence[Values], values: Values) -> Joined | None:
        """Add to the row whose unit fits best; rows that cannot be counted together stay apart."""
        known = self.ingredient(str(values.get("ingredient_id")))
        density = None if known is None else known.g_per_ml
        for row in sorted(rows, key=lambda row: row["unit"] != values.get("unit")):
            sum_of = _sum(row, values, density)
            if sum_of is not None and self._is_free(rows, row, sum_of[1]):
                return self._join(row, values, sum_of)
        return None

    def _join(self, row: Values, values: Values, sum_of: tuple[float | None, str | None]) -> Joined:
        quantity, unit = sum_of
        if row["quantity"] is None or values.get("quantity") is None:
            self.moment.notes.append("Some is already listed.")
        kept = ("purchased_on", "low_threshold", "note")
        changed = {name: values[name] for name in kept if values.get(name) is not None}
        return Joined(
            row=row,
            values={**changed, "quantity": quantity, "unit": unit},
            before=spoken_amount(row["quantity"], row["unit"]),
            after=spoken_amount(quantity, unit),
        )

    def _is_free(self, rows: Sequence[Values], row: Values, unit: str | None) -> bool:
        """Say whether a row may take a unit without becoming the twin of another row."""
        return not any(other["id"] != row["id"] and other["unit"] == unit for other in rows)

    def _slot(self, values: Values) -> Joined | None:
        row = self.occupied(values)
        if row is None:
            return None
        fresh = {
            "recipe_id": values.get("recipe_id"),
            "note": values.get("note"),
            "servings": values.get("servings"),
            "status": values.get("status", "planned"),
        }
        return Joined(row, fresh, before=row["note"] or "", after=values.get("note") or "")

    def _profile(self, values: Values) -> Joined | None:
        row = self._first(self.tables["user_profile"].table)
        if row is None:
            return None
        return Joined(row, values, before="", after="")

    def _first(self, table: Any, *where: Any) -> Values | None:
        rows = self._all(table, *where)
        return rows[0] if rows else None

    def _all(self, table: Any, *where: Any) -> list[Values]:
        from sqlalchemy import select

        query = (
            select(table)
            .where(table.c.user_id == self.moment.who.user_id, *where)
            .order_by(*table.primary_key.columns)
        )
        return [dict(row) for row in self.moment.connection.execute(query).mappings()]


def _sum(
    row: Values, values: Values, density: float | None
) -> tuple[float | None, str | None] | None:
    """Return both amounts together, or None if nobody can say."""
    have, more = row["quantity"], values.get("quantity")
    if more is None:
        fits = values.get("unit") in (None, row["unit"])
        return (have, row["unit"]) if fits else None
    if have is None:
        return rounded(more), values.get("unit")
    converted = convert(more, values.get("unit"), row["unit"], density)
    return None if converted is None else (rounded(have + converted), row["unit"])
