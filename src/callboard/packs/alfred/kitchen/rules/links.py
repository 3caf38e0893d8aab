"""Links: recipes that go into others, found by what lines and steps say, and read along.

A line means another recipe if it is called like one, or says so: "1 batch pesto (see Pesto)".
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from callboard.knowledge.entities.matching import name_key

if TYPE_CHECKING:
    from sqlalchemy import Connection

Row = Mapping[str, Any]
LINKED: Final = "linked"
"""Where a recipe carries those that go into it."""
_DEEPEST: Final = 4
_AT_ONCE: Final = 500
_LONGEST_NAME: Final = 7
_MOST_READ: Final = 1_000
_SAYS_SO: Final = re.compile(
    r"\b(?:see|recipe|batch|portion|quantity|leftover|homemade|home-made|siehe|rezept|voir|recette"
    r"|ver|receta|vedi|ricetta)\b",
    re.I,
)
_REFERS: Final = re.compile(
    r"(?:\bsee(?: also)?|\brecipe(?: for)?:?|\bsiehe|\bvoir|\bver|\bvedi)\s+"
    r"(?:the\s+|my\s+|our\s+)?[“\"']?(?P<name>[^()\[\]“”\"]{2,60}?)[”\"']?(?:\s+recipe)?\s*(?:[)\].,;]|$)",
    re.I,
)
_NO_RECIPE: Final = re.compile(
    r"^(?:note|notes|above|below|tip|tips|step|page|p|package|packet|instructions|method|here|photo"
    r"|picture|video|label|box|tin|\W|\d)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Links:
    """Finds the recipes of one person that go into others."""

    connection: "Connection"
    user_id: str

    def followed(self, recipes: Sequence[Row]) -> list[dict[str, Any]]:
        """Return recipes with those they link to, and those with theirs; each once."""
        roots = [dict(each) for each in recipes]
        seen = {str(each["id"]) for each in roots if each.get("id")}
        level = roots
        for _ in range(_DEEPEST):
            wanted = {id(each): set(_named_in(each)) for each in level}
            known = self._by_key({key for keys in wanted.values() for key in keys})
            found: list[dict[str, Any]] = []
            for each in level:
                own = [known[key] for key in sorted(wanted[id(each)]) if key in known]
                fresh = [dict(one) for one in own if one["id"] not in seen | {each.get("id")}]
                each[LINKED] = list({one["id"]: one for one in fresh}.values())
                found += each[LINKED]
            seen |= {str(each["id"]) for each in found}
            if not found:
                break
            level = found
        return roots

    def load(self, named: Sequence[str]) -> list[dict[str, Any]]:
        """Return recipes by their ids or names, with all they say of what is in them."""
        from sqlalchemy import or_, select

        recipes = _tables()["recipes"]
        keys = [name_key(each) for each in named]
        query = select(recipes).where(
            recipes.c.user_id == self.user_id,
            or_(recipes.c.id.in_(list(named)), recipes.c.name_key.in_(keys)),
        )
        rows = [dict(row) for row in self.connection.execute(query).mappings()]
        # One that is put away goes by its name only where no other does.
        taken = {row["name_key"] for row in rows if row["archived_at"] is None}
        kept = [
            row
            for row in rows
            if row["id"] in named or row["archived_at"] is None or row["name_key"] not in taken
        ]
        return self._whole(kept)

    def ingredient(self, ingredient_id: str) -> Row:
        """Return a row of the catalogue; empty if there is none."""
        from sqlalchemy import select

        names = _tables()["ingredients"]
        query = select(names.c.name, names.c.allergen_tags).where(names.c.id == ingredient_id)
        found = self.connection.execute(query).mappings().first()
        return dict(found) if found is not None else {}

    def _by_key(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        from sqlalchemy import select

        recipes = _tables()["recipes"]
        listed = sorted(keys)
        names: list[str] = []
        for start in range(0, len(listed), _AT_ONCE):
            some = listed[start : start + _AT_ONCE]
            query = select(recipes.c.name).where(
                recipes.c.user_id == self.user_id, recipes.c.name_key.in_(some)
            )
            names += [str(row[0]) for row in self.connection.execute(query)]
        return {str(row["name_key"]): row for row in (self.load(names) if names else ())}

    def _whole(self, recipes: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        from sqlalchemy import select

        tables = _tables()
        ids = [row["id"] for row in recipes]
        lines, names = tables["recipe_ingredients"], tables["ingredients"]
        asked = {
            "ingredients": select(lines, names.c.name, names.c.allergen_tags)
            .join(names, names.c.id == lines.c.ingredient_id)
            .where(lines.c.recipe_id.in_(ids))
            .order_by(lines.c.position),
            "steps": select(tables["recipe_steps"]).where(
                tables["recipe_steps"].c.recipe_id.in_(ids)
            ),
            "tags": select(tables["recipe_tags"]).where(tables["recipe_tags"].c.recipe_id.in_(ids)),
        }
        whole = [{**row, **{part: list[Any]() for part in asked}} for row in recipes]
        by_id = {row["id"]: row for row in whole}
        for part, query in asked.items():
            for row in self.connection.execute(query).mappings() if ids else ():
                by_id[row["recipe_id"]][part].append(dict(row))
        return whole


def missing_links(recipe: Row) -> Iterator[str]:
    """Yield lines that name another recipe where none was found."""
    found = {name_key(str(each.get("name"))) for each in recipe.get(LINKED) or ()}
    own = name_key(str(recipe.get("name") or ""))
    for line in _lines(recipe):
        refers = _REFERS.search(line)
        name = refers["name"].strip() if refers is not None else ""
        if not name or _NO_RECIPE.match(name) or LINKED not in recipe:
            continue
        key = name_key(name)
        if key != own and not any(each in key or key in each for each in found):
            yield line


def _named_in(recipe: Row) -> Iterator[str]:
    """Yield the keys of all that may be the name of another recipe."""
    for each in _listed(recipe, "ingredients"):
        yield name_key(str(each.get("name") or _inner(each) or each.get("text") or ""))
    steps = (str(each.get("text") or "") for each in _listed(recipe, "steps"))
    for text in (*_lines(recipe), *steps, str(recipe.get("notes") or "")):
        if _SAYS_SO.search(text):
            yield from _grams(text)


def _lines(recipe: Row) -> Iterator[str]:
    for each in _listed(recipe, "ingredients"):
        said = (each.get("raw_text"), each.get("text"), each.get("name"), each.get("preparation"))
        yield from (str(text) for text in dict.fromkeys(said) if text)


def _grams(text: str) -> Iterator[str]:
    words = name_key(text[:_MOST_READ]).split()
    for start in range(len(words)):
        for size in range(1, min(_LONGEST_NAME, len(words) - start) + 1):
            yield " ".join(words[start : start + size])


def _inner(line: Row) -> str:
    inner: Any = line.get("ingredient")
    return str(cast("Row", inner).get("name") if isinstance(inner, Mapping) else inner or "")


def _listed(recipe: Row, part: str) -> list[Row]:
    value: Any = recipe.get(part)
    listed = cast("list[Any]", value) if isinstance(value, list | tuple) else []
    return [cast("Row", e) if isinstance(e, Mapping) else {"text": str(e)} for e in listed]


def _tables() -> Mapping[str, Any]:
    from callboard.packs.alfred.kitchen.schema import metadata

    return metadata.tables
