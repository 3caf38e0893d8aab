"""The door into the kitchen: open the project, do one thing, leave."""

from collections.abc import Awaitable, Callable

from callboard.cli import exits
from callboard.cli.bridge import perform_simply
from callboard.cli.work.opening import Choices, working
from callboard.packs.alfred.house import Alfred

Act = Callable[[Alfred], Awaitable[object] | None]
"""Does something in an open kitchen and prints what came of it."""


def enter(choices: Choices, act: Act) -> int:
    """Open the kitchen, do one thing and leave."""

    async def work() -> int:
        async with working(choices) as here:
            doing = act(Alfred(here.studio))
            if doing is not None:
                await doing
            return exits.OK

    return perform_simply(work())
