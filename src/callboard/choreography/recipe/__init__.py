"""Recipes: declarative plans that are routed, started, played step by step, and looked at."""

from callboard.choreography.recipe.definition import (
    Problem,
    Recipe,
    RecipeLibrary,
    Shelved,
    shelved_to_json,
)
from callboard.choreography.recipe.errors import (
    AgentError,
    AgentTimeout,
    CommitRefused,
    DodFailed,
    EmptyOutput,
    EvidenceInvalid,
    InputAbstained,
    MissingArgs,
    RecipeInvalid,
    RecipeNotFound,
    RecipeRunning,
    RefResolutionError,
    RefSyntaxError,
    StopHook,
)
from callboard.choreography.recipe.proposals import (
    FileProposal,
    ProposalOutdated,
    apply_proposals,
    list_proposals,
)
from callboard.choreography.recipe.routing import Router, Routing
from callboard.choreography.recipe.running.play import RecipeHouse
from callboard.choreography.recipe.shelf import RecipeChoreography, RecipeShelf, recipe_shelf
from callboard.choreography.recipe.starting import RecipeRequest
from callboard.choreography.recipe.task import Assignment, RecipeTask
from callboard.choreography.recipe.view import RunView, is_recipe_run, iso, run_line

__all__ = [
    "AgentError",
    "AgentTimeout",
    "Assignment",
    "CommitRefused",
    "DodFailed",
    "EmptyOutput",
    "EvidenceInvalid",
    "FileProposal",
    "InputAbstained",
    "MissingArgs",
    "Problem",
    "ProposalOutdated",
    "Recipe",
    "RecipeChoreography",
    "RecipeHouse",
    "RecipeInvalid",
    "RecipeLibrary",
    "RecipeNotFound",
    "RecipeRequest",
    "RecipeRunning",
    "RecipeShelf",
    "RecipeTask",
    "RefResolutionError",
    "RefSyntaxError",
    "Router",
    "Routing",
    "RunView",
    "Shelved",
    "StopHook",
    "apply_proposals",
    "is_recipe_run",
    "iso",
    "list_proposals",
    "recipe_shelf",
    "run_line",
    "shelved_to_json",
]
