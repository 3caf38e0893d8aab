"""KitchenRules: the rules of writing, for the kitchen. Each rule has a module of its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from callboard.choreography.turn.requests import WriteOp
from callboard.library.relational.changes import Changes
from callboard.library.relational.dates import Moment
from callboard.library.relational.rules import Deletion, Joined
from callboard.library.relational.tables import Described, Tables
from callboard.packs.alfred.kitchen.rules.asking import future_meals, reasons_to_ask
from callboard.packs.alfred.kitchen.rules.following import Consequence
from callboard.packs.alfred.kitchen.rules.labels import label_of_row
from callboard.packs.alfred.kitchen.rules.merging import Merge
from callboard.packs.alfred.kitchen.rules.preparing import Preparation, utc_now

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class KitchenRules:
    """What the kitchen adds to writing."""

    tables: Tables
    new_id: Callable[[], str]

    def prepare(self, moment: Moment, table: Described, record: Values, op: WriteOp) -> Values:
        """Turn names into ids and words into one spelling."""
        return self._preparation(moment).prepare(table.name, record, op)

    def joined(self, moment: Moment, table: Described, values: Values) -> Joined | None:
        """Return the row that a new one joins, if both can be counted together."""
        return self._merge(moment).joined(table.name, values)

    def reasons(
        self, moment: Moment, table: Described, op: WriteOp, rows: Sequence[Values], values: Values
    ) -> list[str]:
        """Return why the human is asked: recipes put away, meals replaced, safety loosened."""
        return reasons_to_ask(self._merge(moment), table.name, op, rows, values)

    def deletion(self, moment: Moment, table: Described, row: Values) -> Deletion:
        """Let a row go for good; a recipe is put away instead."""
        return Deletion({table.archived: utc_now(moment)} if table.archived else None)

    def before_delete(
        self, moment: Moment, changes: Changes, table: Described, row: Values
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
        self, moment: Moment, changes: Changes, table: Described, row: Values, values: Values
    ) -> None:
        """Let what follows happen."""
        consequence = Consequence(
            moment, self.tables, changes, self._preparation(moment), self._merge(moment)
        )
        consequence.follow(table.name, row, values)

    def label(self, moment: Moment, table: Described, row: Values) -> str:
        """Return how people name a row."""
        return label_of_row(moment, self.tables, table, row)

    def _preparation(self, moment: Moment) -> Preparation:
        return Preparation(moment, self.tables, self.new_id)

    def _merge(self, moment: Moment) -> Merge:
        return Merge(moment, self.tables, self._preparation(moment).catalogue.by_id)
