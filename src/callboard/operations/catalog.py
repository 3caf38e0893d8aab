"""The operations of a pack, gathered from the modules its `pack.yaml` names."""

from collections.abc import Iterator
from typing import Any

from callboard.operations.declaration import Operation, OperationInvalid
from callboard.operations.performing import Operations
from callboard.studio.packs import Pack, PackInvalid
from callboard.studio.studio import Studio


def operations_of(pack: Pack) -> dict[str, Operation[..., Any]]:
    """Return everything that can be done with a pack, by name, in the order of declaration."""
    found: dict[str, Operation[..., Any]] = {}
    for module in pack.operation_modules():
        declared: list[Operation[..., Any]] = [
            each for each in vars(module).values() if isinstance(each, Operation)
        ]
        for each in declared:
            if each.function.__module__ != module.__name__:
                continue
            known = found.setdefault(each.name, each)
            if known is not each:
                raise OperationInvalid(
                    f"Pack {pack.name} declares {each.name} twice: {known.place}, {each.place}",
                    fix="Give one of them another name.",
                )
    return found


def broken_operations(pack: Pack) -> Iterator[str]:
    """Say which operations of a pack take or give what no door can carry."""
    try:
        declared = operations_of(pack)
    except PackInvalid:
        # Told by whoever loads its parts.
        return
    except OperationInvalid as error:
        yield error.message
        return
    for each in declared.values():
        try:
            _ = each.arguments
        except OperationInvalid as error:
            yield f"operation {each.name} of pack {pack.name} cannot be used: {error.message}"


def open_operations(studio: Studio, pack: Pack) -> Operations:
    """Return what has the operations of a pack done in an open project."""
    entry = pack.described.operations
    family = pack.name if entry is None else entry.family
    return Operations(studio, family, pack.finder())
