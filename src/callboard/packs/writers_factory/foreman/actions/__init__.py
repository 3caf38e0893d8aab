"""Actions: what a reply may ask for, who may, and how it is done."""

from callboard.packs.writers_factory.foreman.actions.catalogue import (
    ActionsInvalid,
    ActionSpec,
    Catalogue,
    load_catalogue,
)
from callboard.packs.writers_factory.foreman.actions.executor import ActionExecutor, cause_of
from callboard.packs.writers_factory.foreman.actions.results import (
    ActionResult,
    notice_of,
    results_markup,
)

__all__ = [
    "ActionExecutor",
    "ActionResult",
    "ActionSpec",
    "ActionsInvalid",
    "Catalogue",
    "cause_of",
    "load_catalogue",
    "notice_of",
    "results_markup",
]
