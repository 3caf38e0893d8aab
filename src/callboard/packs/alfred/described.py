"""DescribedDomain: what every domain on a relational database has in common.

Its file describes it, its data is read and written the one way; what it computes, generates and
understands by itself is its own.
"""

from collections.abc import Sequence
from dataclasses import replace

from callboard.choreography.turn.domain import (
    EntityType,
    ModeSpec,
    Persona,
    QueryStrategy,
    Subdomain,
    Who,
)
from callboard.choreography.turn.requests import (
    ReadRequest,
    ReadResult,
    UndoResult,
    WriteKey,
    WritePreview,
    WriteRequest,
    WriteResult,
)
from callboard.library.relational.data import Data
from callboard.library.relational.schema import render_schema
from callboard.packs.alfred.description import load_description


class DescribedDomain:
    """A domain by its description and its data."""

    def __init__(self, package: str, data: Data) -> None:
        """Take the package that holds the description, and the data."""
        self._about = load_description(package)
        self.data = data

    @property
    def name(self) -> str:
        """How the domain is called."""
        return self._about.name

    def subdomains(self) -> Sequence[Subdomain]:
        """Return the parts of the domain."""
        tables = self.data.tables.subdomains()
        return tuple(replace(each, tables=tables[each.name]) for each in self._about.subdomains)

    def schema(self, subdomain: str) -> str:
        """Return a subdomain's tables as a prompt shows them."""
        return render_schema(self.data.tables, subdomain)

    def entity_types(self) -> Sequence[EntityType]:
        """Return the kinds of things that are tracked one by one."""
        return self._about.entity_types

    def modes(self) -> Sequence[ModeSpec]:
        """Return the modes the user can choose from."""
        return self._about.modes

    def persona(self, subdomain: str) -> Persona:
        """Return how an agent thinks while it works on a subdomain."""
        return self._about.persona_of(subdomain)

    def query_strategies(self) -> Sequence[QueryStrategy]:
        """Return the rules that turn words into filters."""
        return self._about.strategies

    async def read(self, who: Who, request: ReadRequest) -> ReadResult:
        """Return rows of one user."""
        return await self.data.read(who, request)

    async def preview(self, who: Who, request: WriteRequest) -> WritePreview:
        """Say what a change would touch."""
        return await self.data.preview(who, request)

    async def write(
        self,
        who: Who,
        request: WriteRequest,
        key: WriteKey,
        confirmed: WritePreview | None = None,
    ) -> WriteResult:
        """Change rows, all of them or none, once per key."""
        return await self.data.write(who, request, key, confirmed)

    async def undo(self, who: Who) -> UndoResult:
        """Take back what the last turn that wrote has changed."""
        return await self.data.undo(who)
