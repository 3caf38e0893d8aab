"""What can be done with a book: everything its nouns declare, in the order of `pack.yaml`.

What the runs of the pack do to a book is done by operations too, so that it leaves receipts.
"""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from callboard.choreography.operating import carry_out
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.operations import (
    Operation,
    Operations,
    lending,
    open_operations,
    operation,
    operations_of,
)
from callboard.studio.packs import Pack, load_pack
from callboard.studio.studio import Studio

P = ParamSpec("P")
R = TypeVar("R")


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


@dataclass(frozen=True, slots=True)
class Made:
    """What a run has made, as the function that keeps it."""

    keep: Callable[[], Awaitable[Json] | Json]


@operation()
async def keep_made(made: Made, what: str, of: str = "") -> Any:
    """Keep what a run made of a book: a draft, a brief, an analysis, a report, new facts."""
    kept = made.keep()
    return await kept if inspect.isawaitable(kept) else kept


async def keep_in_run(
    stage: Stage, key: str, what: str, act: Callable[[], Awaitable[Json] | Json], *, of: str = ""
) -> Json:
    """Keep what a run made, in a step of it that leaves a receipt."""
    with lending(Made(act)):
        return await in_run(stage, key, keep_made, what, of)


async def in_run(
    stage: Stage, key: str, wanted: Operation[P, R], /, *args: P.args, **kwargs: P.kwargs
) -> R:
    """Do in a run of the pack what it was started for."""
    return await carry_out(stage, key, operations_in(stage.studio), wanted, *args, **kwargs)
