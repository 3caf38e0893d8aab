"""What is wrong with the installed packs, from all doors: told by `packs list` and `doctor`."""

from callboard.cli.command_apps import command_problems
from callboard.operations.performing import broken_operations
from callboard.studio.pack_checks import broken_parts, taken_tools
from callboard.studio.packs import discover


def pack_problems() -> list[str]:
    """Load all that installed packs bring, and say what is left out and why."""
    from callboard.api.pack_routes import colliding_routes
    from callboard.api.routes import ROUTERS
    from callboard.ui.mounting import colliding_pages

    found = discover()
    return [
        *found.problems,
        *(problem for pack in found.packs for problem in broken_parts(pack)),
        *(problem for pack in found.packs for problem in broken_operations(pack)),
        *command_problems(),
        *colliding_routes(found.packs, ROUTERS),
        *colliding_pages(),
        *taken_tools(found.packs),
    ]
