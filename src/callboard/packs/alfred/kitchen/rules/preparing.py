"""Preparing: what a record says in words becomes what its columns hold."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import Any, Final, cast

from callboard.choreography.turn.requests import WriteError, WriteOp
from callboard.core.errors import InvalidInput
from callboard.knowledge.entities.matching import name_key
from callboard.library.relational.dates import WriteMoment
from callboard.library.relational.tables import Tables
from callboard.packs.alfred.kitchen.compute.amounts import canonical_unit, read_amount
from callboard.packs.alfred.kitchen.food.diets import canonical_allergies, canonical_diets
from callboard.packs.alfred.kitchen.food.foods import food_facts
from callboard.packs.alfred.kitchen.food.household import checked_limits
from callboard.packs.alfred.kitchen.rules.asking import recipe_named
from callboard.packs.alfred.kitchen.rules.joining import Ingredient, IngredientCatalogue

Values = dict[str, Any]
MODES: Final = ("quick", "cook", "plan", "create", "explore")
DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WITH_RECIPE: Final = ("meal_plans", "tasks", "shopping_items", "cooking_log")


def utc_now(moment: WriteMoment) -> str:
    """Return this moment as rows hold it."""
    return moment.today.now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@dataclass(frozen=True, slots=True)
class Preparation:
    """Prepares records within a transaction."""

    moment: WriteMoment
    tables: Tables
    new_id: Callable[[], str]

    def prepare(self, table: str, record: Values, op: WriteOp) -> Values:
        """Return a record with names as ids, units in one spelling and defaults filled in."""
        values = dict(record)
        if isinstance(values.get("unit"), str):
            values["unit"] = canonical_unit(values["unit"])
        if table in _WITH_RECIPE and "recipe" in values:
            values["recipe_id"] = self._recipe_id(values.pop("recipe"))
        return self._by_table(table, values, is_new=op is not WriteOp.UPDATE)

    def _by_table(self, table: str, values: Values, *, is_new: bool) -> Values:
        match table:
            case "recipe_ingredients":
                return self._line(values)
            case "inventory_items":
                return self._stock(values, is_new=is_new)
            case "shopping_items":
                return self._shopping(values)
            case "recipe_tags":
                return {**values, "tag": str(values.get("tag", "")).strip().casefold()}
            case "recipes":
                return self._recipe(values, is_new=is_new)
            case "meal_plans":
                return self._meal(values, is_new=is_new)
            case "cooking_log":
                return self._cooked(values, is_new=is_new)
            case "user_profile":
                return _profile(values)
            case _:
                return values

    @property
    def catalogue(self) -> IngredientCatalogue:
        """The catalogue, in this transaction."""
        moment = self.moment
        return IngredientCatalogue(
            moment.connection,
            self.tables,
            self.new_id,
            utc_now(moment),
            moment.who.user_id,
            moment.notes,
        )

    def _line(self, values: Values) -> Values:
        """Return an ingredient line of a recipe; a line of text alone is read first."""
        raw = str(values.get("raw_text") or "")
        name = values.pop("ingredient", None) or values.pop("name", None)
        values.pop("name", None)
        if values.get("ingredient_id") is None:
            if name is None and raw:
                amount = read_amount(raw)
                name = amount.name
                values.setdefault("quantity", amount.quantity)
                values.setdefault("unit", amount.unit)
            values["ingredient_id"] = self.catalogue.find_or_add(_text(name)).id
        if not raw:
            values["raw_text"] = _spoken(values, name)
        return values

    def _stock(self, values: Values, *, is_new: bool) -> Values:
        name = values.pop("ingredient", None) or values.pop("name", None)
        values.pop("name", None)
        if name is not None:
            values["ingredient_id"] = self.catalogue.find_or_add(
                self.catalogue.named(_text(name))
            ).id
        if is_new and "location" not in values and values.get("ingredient_id"):
            known = self.catalogue.by_id(str(values["ingredient_id"]))
            if known is not None:
                values["location"] = food_facts(known.name).place
        return values

    def _shopping(self, values: Values) -> Values:
        named = values.pop("ingredient", None)
        name = named if named is not None else values.get("name")
        if name is None:
            return values
        name = self.catalogue.named(_text(name))
        found = self._shopped(name, must_be_food=named is not None)
        if named is None or "name" not in values:
            values["name"] = name
        if found is not None:
            values["ingredient_id"] = found.id
            values.setdefault("category", found.category)
        else:
            values["ingredient_id"] = None
            values.setdefault("category", food_facts(name).category)
        return values

    def _shopped(self, name: str, *, must_be_food: bool) -> Ingredient | None:
        """Return the ingredient of a shopping item; what is no food needs none."""
        if must_be_food or food_facts(name).is_food:
            return self.catalogue.find_or_add(name)
        return self.catalogue.find(name)

    def _recipe(self, values: Values, *, is_new: bool) -> Values:
        if values.get("storage") == "link" and is_new and not values.get("source_url"):
            raise WriteError(
                "validation",
                "A recipe that is only a link needs its address",
                column="source_url",
                hint="Give source_url, or save the recipe in full.",
            )
        for column in ("cuisine", "course"):
            if isinstance(values.get(column), str):
                values[column] = values[column].strip().casefold() or None
        if is_new and values.get("name"):
            self._refuse_taken_name(str(values["name"]))
        return values

    def _refuse_taken_name(self, name: str) -> None:
        taken = recipe_named(self.moment, self.tables, name)
        if taken is not None:
            raise WriteError(
                "duplicate",
                f"You already have a recipe called {taken['name']!r}",
                column="name",
                value=name[:80],
                hint="Change that one, or choose another name.",
            )

    def _meal(self, values: Values, *, is_new: bool) -> Values:
        if is_new and not values.get("recipe_id") and not values.get("note"):
            raise WriteError(
                "validation",
                "A planned meal needs a recipe or a note",
                column="recipe_id",
                hint="Name the recipe, or say in a note what there is to eat.",
            )
        return values

    def _cooked(self, values: Values, *, is_new: bool) -> Values:
        if not is_new:
            return values
        values.setdefault("cooked_at", utc_now(self.moment))
        recipe = self._own_recipe(values.get("recipe_id"))
        if recipe is None:
            return values
        values.setdefault("recipe_name", recipe["name"])
        values.setdefault("servings", recipe["servings"])
        if values.get("meal_plan_id") is None:
            slot = self._slot_today(str(recipe["id"]))
            values.pop("meal_plan_id", None)
            if slot is not None:
                values["meal_plan_id"] = slot
        return values

    def _slot_today(self, recipe_id: str) -> str | None:
        """Return today's slot that plans a recipe."""
        from sqlalchemy import select

        meals = self.tables["meal_plans"].table
        return self.moment.connection.execute(
            select(meals.c.id)
            .where(
                meals.c.user_id == self.moment.who.user_id,
                meals.c.recipe_id == recipe_id,
                meals.c.plan_date == self.moment.today.day.isoformat(),
                meals.c.status == "planned",
            )
            .order_by(meals.c.meal_type, meals.c.position)
        ).scalar()

    def _own_recipe(self, recipe_id: Any) -> Mapping[str, Any] | None:
        from sqlalchemy import select

        recipes = self.tables["recipes"].table
        row = self.moment.connection.execute(
            select(recipes.c.id, recipes.c.name, recipes.c.servings).where(
                recipes.c.id == recipe_id, recipes.c.user_id == self.moment.who.user_id
            )
        ).mappings()
        return cast("Mapping[str, Any] | None", row.first())

    def _recipe_id(self, name: Any) -> str | None:
        if name is None:
            return None
        found = recipe_named(self.moment, self.tables, _text(name)) or self._own_recipe(name)
        if found is None:
            raise WriteError(
                "fk_missing",
                f"You have no recipe called {_text(name)[:80]!r}",
                column="recipe_id",
                value=_text(name)[:80],
                hint="Save the recipe first, or put its name in a note.",
            )
        return str(found["id"])


def _profile(values: Values) -> Values:
    prepared = dict(values)
    if isinstance(values.get("allergies"), list):
        prepared["allergies"] = canonical_allergies(values["allergies"])
    if isinstance(values.get("diet"), list):
        prepared["diet"] = canonical_diets(values["diet"])
    if isinstance(values.get("eaters"), list):
        prepared["eaters"] = _limits(values["eaters"])
    for column in ("dislikes", "favorite_cuisines", "equipment"):
        if isinstance(values.get(column), list):
            prepared[column] = _distinct(values[column])
    if isinstance(values.get("cooking_days"), list):
        prepared["cooking_days"] = _days(values["cooking_days"])
    mode = values.get("default_mode")
    if mode is not None and str(mode).casefold() not in MODES:
        raise WriteError(
            "validation",
            f"There is no mode {str(mode)[:40]!r}",
            column="default_mode",
            hint=f"It is one of {', '.join(MODES)}.",
        )
    return prepared


def _limits(given: list[Any]) -> list[str]:
    try:
        return checked_limits(given)
    except InvalidInput as error:
        raise WriteError(
            "validation", error.message, column="eaters", hint=error.fix or ""
        ) from error


def _days(given: list[Any]) -> list[str]:
    short = [str(day).strip().casefold()[:3] for day in given]
    unknown = [day for day in short if day not in DAYS]
    if unknown:
        raise WriteError(
            "validation",
            f"{unknown[0]!r} is no day of the week",
            column="cooking_days",
            hint=f"Days are {', '.join(DAYS)}.",
        )
    return [day for day in DAYS if day in short]


def _distinct(given: list[Any]) -> list[str]:
    by_key = {name_key(str(each)): str(each).strip() for each in given if str(each).strip()}
    return list(by_key.values())


def _spoken(values: Mapping[str, Any], name: Any) -> str:
    """Return an ingredient line as somebody would say it."""
    quantity = values.get("quantity")
    amount = f"{quantity:g}" if isinstance(quantity, int | float) else ""
    parts = (amount, values.get("unit") or "", name or "", values.get("preparation") or "")
    return " ".join(str(part) for part in parts if part).strip()


def _text(name: Any) -> str:
    if not isinstance(name, str):
        raise WriteError(
            "validation",
            f"{str(name)[:60]!r} is no name",
            column="ingredient",
            hint="Give the name of the ingredient as text.",
        )
    return name
