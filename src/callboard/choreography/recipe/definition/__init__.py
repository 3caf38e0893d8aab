"""Recipes as data: their shape, references, patterns, wiring and where they are found."""

from callboard.choreography.recipe.definition.library import (
    RecipeLibrary,
    Shelved,
    Shelves,
    matched_chars,
    plain_words,
    shelved_to_json,
)
from callboard.choreography.recipe.definition.model import (
    AgentStep,
    CheckKind,
    Commit,
    CommitAction,
    CommitMode,
    Recipe,
    RecipeCheck,
    RecipeStep,
    ToolStep,
    key_of,
)
from callboard.choreography.recipe.definition.reading import read_recipe, recipe_from
from callboard.choreography.recipe.definition.refs import (
    Ref,
    find_refs,
    follow,
    parse_ref,
    read_ref,
    resolve,
)
from callboard.choreography.recipe.definition.wiring import RecipeSurroundings, check_wiring
from callboard.choreography.recipe.errors import Problem

__all__ = [
    "AgentStep",
    "CheckKind",
    "Commit",
    "CommitAction",
    "CommitMode",
    "Problem",
    "Recipe",
    "RecipeCheck",
    "RecipeLibrary",
    "RecipeStep",
    "RecipeSurroundings",
    "Ref",
    "Shelved",
    "Shelves",
    "ToolStep",
    "check_wiring",
    "find_refs",
    "follow",
    "key_of",
    "matched_chars",
    "parse_ref",
    "plain_words",
    "read_recipe",
    "read_ref",
    "recipe_from",
    "resolve",
    "shelved_to_json",
]
