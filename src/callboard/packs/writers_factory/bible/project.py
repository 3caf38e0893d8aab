"""Project facts: what the book is called and who it is about, under an id that never changes."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput
from callboard.packs.writers_factory.bible.values import clean_text
from callboard.packs.writers_factory.workspace import Workspace

KIND: Final = "project"
RECORD: Final = "project"
_MOST_CHARS: Final = 500


@dataclass(frozen=True, slots=True)
class ProjectFacts:
    """The book in a few words; without an id nobody has described it yet."""

    id: str = ""
    title: str = ""
    protagonist_name: str = ""
    genre: str = ""
    tone: str = ""
    # Where the protagonist's file lies once it was written.
    protagonist_file: str = ""


_NAMES: Final = tuple(each.name for each in fields(ProjectFacts) if each.name != "id")


class ProjectRecord:
    """Keeps the facts in the project's database."""

    def __init__(self, workspace: Workspace) -> None:
        """Take the open project."""
        self._workspace = workspace

    def read(self) -> ProjectFacts:
        """Return the facts; a book nobody named is called like its folder."""
        return self._facts(self._workspace.records.get(KIND, RECORD))

    async def found(self) -> ProjectFacts:
        """Give the project its id, unless it has one."""
        known = self.read()
        return known if known.id else await self.change({})

    async def change(self, given: Mapping[str, str]) -> ProjectFacts:
        """Change some facts; the id stays, whatever the book is called."""
        unknown = sorted(set(given) - set(_NAMES))
        if unknown:
            raise InvalidInput(
                f"A project has no {', '.join(unknown)}", fix=f"It has {', '.join(_NAMES)}."
            )
        changes = {name: clean_text(value)[:_MOST_CHARS] for name, value in given.items()}
        made = self._workspace.studio.ids.make("project")

        def work(body: dict[str, Any] | None) -> dict[str, Json]:
            before = body or {}
            # Whoever comes first gives the id: two openings at once must agree on one.
            return {**before, **changes, "id": before.get("id") or made}

        return self._facts(await self._workspace.records.change(KIND, RECORD, work))

    def _facts(self, body: dict[str, Any] | None) -> ProjectFacts:
        told = {name: str((body or {}).get(name) or "") for name in (*_NAMES, "id")}
        told["title"] = told["title"] or self._workspace.studio.project.root.name
        return ProjectFacts(**told)
