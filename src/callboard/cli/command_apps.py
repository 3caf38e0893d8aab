"""The Typer app of a command: the runtime's own by its module, a pack's by its `pack.yaml`."""

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from callboard.cli.table import OWN, TAKEN
from callboard.core.errors import NotFound

if TYPE_CHECKING:
    from callboard.studio.packs import Pack


def app_of(name: str) -> Any:
    """Load the app of a command."""
    if name in OWN:
        return import_module(f"callboard.cli.commands.{name}").app
    return _app(_home(name), name)


def command_problems() -> Iterator[str]:
    """Say which commands of packs cannot be loaded, or are left out as another has the name."""
    from callboard.studio.pack_checks import taken_twice
    from callboard.studio.packs import PackInvalid, discover

    packs = discover().packs
    for pack, name in [(each, name) for each in packs for name in each.described.commands]:
        try:
            _app(pack, name)
        except PackInvalid as error:
            yield f"command {name} of pack {pack.name} is left out: {error.message}"
    yield from taken_twice(packs, "command", dict.fromkeys(TAKEN, "Callboard itself"))


def _app(pack: "Pack", name: str) -> Any:
    import typer

    from callboard.studio.packs import PackInvalid

    app = pack.command(name)
    if not isinstance(app, typer.Typer):
        raise PackInvalid(
            f"command {name} of pack {pack.name} is no Typer app, but {type(app).__name__}",
            fix=f"Correct {pack.described.commands[name].app}.",
        )
    return app


def _home(name: str) -> "Pack":
    from callboard.studio.packs import discover

    for pack in discover().packs:
        if name in pack.described.commands:
            return pack
    raise NotFound(f"There is no command {name!r}", fix="See `callboard --help`.", command=name)
