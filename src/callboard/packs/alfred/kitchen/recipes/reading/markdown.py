"""Recipes in Markdown as people write them: front matter, facts, two lists, some notes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from callboard.packs.alfred.kitchen.recipes.lines.lexicon import seasonings
from callboard.packs.alfred.kitchen.recipes.lines.parsing import parse_line, section_title
from callboard.packs.alfred.kitchen.recipes.reading.blocks import (
    INTRO,
    RecipeParts,
    TextBlock,
    TextItem,
    items_of,
    paragraphs_of,
    split_parts,
)
from callboard.packs.alfred.kitchen.recipes.reading.figures import (
    Servings,
    day_of,
    read_made,
    read_minutes,
    read_passing,
    read_title,
    says_servings,
    tags_of,
    web_address,
)
from callboard.packs.alfred.kitchen.recipes.reading.layout import one_list
from callboard.packs.alfred.kitchen.recipes.reading.limits import (
    LONGEST_BLOCK,
    LONGEST_NAME,
    LONGEST_TEXT,
    MOST_INGREDIENTS,
    MOST_LINES_OF_ALL,
    MOST_STEPS,
    RecipeUnreadable,
    cut_short,
    fact_named,
    split_front_matter,
)
from callboard.packs.alfred.kitchen.recipes.recipe import (
    ImportedRecipe,
    ImportedStep,
    IngredientLine,
    RecipeFacts,
    Warned,
)
from callboard.packs.alfred.kitchen.recipes.text import (
    guarded,
    one_line,
    plain_text,
    without_emoji,
)

Read = tuple[ImportedRecipe, tuple[Warned, ...]]
_FACT: Final = re.compile(
    r"^\s*(?P<bullet>[-*+]\s*)?(?P<key>[^:\d]{2,40}?)\s*(?P<colon>:)?\s*(?P<value>[^:]*)$"
)
_TIMED: Final = re.compile(r"\btime$", re.IGNORECASE)
_OPTIONAL: Final = frozenset(["optional", "optionally"])


def read_markdown(text: str) -> Read:
    """Return the recipe in a Markdown text, and what could not be told."""
    fields, body = split_front_matter(text)
    return _MarkdownReading(split_parts(body), fields).read()


@dataclass(slots=True)
class _MarkdownReading:
    parts: RecipeParts
    fields: Mapping[str, Any]
    facts: dict[str, str] = field(default_factory=dict[str, str])
    notes: list[str] = field(default_factory=list[str])
    warnings: list[Warned] = field(default_factory=list[Warned])
    # How many lines of ingredients have been looked at, and how many were left where they stand.
    looked_at: int = 0
    left: int = 0

    def read(self) -> Read:
        description = self._described()
        listed = [
            entry for block in self.parts.of("ingredients") for entry in self._ingredients(block)
        ]
        lines, again = one_list(
            tuple(
                _line(each, group)
                for text, group in listed[:MOST_INGREDIENTS]
                for each in seasonings(text)
            )
        )
        if again:
            # Two ways to measure one dish are not both cooked.
            self.notes += [f"{line.group}: {line.raw}" for line in again]
            told = "says the same dish once more: it is kept in the notes and not added up."
            self.warnings.append(Warned("other_list", f"The list “{again[0].group}” {told}"))
        steps = tuple(step for block in self.parts.of("steps") for step in self._steps(block))
        for block in self.parts.of("notes"):
            self.notes.extend(paragraphs_of(block.lines))
        name = one_line(str(self.fields.get("title") or "")) or self.parts.title
        if not name and not lines and not steps:
            raise RecipeUnreadable(
                "The text holds no recipe: no title, no ingredients, no steps.",
                fix="Head its lists with `## Ingredients` and `## Directions`.",
            )
        self._warn_missing(name, lines, steps)
        self._warn_cut(len(listed) + self.left, MOST_INGREDIENTS, "ingredients")
        self._warn_cut(len(steps), MOST_STEPS, "steps")
        recipe = ImportedRecipe(
            name=(name or "Untitled recipe")[:LONGEST_NAME].strip(),
            ingredients=lines,
            steps=steps[:MOST_STEPS],
            tags=tags_of(self.fields.get("tags")),
            description="\n\n".join(description)[:LONGEST_BLOCK].strip(),
            notes="\n\n".join(self.notes)[:LONGEST_BLOCK].strip(),
            facts=self._facts(),
        )
        return recipe, tuple(replace(warned, recipe=recipe.name) for warned in self.warnings)

    def _described(self) -> list[str]:
        """Return the text before the lists, without the facts in it."""
        kept: list[str] = []
        for block in self.parts.of(INTRO):
            for line in block.lines:
                kept.append("" if self._take_fact(line) or self._take_servings(line) else line)
            kept.append("")
        return paragraphs_of(kept)

    def _take_fact(self, line: str) -> bool:
        found = _FACT.match(without_emoji(guarded(line)))
        if found is None or not (found["bullet"] or found["colon"]):
            return False
        key, value = found["key"].strip(" *_"), found["value"].strip(" *_")
        fact = fact_named(key)
        if fact is None and _TIMED.search(key) and found["colon"] and value:
            self.notes.append(f"{key}: {value}")
            return True
        if fact is None or not value:
            return False
        if fact in ("cuisine", "course", "author", "source") and not found["colon"]:
            return False
        self.facts.setdefault(fact, value)
        return True

    def _take_servings(self, line: str) -> bool:
        """Take a line that says nothing but for how many it is: `Serves 6`, `Makes 24 cookies`."""
        plain = plain_text(line)
        if "servings" in self.facts or not says_servings(plain):
            return False
        self.facts["servings"] = plain
        return True

    def _ingredients(self, block: TextBlock) -> list[tuple[str, str]]:
        """Return lines with their groups; in a list without bullets each line is an ingredient."""
        items = self._within_limits(items_of(block.lines))
        has_bullets = any(item.is_listed for item in items)
        groups = [(-1, block.group)]
        found: list[tuple[str, str]] = []
        for at, item in enumerate(items):
            if item.is_listed:
                while item.indent <= groups[-1][0]:
                    groups.pop()
            if self._heads(item, items[at + 1 : at + 2]):
                title = plain_text(item.text).rstrip(": ")
                if not item.is_listed:
                    groups = [(-1, title)]
                else:
                    groups.append((item.indent, title))
            elif item.is_listed or not has_bullets:
                found.append((item.text, groups[-1][1]))
            else:
                self._take_remark(item)
        return found

    def _within_limits(self, items: list[TextItem]) -> list[TextItem]:
        """Return what is looked at: headings and nested lists may be more than what is kept."""
        kept = items[: MOST_LINES_OF_ALL - self.looked_at]
        self.looked_at += len(kept)
        self.left += len(items) - len(kept)
        return kept

    def _heads(self, item: TextItem, following: list[TextItem]) -> bool:
        if section_title(item.text) is not None:
            return True
        has_inner = bool(following) and item.is_listed and following[0].indent > item.indent
        return has_inner and (item.text.endswith(":") or parse_line(item.text).quantity is None)

    def _steps(self, block: TextBlock) -> list[ImportedStep]:
        """Return the steps of a block: its items, or its paragraphs if it has none."""
        items = items_of(block.lines)
        last = max((at for at, item in enumerate(items) if item.is_listed), default=None)
        if last is None:
            texts = paragraphs_of(block.lines)
        else:
            texts = [plain_text(item.text) for item in items[: last + 1]]
            for item in items[last + 1 :]:
                self._take_remark(item)
        return [ImportedStep(text[:LONGEST_TEXT].strip(), block.group) for text in texts if text]

    def _take_remark(self, item: TextItem) -> None:
        plain = plain_text(item.text)
        if not plain:
            return
        if not item.opens and self.notes:
            self.notes[-1] = f"{self.notes[-1]} {plain}"
        elif not self._take_servings(item.text):
            self.notes.append(plain)

    def _facts(self) -> RecipeFacts:
        servings, made = self._servings()
        prep, cook = self._minutes()
        return RecipeFacts(
            servings=servings.low if servings else None,
            servings_high=servings.high if servings else None,
            yields=made.words if made else None,
            prep_minutes=prep,
            cook_minutes=cook,
            cuisine=self._said("cuisine"),
            course=self._said("course"),
            author=self._said("author"),
            published_on=day_of(self.fields.get("date")),
            source_url=web_address(self._said("source", "source_url", "url")),
        )

    def _servings(self) -> tuple[Servings | None, Servings | None]:
        """Return for how many it is and what it makes; neither is made up from the other."""
        found: list[Servings | None] = [None, None]
        for fact in ("servings", "yields"):
            text = self.facts.get(fact) or str(self.fields.get(fact) or "")
            if not text:
                continue
            told = read_made(text, is_made=fact == "yields")
            found = [one or other for one, other in zip(found, told, strict=True)]
            if not any(told):
                self.notes.append(f"{fact.capitalize()}: {plain_text(text)}")
                self.warnings.append(
                    Warned("servings_unread", f"The servings cannot be told from {text!r}.")
                )
        if not any(found) and self.parts.title:
            found = list(read_title(self.parts.title))
        if not any(found):
            lines = (line for block in self.parts.of(INTRO) for line in block.lines)
            found = list(read_passing("\n".join(lines)))
        return found[0], found[1]

    def _minutes(self) -> tuple[int | None, int | None]:
        read = {fact: self._time(fact) for fact in ("prep", "cook", "total")}
        prep, cook, total = read["prep"], read["cook"], read["total"]
        if total is not None and cook is None:
            if prep is None or total >= prep:
                cook = total - (prep or 0)
            self.warnings.append(
                Warned("total_time", "Only a total time is given; it counts as cooking time.")
            )
        return prep, cook

    def _time(self, fact: str) -> int | None:
        text = self.facts.get(fact)
        if text is None:
            return None
        minutes = read_minutes(text)
        if minutes is None:
            self.notes.append(f"{fact.capitalize()} time: {plain_text(text)}")
            self.warnings.append(Warned("time_unread", f"No time can be told from {text!r}."))
        return minutes

    def _said(self, *keys: str) -> str | None:
        for key in keys:
            value = self.facts.get(key) or self.fields.get(key)
            if isinstance(value, (str, int, float)) and one_line(str(value)):
                return one_line(str(value))[:LONGEST_NAME]
        return None

    def _warn_missing(
        self, name: str, lines: tuple[IngredientLine, ...], steps: tuple[ImportedStep, ...]
    ) -> None:
        for is_there, code, message in (
            (name, "no_title", "The recipe has no title."),
            (lines, "no_ingredients", "No ingredients were found."),
            (steps, "no_steps", "No directions were found."),
        ):
            if not is_there:
                self.warnings.append(Warned(code, message))

    def _warn_cut(self, count: int, most: int, what: str) -> None:
        if count > most:
            self.warnings.append(cut_short(count, most, what))


def _line(text: str, group: str) -> IngredientLine:
    line = parse_line(text[:LONGEST_TEXT].strip(), group)
    if group.casefold().strip(" :") in _OPTIONAL:
        return replace(line, optional=True)
    return line
