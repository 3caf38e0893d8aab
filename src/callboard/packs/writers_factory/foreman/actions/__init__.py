"""Actions: what a reply may ask for, who may, and how it is done."""

from callboard.packs.writers_factory.foreman.actions.catalogue import (
    ActionsInvalid,
    ActionSpec,
    Catalogue,
    load_catalogue,
)
from callboard.packs.writers_factory.foreman.actions.executor import (
    ActionCall,
    Executor,
    Handler,
)
from callboard.packs.writers_factory.foreman.actions.handlers import CHALLENGE, Handlers
from callboard.packs.writers_factory.foreman.actions.results import (
    ActionResult,
    Done,
    Status,
    notice_of,
    results_markup,
)

__all__ = [
    "CHALLENGE",
    "ActionCall",
    "ActionResult",
    "ActionSpec",
    "ActionsInvalid",
    "Catalogue",
    "Done",
    "Executor",
    "Handler",
    "Handlers",
    "Status",
    "load_catalogue",
    "notice_of",
    "results_markup",
]
