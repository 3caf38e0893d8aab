"""Routing: which recipe a request is for, by its words alone. No model, no guessing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from callboard.choreography.recipe.definition import (
    Recipe,
    RecipeLibrary,
    Shelved,
    matched_chars,
    plain_words,
)
from callboard.core.canonical import Json

Seeds = Callable[[str, Recipe], Mapping[str, Json]]
"""Takes a recipe's arguments out of a request; what cannot be made out is left out, never invented.
"""


@dataclass(frozen=True, slots=True)
class Routing:
    """What became of a request: a recipe with the arguments its words give, or a reason."""

    recipe_id: str | None
    initial_args: dict[str, Json] = field(default_factory=dict[str, Json])
    reason: str = ""
    missing_args: tuple[str, ...] = ()

    @property
    def routable(self) -> bool:
        """Whether a recipe was found."""
        return self.recipe_id is not None

    def to_json(self) -> dict[str, Json]:
        """Return the shape doors show."""
        return {
            "recipe_id": self.recipe_id,
            "initial_args": self.initial_args,
            "routable": self.routable,
            "reason": self.reason,
            "missing_args": list(self.missing_args),
        }

    def __str__(self) -> str:
        """Render for people."""
        if self.recipe_id is None:
            return f"Not routable: {self.reason}"
        lines = [f"Recipe: {self.recipe_id}", f"Reason: {self.reason}"]
        lines += [f"{name}: {value}" for name, value in self.initial_args.items()]
        if self.missing_args:
            lines.append(f"Still needed: {', '.join(self.missing_args)}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class _Hit:
    chars: int
    recipe_id: str
    pattern: str


class Router:
    """Finds the recipe whose pattern covers most of a request."""

    def __init__(self, library: RecipeLibrary, seeds: Seeds | None = None) -> None:
        """Take the recipes, and what a pack can take out of a request."""
        self._library = library
        self._seeds = seeds

    def route(self, description: str) -> Routing:
        """Return the recipe for a request with the arguments found in its words."""
        words = plain_words(description)
        recipes = self._library.recipes()
        hits = sorted(
            (hit for shelved in recipes for hit in _best(shelved, words)),
            key=lambda hit: (-hit.chars, hit.recipe_id),
        )
        if not hits:
            known = ", ".join(f"{each.recipe.label}" for each in recipes) or "none"
            return Routing(None, reason=f"no recipe has a pattern for it; recipes: {known}")
        won, *lost = hits
        reason = f"'{won.pattern}' of {won.recipe_id} matches {won.chars} characters"
        if lost:
            others = ", ".join(f"'{hit.pattern}' of {hit.recipe_id} ({hit.chars})" for hit in lost)
            reason += f"; shorter or later by name: {others}"
        recipe = self._library.shelves().recipes[won.recipe_id].recipe
        seeds = dict(self._seeds(description, recipe)) if self._seeds is not None else {}
        missing = tuple(name for name in recipe.required_args if name not in seeds)
        return Routing(won.recipe_id, seeds, reason, missing)


def _best(shelved: Shelved, words: str) -> list[_Hit]:
    recipe = shelved.recipe
    found = [
        _Hit(chars, recipe.recipe_id, pattern)
        for pattern in recipe.task_patterns
        if (chars := matched_chars(pattern, words)) > 0
    ]
    return sorted(found, key=lambda hit: -hit.chars)[:1]
