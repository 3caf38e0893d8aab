"""Notebooks as anybody may provide them: registered, read, queried. Values and a protocol."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from callboard.core.codec import Coded
from callboard.core.errors import InvalidInput
from callboard.library.story.model import Quote

NOT_FOUND = "not found in this notebook"


class NotebookRole(StrEnum):
    """What a notebook is for."""

    WORLD_BUILDING = "world_building"
    CHARACTER_VOICE = "character_voice"
    CRAFT_REFERENCE = "craft_reference"


@dataclass(frozen=True, slots=True)
class Notebook(Coded):
    """A registered source of the writer's own material."""

    id: str
    title: str
    role: NotebookRole
    path: str
    provider: str = "folder"


@dataclass(frozen=True, slots=True)
class NotebookPassage(Quote):
    """A place in a notebook that bears on a question; always untrusted text."""

    notebook_id: str
    score: float = 0.0

    @property
    def place(self) -> str:
        """File and lines, as a reader looks them up."""
        if self.line_start == self.line_end:
            return f"{self.path}:{self.line_start}"
        return f"{self.path}:{self.line_start}-{self.line_end}"


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What reading a notebook anew found."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    # Files that could not be read, each with the reason.
    unreadable: tuple[str, ...] = ()


class NotebookProvider(Protocol):
    """Where the passages of a notebook come from: a folder here, or a service elsewhere."""

    def check(self, path: str, *, is_writers_choice: bool) -> str:
        """Return a place as it is kept, or refuse it; only the writer may name any place."""
        ...

    async def sync(self, notebook: Notebook) -> SyncReport:
        """Bring what is searched up to date; unchanged files cost nothing."""
        ...

    async def query(self, notebook: Notebook, question: str, k: int) -> list[NotebookPassage]:
        """Return the passages that bear on a question, the best first; none if nothing does."""
        ...

    async def forget(self, notebook: Notebook) -> None:
        """Drop what was kept for searching."""
        ...


def read_role(name: str) -> NotebookRole:
    """Return a role by its name, however it is spelled."""
    plain = "_".join(name.strip().lower().replace("-", " ").replace("_", " ").split())
    aliases = {"world": "world_building", "voice": "character_voice", "craft": "craft_reference"}
    try:
        return NotebookRole(aliases.get(plain, plain))
    except ValueError:
        raise InvalidInput(
            f"{name!r} is no role of a notebook",
            fix=f"Use one of: {', '.join(NotebookRole)}.",
            role=name[:80],
        ) from None
