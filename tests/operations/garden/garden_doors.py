"""The doors of the garden, read off its operations."""

from pathlib import Path
from typing import Any

from callboard.api.operations import operation_router
from callboard.cli.operations import add_commands
from callboard.cli.options import new_app
from callboard.operations import Operations, open_operations, operations_of
from callboard.studio.packs import load_pack
from callboard.studio.studio import Studio

PACK = load_pack(Path(__file__).parent)
ALL = operations_of(PACK)


def find(studio: Studio, kind: type[Any]) -> Any:
    """Return the garden of an open project."""
    return studio.keep(kind, lambda _studio: kind())


def opened(studio: Studio) -> Operations:
    """Return what has operations done in an open project."""
    return open_operations(studio, PACK)


app = new_app("Beds and what grows in them.")
add_commands(app, ALL.values(), opened)
router = operation_router(ALL.values(), opened, prefix="/garden", tag="garden")
