"""Safety: what somebody in the house must not eat is found before it is written, shown or cooked.

The one gate: every write asks it within its transaction, an undo asks it about what comes back, and
whoever reads a recipe to cook by gets its warnings with it. It reads and tells; who asks decides.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

from callboard.choreography.turn.domain import Objection
from callboard.choreography.turn.requests import WriteOp
from callboard.knowledge.entities.matching import name_key
from callboard.packs.alfred.kitchen.food.checking import Eater, check_for
from callboard.packs.alfred.kitchen.profile import load_profile
from callboard.packs.alfred.kitchen.rules.links import LINKED, Links, missing_links

if TYPE_CHECKING:
    from sqlalchemy import Connection

Row = Mapping[str, Any]
Values = dict[str, Any]
MIND: Final = "mind"
"""What a recipe that is read to cook by carries along: why somebody must not eat it."""
# A note, not a question: it has been cooked, or lies in the house, or is only to be thought of.
_TOLD: Final = ("inventory_items", "cooking_log", "tasks")
_CONTENT: Final = frozenset({"name", "ingredients", "steps", "tags", "notes", "description"})
_PARTS: Final = {
    "recipe_ingredients": "ingredients",
    "recipe_steps": "steps",
    "recipe_tags": "tags",
}
_MOST_TOLD: Final = 5
_MOST_MEALS: Final = 100


@dataclass(frozen=True)
class SafetyGate:
    """What speaks against food for those who eat in somebody's house."""

    connection: "Connection"
    user_id: str

    @cached_property
    def eater(self) -> Eater:
        """Everybody's limits."""
        return load_profile(self.connection, self.user_id).eater

    def reasons(self, table: str, op: WriteOp, rows: Sequence[Row], values: Row) -> list[str]:
        """Return why somebody must be asked before a write."""
        if op is WriteOp.DELETE or table in _TOLD or not self.eater.has_limits:
            return []
        return _few(reason for row in rows or [{}] for reason in self._against(table, row, values))

    def remarks(self, table: str, row: Row) -> list[str]:
        """Return what is told of a row that is no question."""
        if table not in _TOLD or not self.eater.has_limits:
            return []
        if table == "inventory_items":
            return _few(self._food(self._named({"ingredient_id": row.get("ingredient_id")})))
        note = {"note": row.get("description") or row.get("recipe_name") or ""}
        found = self._recipe(row.get("recipe_id"), {}) if row.get("recipe_id") else []
        return _few([*found, *self.against_content(note, str(note["note"]))])

    def warnings(self, recipes: Sequence[Row]) -> list[Values]:
        """Return recipes with what they link to, each with why somebody must not eat it."""
        if not self.eater.has_limits:
            return [dict(each) for each in recipes]
        linked = self._links.followed(recipes)
        return [{**each, MIND: _few(self._of_recipe(each))} for each in linked]

    def left_behind(self, today: str) -> list[str]:
        """Return what is planned or to be bought already, and must not be eaten."""
        if not self.eater.has_limits:
            return []
        return _few([*self._planned(today), *self._listed()])

    def after_undo(self, entries: Iterable[Row]) -> list[str]:
        """Return what speaks against rows that came back, each as it is now."""
        if not self.eater.has_limits:
            return []
        found: list[str] = []
        for recipe_id in dict.fromkeys(_recipes_of(entries)):
            found += self._recipe(recipe_id, {})
        for entry in entries:
            if entry["before"] is not None and entry["table_name"] in (
                "meal_plans",
                "shopping_items",
            ):
                found += self._against(str(entry["table_name"]), entry["before"], {})
        return _few(found)

    def against_content(self, content: Row, label: str) -> Iterator[str]:
        """Yield what speaks against something that is made of this."""
        for each in _distinct(check_for(self.eater, content)):
            yield _told(label, each)

    def _against(self, table: str, row: Row, values: Row) -> Iterator[str]:
        merged = {**row, **values}
        match table:
            case "recipes" if not row or _CONTENT & values.keys():
                yield from self._changed(row, values)
            case "recipe_ingredients" | "recipe_steps" | "recipe_tags":
                part = {_PARTS[table]: [self._named(merged)], "name": ""}
                yield from self._of_recipe(part)
            case "meal_plans" if not row or set(values) != {"status"}:
                named = merged.get("recipe") if "recipe" in values else merged.get("recipe_id")
                if named:
                    yield from self._recipe(named, {})
                note = str(merged.get("note") or "")
                yield from self.against_content({"note": note}, note)
            case "shopping_items" if (
                not row or not values or {"name", "ingredient"} & values.keys()
            ):
                yield from self._food(self._named(merged))
            case _:
                return

    def _changed(self, row: Row, values: Row) -> Iterator[str]:
        """Yield what speaks against a recipe as it would be."""
        if row:
            yield from self._recipe(row["id"], values)
            return
        lines: Any = values.get("ingredients")
        content = {**values}
        if isinstance(lines, list):
            listed = cast("list[Any]", lines)
            content["ingredients"] = [
                self._named(cast("Row", each)) if isinstance(each, Mapping) else each
                for each in listed
            ]
        for each in self._links.followed([content]):
            yield from self._of_recipe(each, is_saved=True)

    def _recipe(self, named: Any, values: Row) -> list[str]:
        stored = self._links.load([str(named)])
        found: list[str] = []
        for recipe in stored:
            content = {**recipe, **{key: values[key] for key in _CONTENT & values.keys()}}
            for each in self._links.followed([content]):
                found += self._of_recipe(each)
        return found

    def _of_recipe(self, recipe: Row, via: str = "", *, is_saved: bool = False) -> Iterator[str]:
        name = str(recipe.get("name") or "")
        own = {key: value for key, value in recipe.items() if key != LINKED}
        is_known = bool(recipe.get("ingredients"))
        for each in _distinct(check_for(self.eater, own)):
            if each.kind != "avoid" or not is_saved:
                yield _told(name, each, via)
        if "ingredients" in recipe and not is_known and not is_saved:
            what = "is only a link" if recipe.get("storage") == "link" else "lists no ingredients"
            yield f"“{name}” {what}: what is in it is not known{_through(via)}"
        for line in missing_links(recipe):
            yield f"“{line[:80]}” refers to a recipe you do not have: what is in it is not known"
        for each in cast("Sequence[Row]", recipe.get(LINKED) or ()):
            yield from self._of_recipe(each, str(each.get("name") or ""))

    def _food(self, item: Row) -> Iterator[str]:
        name = str(item.get("name") or item.get("ingredient") or "")
        for each in _distinct(check_for(self.eater, {"ingredients": [item]})):
            if each.kind != "avoid":
                yield _told(name, each)

    def _named(self, line: Row) -> Row:
        """Return a line that says its food by name, also if it only had the catalogue's id."""
        if not line.get("ingredient_id"):
            return line
        known = self._links.ingredient(str(line["ingredient_id"]))
        return {**line, "ingredient": known, "name": line.get("name") or known.get("name")}

    @cached_property
    def _links(self) -> Links:
        return Links(self.connection, self.user_id)

    def _planned(self, today: str) -> Iterator[str]:
        from sqlalchemy import select

        from callboard.packs.alfred.kitchen.schema.tables import meal_plans as meals

        query = select(meals).where(
            meals.c.user_id == self.user_id,
            meals.c.plan_date >= today,
            meals.c.status == "planned",
        )
        rows = self.connection.execute(query.order_by(meals.c.plan_date).limit(_MOST_MEALS))
        for row in rows.mappings():
            for reason in self._against("meal_plans", dict(row), {}):
                yield f"Planned for {row['plan_date']}: {reason}"

    def _listed(self) -> Iterator[str]:
        from sqlalchemy import select

        from callboard.packs.alfred.kitchen.schema.tables import shopping_items as items

        query = select(items).where(items.c.user_id == self.user_id, items.c.status != "purchased")
        for row in self.connection.execute(query.limit(_MOST_MEALS)).mappings():
            for reason in self._food(self._named(dict(row))):
                yield f"On the shopping list: {reason}"


def _told(label: str, objection: Objection, via: str = "") -> str:
    """Return an objection in words: what holds it, in which line, whose limit it is."""
    where, _, text = objection.detail.partition(": ")
    subject = objection.subject.replace("_", " ")
    whose = f"{objection.who}'s" if objection.who else "your"
    name = f"“{via or label}”" if via or label else "It"
    match objection.kind:
        case "diet":
            why = f"{name} does not fit {whose} diet ({subject})"
        case "avoid":
            why = f"{name} holds {subject}, which {objection.who or 'you'} always avoid"
            why += "s" if objection.who else ""
        case _:
            why = f"{name} holds {subject} ({whose} allergy)"
    said = "" if name_key(text) == name_key(via or label) else f": {where} “{text}”"
    return f"{why}{said}"


def _through(via: str) -> str:
    return f", and “{via}” goes into it" if via else ""


# Which line says most about what is in a dish.
_TELLING: Final = ("ingredient", "step", "note", "remark", "name")


def _distinct(found: Iterable[Objection]) -> list[Objection]:
    """Return one objection of each kind, subject and person: the line that says most."""
    kept: dict[tuple[str, str, str], Objection] = {}
    for each in found:
        key = (each.kind, each.subject, each.who)
        if key not in kept or _rank(each) < _rank(kept[key]):
            kept[key] = each
    return list(kept.values())


def _rank(objection: Objection) -> int:
    return _TELLING.index(objection.detail.partition(": ")[0])


def _few(reasons: Iterable[str]) -> list[str]:
    listed = list(dict.fromkeys(reasons))
    rest = len(listed) - _MOST_TOLD
    return [*listed[:_MOST_TOLD], f"and {rest} more of the kind"] if rest > 0 else listed


def _recipes_of(entries: Iterable[Row]) -> Iterator[str]:
    """Yield the recipes of which something came back."""
    for entry in entries:
        if entry["before"] is None:
            continue
        if entry["table_name"] == "recipes":
            yield str(entry["before"]["id"])
        elif entry["table_name"] in _PARTS:
            yield str(entry["before"]["recipe_id"])
