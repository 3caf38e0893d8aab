"""Checks of installed packs: what each names is loaded, and nothing is there twice.

Whoever only works in a project does not need this: a pack's code is loaded when it is used, and
what cannot be loaded is left out then.
"""

from collections.abc import Callable, Iterator
from typing import Any

from callboard.core.errors import CallboardError
from callboard.studio.pack_file import HookEntries
from callboard.studio.packs import Pack
from callboard.tools.builtin import BUILTIN_TOOLS


def broken_parts(pack: Pack) -> Iterator[str]:
    """Load what a pack names, all but commands and routes, and say what cannot be."""
    for told, load in _parts(pack):
        try:
            load()
        except CallboardError as error:
            yield f"{told} of pack {pack.name} is left out: {error.message}"


def taken_twice(packs: tuple[Pack, ...], kind: str, own: dict[str, str]) -> Iterator[str]:
    """Say which commands, pages or tools are left out because another has the name."""
    taken = dict(own)
    for pack in packs:
        for name in _names(pack, kind):
            if name in taken:
                yield f"{kind} {name} of pack {pack.name} is left out: {taken[name]} has it"
            else:
                taken[name] = f"pack {pack.name}"


def taken_tools(packs: tuple[Pack, ...]) -> Iterator[str]:
    """Say which tools are left out because another has the id."""
    return taken_twice(packs, "tool", {tool.id: "Callboard itself" for tool in BUILTIN_TOOLS})


def _names(pack: Pack, kind: str) -> tuple[str, ...]:
    match kind:
        case "command":
            return tuple(pack.described.commands)
        case "page":
            return () if pack.described.page is None else (pack.described.page.path,)
        case _:
            return pack.tools


def _parts(pack: Pack) -> Iterator[tuple[str, Callable[[], Any]]]:
    described = pack.described
    for name in described.choreographies:
        yield f"choreography {name}", lambda name=name: pack.choreography(name)
    for reference in described.shelves:
        yield f"shelf {reference}", lambda each=reference: pack.shelf(each)
    for tool_id in pack.tools:
        yield f"tool {tool_id}", lambda each=tool_id: pack.tool(each)
    if described.operations is not None:
        yield "operations", lambda: (pack.operation_modules(), pack.finder())
    if described.page is not None:
        yield f"page {described.page.path}", pack.page
    for name in HookEntries.model_fields:
        yield f"hook {name}", lambda name=name: pack.hook(name)
