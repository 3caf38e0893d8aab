"""Opening a project for a test: a scripted model, and every failure seen at once, not retried."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from callboard.models import Script
from callboard.studio.opening import Opening
from callboard.studio.packs import Pack, load_pack
from callboard.studio.studio import Studio

# Nor is a provider that sends callers away spared for a while.
_ONCE: Final = {"max_attempts": 1, "initial_delay_seconds": 0.0, "max_delay_seconds": 0.0}

SCRIPTED: Final[dict[str, Any]] = {
    "models": {"default": "script"},
    "errors": {
        "retry": {"transient": _ONCE, "external_rate_limit": _ONCE, "external_degrading": _ONCE}
    },
}
"""Flags for `Opening`: the model is the script, no call is made twice, and none has to wait."""


def scripted(
    script: Script | None = None,
    *packs: Pack | Path,
    flags: Mapping[str, Any] | None = None,
    **more: Any,
) -> Opening:
    """Return how a project is opened with a script as its model, and packs by their folders.

    `more` is what else an `Opening` takes; what is None there is left to its default.
    """
    return Opening(
        packs=tuple(load_pack(each) if isinstance(each, Path) else each for each in packs),
        providers={"script": script or Script()},
        flags={**SCRIPTED, **(flags or {})},
        **{name: value for name, value in more.items() if value is not None},
    )


@asynccontextmanager
async def open_scripted(
    root: Path, script: Script | None = None, *packs: Pack | Path, **more: Any
) -> AsyncGenerator[Studio]:
    """Open a project as `scripted` says, for as long as the context lasts."""
    async with Studio.open(root, scripted(script, *packs, **more)) as studio:
        yield studio
