"""The named code of the pack, by the names that loops use."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from callboard.choreography.loop import CodeOutcome, StepView
from callboard.core.canonical import Json
from callboard.core.errors import NotFound
from callboard.packs.questfoundry.foundry import Foundry
from callboard.packs.questfoundry.steps import (
    archiving,
    binding,
    gates,
    harvest,
    looking_back,
    lore,
    media,
    reading_aloud,
    wording,
)

Named = Callable[[Foundry, StepView], Awaitable[Any]]
_MODULES: Final = (
    archiving,
    binding,
    gates,
    harvest,
    looking_back,
    lore,
    media,
    reading_aloud,
    wording,
)


def _named() -> dict[str, Named]:
    import inspect

    return {
        name: each
        for module in _MODULES
        for name, each in vars(module).items()
        if inspect.iscoroutinefunction(each)
        and each.__module__ == module.__name__
        and list(inspect.signature(each).parameters) == ["foundry", "view"]
    }


class QuestChecks:
    """The code that loops of a book may name."""

    def __init__(self, foundry: Foundry) -> None:
        """Take the foundry of the project."""
        self._foundry = foundry
        self._named = _named()

    def names(self) -> frozenset[str]:
        """Return every name a loop may use."""
        return frozenset(self._named)

    async def perform(self, name: str, view: StepView) -> CodeOutcome:
        """Do a code step, or have the last word after roles."""
        return await self._find(name)(self._foundry, view)

    async def look(self, name: str, view: StepView) -> Json:
        """Return what a role is shown before it works."""
        return await self._find(name)(self._foundry, view)

    async def holds(self, name: str, view: StepView) -> bool:
        """Say whether a condition holds."""
        return bool(await self._find(name)(self._foundry, view))

    def _find(self, name: str) -> Named:
        found = self._named.get(name)
        if found is None:
            raise NotFound(
                f"No code of QuestFoundry is called {name!r}",
                fix=f"A loop may name {', '.join(sorted(self._named))}.",
            )
        return found
