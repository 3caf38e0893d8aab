"""KitchenRules: what the kitchen adds to writing, and what follows from a change."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from callboard.choreography.turn.requests import WriteOp
from callboard.library.relational.changes import RowChanges
from callboard.library.relational.dates import WriteMoment
from callboard.library.relational.rules import Deletion, Joined
from callboard.library.relational.tables import Described, Tables
from callboard.packs.alfred.kitchen.compute.amounts import spoken_amount
from callboard.packs.alfred.kitchen.compute.upkeep import deduct_inventory
from callboard.packs.alfred.kitchen.rules.asking import (
    LIMITING,
    future_meals,
    label_of_row,
    loosened,
    reasons_to_ask,
)
from callboard.packs.alfred.kitchen.rules.joining import Merge
from callboard.packs.alfred.kitchen.rules.preparing import Preparation, utc_now
from callboard.packs.alfred.kitchen.rules.safety import SafetyGate

Values = dict[str, Any]
_NOT_STOCKED: Final = ("household",)


@dataclass(frozen=True, slots=True)
class Consequence:
    """Lets happen what follows, within a transaction."""

    moment: WriteMoment
    tables: Tables
    changes: RowChanges
    preparation: Preparation
    merge: Merge

    def follow(self, table: str, row: Values, values: Values) -> None:
        """Let happen what follows from a change of a row."""
        match table:
            case "shopping_items" if "status" in values:
                self._shopping_status(row)
            case "tasks" if "status" in values:
                self._task_status(row)
            case "inventory_items" if values.get("quantity") == 0:
                self._used_up(row)
            case "cooking_log":
                self._cooked(row, values)
            case _:
                pass

    def _shopping_status(self, row: Values) -> None:
        table = self.tables["shopping_items"]
        is_bought = row["status"] == "purchased"
        if is_bought == (row["purchased_at"] is not None):
            return
        when = self.changes.now if is_bought else None
        self.changes.update(table, row, {"purchased_at": when})
        if is_bought and row["ingredient_id"] and row["category"] not in _NOT_STOCKED:
            self._put_into_stock(row)

    def _put_into_stock(self, bought: Values) -> None:
        table = self.tables["inventory_items"]
        record: Values = {
            "ingredient_id": bought["ingredient_id"],
            "quantity": bought["quantity"],
            "unit": bought["unit"],
            "purchased_on": self.moment.today.day.isoformat(),
        }
        values = self.preparation.prepare(table.name, record, WriteOp.CREATE)
        said = len(self.moment.notes)
        joined = self.merge.joined(table.name, values)
        del self.moment.notes[said:]
        if joined is None:
            stored = self.changes.insert(table, values, bought["name"])
        else:
            stored = self.changes.update(table, joined.row, joined.values, bought["name"])
        amount = spoken_amount(bought["quantity"], bought["unit"])
        self.moment.notes.append(
            f"{bought['name']}: {amount} went into the {stored['location']} "
            f"(now {spoken_amount(stored['quantity'], stored['unit'])})."
        )

    def _task_status(self, row: Values) -> None:
        is_done = row["status"] == "done"
        if is_done != (row["completed_at"] is not None):
            when = self.changes.now if is_done else None
            self.changes.update(self.tables["tasks"], row, {"completed_at": when})

    def _used_up(self, row: Values) -> None:
        """Take out an empty row, unless somebody wants to know when it runs low."""
        if row["low_threshold"] is None:
            self.changes.delete(self.tables["inventory_items"], row)

    def _cooked(self, row: Values, values: Values) -> None:
        is_new = row["version"] == 1
        recipe = self._row(self.tables["recipes"], row["recipe_id"])
        if is_new and row["meal_plan_id"]:
            meals = self.tables["meal_plans"]
            slot = self._row(meals, row["meal_plan_id"])
            if slot is not None and slot["status"] != "cooked":
                self.changes.update(meals, slot, {"status": "cooked"})
        if recipe is not None and values.get("rating") is not None:
            self.changes.update(self.tables["recipes"], recipe, {"rating": values["rating"]})
        if recipe is not None and values.get("inventory_deducted"):
            self._deduct(recipe, row["servings"] or recipe["servings"])

    def _deduct(self, recipe: Values, servings: float) -> None:
        lines = self._lines(str(recipe["id"]))
        stock = self._stock([line["ingredient_id"] for line in lines])
        outcome = deduct_inventory({**recipe, "ingredients": lines}, servings, stock)
        table = self.tables["inventory_items"]
        by_id = {str(item["id"]): item for item in stock}
        for taken in outcome["taken"]:
            item = by_id[taken["id"]]
            left = taken["after"]
            if left == 0 and item["low_threshold"] is None:
                self.changes.delete(table, _own_columns(table, item), taken["name"])
            else:
                row = _own_columns(table, item)
                self.changes.update(table, row, {"quantity": left}, taken["name"])
        self.moment.notes.extend(outcome["notes"])

    def _lines(self, recipe_id: str) -> list[Values]:
        from sqlalchemy import select

        lines = self.tables["recipe_ingredients"].table
        names = self.tables["ingredients"].table
        query = (
            select(lines, names.c.name, names.c.g_per_ml)
            .join(names, names.c.id == lines.c.ingredient_id)
            .where(lines.c.recipe_id == recipe_id)
            .order_by(lines.c.position)
        )
        return [dict(row) for row in self.moment.connection.execute(query).mappings()]

    def _stock(self, ingredient_ids: list[str]) -> list[Values]:
        from sqlalchemy import select

        items = self.tables["inventory_items"].table
        query = (
            select(items)
            .where(
                items.c.user_id == self.moment.who.user_id,
                items.c.ingredient_id.in_(ingredient_ids),
            )
            .order_by(items.c.id)
        )
        return [dict(row) for row in self.moment.connection.execute(query).mappings()]

    def _row(self, table: Described, row_id: Any) -> Values | None:
        from sqlalchemy import select

        found = self.moment.connection.execute(
            select(table.table).where(
                table.table.c.id == row_id, table.table.c.user_id == self.moment.who.user_id
            )
        ).mappings()
        first = found.first()
        return None if first is None else dict(first)


def _own_columns(table: Described, row: Values) -> Values:
    return {name: row[name] for name in table.columns}


def _gate(moment: WriteMoment) -> SafetyGate:
    return SafetyGate(moment.connection, moment.who.user_id)


@dataclass(frozen=True, slots=True)
class KitchenRules:
    """What the kitchen adds to writing."""

    tables: Tables
    new_id: Callable[[], str]

    def prepare(self, moment: WriteMoment, table: Described, record: Values, op: WriteOp) -> Values:
        """Turn names into ids and words into one spelling."""
        return self._preparation(moment).prepare(table.name, record, op)

    def joined(self, moment: WriteMoment, table: Described, values: Values) -> Joined | None:
        """Return the row that a new one joins, if both can be counted together."""
        return self._merge(moment).joined(table.name, values)

    def reasons(
        self,
        moment: WriteMoment,
        table: Described,
        op: WriteOp,
        rows: Sequence[Values],
        values: Values,
    ) -> list[str]:
        """Return why the human is asked: recipes put away, meals replaced, safety loosened."""
        asked = reasons_to_ask(self._merge(moment), table.name, op, rows, values)
        return [*asked, *_gate(moment).reasons(table.name, op, rows, values)]

    def reasons_to_undo(self, moment: WriteMoment, entries: Sequence[Values]) -> list[str]:
        """Return why the human is asked before an undo: a limit dropped, an allergen back."""
        profiles = [each for each in entries if each["table_name"] == "user_profile"]
        dropped = [
            reason
            for each in profiles
            if each["before"] is not None and each["after"] is not None
            for reason in loosened(each["after"], each["before"])
        ]
        return [*dropped, *_gate(moment).after_undo(entries)]

    def deletion(self, moment: WriteMoment, table: Described, row: Values) -> Deletion:
        """Let a row go for good; a recipe is put away instead."""
        return Deletion({table.archived: utc_now(moment)} if table.archived else None)

    def before_delete(
        self, moment: WriteMoment, changes: RowChanges, table: Described, row: Values
    ) -> None:
        """Let planned meals keep the name of a recipe that goes."""
        if table.name != "recipes":
            return
        meals = self.tables["meal_plans"]
        for meal in future_meals(moment, self.tables, str(row["id"])):
            note = f"{row['name']} ({meal['note']})" if meal["note"] else row["name"]
            changes.update(meals, meal, {"recipe_id": None, "note": note})
            moment.notes.append(f"{meal['meal_type']} on {meal['plan_date']} keeps the name only.")

    def after_change(
        self,
        moment: WriteMoment,
        changes: RowChanges,
        table: Described,
        row: Values,
        values: Values,
    ) -> None:
        """Let what follows happen."""
        consequence = Consequence(
            moment, self.tables, changes, self._preparation(moment), self._merge(moment)
        )
        consequence.follow(table.name, row, values)
        gate = _gate(moment)
        moment.notes.extend(gate.remarks(table.name, row))
        if table.name == "user_profile" and LIMITING & values.keys():
            moment.notes.extend(gate.left_behind(moment.today.day.isoformat()))

    def label(self, moment: WriteMoment, table: Described, row: Values) -> str:
        """Return how people name a row."""
        return label_of_row(moment, self.tables, table, row)

    def _preparation(self, moment: WriteMoment) -> Preparation:
        return Preparation(moment, self.tables, self.new_id)

    def _merge(self, moment: WriteMoment) -> Merge:
        return Merge(moment, self.tables, self._preparation(moment).catalogue.by_id)
