"""The catalogue: every ingredient has one row, whatever people call it.

It is shared by everybody and grows by itself. What is added to it stays, also when the write that
needed it is undone: somebody else may be using it by then.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from callboard.choreography.turn.requests import WriteError
from callboard.knowledge.entities.matching import name_key
from callboard.library.relational.tables import Tables
from callboard.packs.alfred.kitchen.lexicon import FoodFacts, category_words, food_facts
from callboard.packs.alfred.kitchen.safety.allergens import allergens_in

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
class Catalogue:
    """Finds ingredients by name within a transaction, and adds the ones that are not there."""

    connection: "Connection"
    tables: Tables
    new_id: Callable[[], str]
    now: str
    # Told to the user afterwards.
    notes: list[str]

    def find(self, name: str) -> Ingredient | None:
        """Return what a name means: its key, an alias, or one that is almost the same."""
        key = name_key(_checked(name))
        return self._by_key(key) or self._by_alias(key) or self._near(key, name)

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

        keys = [str(row[0]) for row in self.connection.execute(select(self._table.c.name_key))]
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
