"""The Typer app of a command: the runtime's own by its module, a pack's by its `pack.yaml`."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from callboard.cli.table import OWN
from callboard.core.errors import NotFound

if TYPE_CHECKING:
    from callboard.studio.packs import Pack


def app_of(name: str) -> Any:
    """Load the app of a command."""
    if name in OWN:
        return import_module(f"callboard.cli.commands.{name}").app
    return _home(name).command(name)


def colliding_commands() -> list[str]:
    """Say which commands of packs are left out because another has the name."""
    from callboard.studio.packs import discover

    taken = dict.fromkeys(OWN, "Callboard itself")
    problems: list[str] = []
    for pack in discover().packs:
        for name in pack.described.commands:
            if name in taken:
                problems.append(
                    f"command {name} of pack {pack.name} is left out: {taken[name]} has it"
                )
            else:
                taken[name] = f"pack {pack.name}"
    return problems


def _home(name: str) -> "Pack":
    from callboard.studio.packs import discover

    for pack in discover().packs:
        if name in pack.described.commands:
            return pack
    raise NotFound(f"There is no command {name!r}", fix="See `callboard --help`.", command=name)
