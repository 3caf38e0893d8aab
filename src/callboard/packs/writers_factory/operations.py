"""What can be done with a book: everything its nouns declare, in the order of `pack.yaml`."""

from functools import cache
from pathlib import Path
from typing import Any

from callboard.operations import Operation, Operations, open_operations, operations_of
from callboard.studio.packs import Pack, load_pack
from callboard.studio.studio import Studio


@cache
def declared() -> dict[str, Operation[..., Any]]:
    """Return every operation of the pack by its name."""
    return operations_of(_pack())


@cache
def _pack() -> Pack:
    return load_pack(Path(__file__).parent, __package__ or "")


def operations_in(studio: Studio) -> Operations:
    """Return what has the operations of the pack done in an open project."""
    return open_operations(studio, _pack())
