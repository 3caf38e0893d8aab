"""Notebooks: which ones the writer registered, and questions to them."""

import re
from collections.abc import Mapping
from typing import Final

from callboard.core.errors import InvalidInput, NotFound
from callboard.packs.writers_factory.bible.orders import NotebookLabel
from callboard.packs.writers_factory.memory.decisions import without_controls
from callboard.packs.writers_factory.memory.notebooks.folder import FolderNotebooks
from callboard.packs.writers_factory.memory.notebooks.provider import (
    Notebook,
    NotebookPassage,
    NotebookProvider,
    NotebookRole,
    SyncReport,
    read_role,
)
from callboard.packs.writers_factory.workspace import Workspace

KIND: Final = "notebook"
FOLDER: Final = "folder"
WRITER: Final = "writer"
AGENT: Final = "agent"
PASSAGES: Final = 6
_ID: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_TITLE_CHARS: Final = 120


class Notebooks:
    """The notebooks of a project."""

    def __init__(
        self, workspace: Workspace, providers: Mapping[str, NotebookProvider] | None = None
    ) -> None:
        """Take the open project, and providers beside the one for folders."""
        self._workspace = workspace
        self._given = dict(providers or {})
        self._folders: FolderNotebooks | None = None

    async def register(
        self,
        notebook_id: str,
        title: str,
        role: str,
        path: str,
        *,
        provider: str = FOLDER,
        by: str = AGENT,
    ) -> Notebook:
        """Register a notebook, or change one, and read what is in it.

        A folder outside of the project is taken only `by` the writer, never from an agent.
        """
        name = notebook_id.strip().lower()
        if not _ID.fullmatch(name):
            raise InvalidInput(
                f"{notebook_id[:80]!r} cannot be the id of a notebook",
                fix="Use small letters, digits, hyphens and underscores.",
            )
        chosen = read_role(role)
        kept = self._provider(provider).check(path, is_writers_choice=by == WRITER)
        shown = " ".join(without_controls(title).split())[:_TITLE_CHARS] or name
        notebook = Notebook(name, shown, chosen, kept, provider)
        await self._workspace.records.put(KIND, name, notebook.to_json())
        await self._provider(provider).sync(notebook)
        return notebook

    async def unregister(self, notebook_id: str) -> bool:
        """Forget a notebook; its files stay."""
        notebook = self.get(notebook_id)
        await self._provider(notebook.provider).forget(notebook)
        return await self._workspace.records.delete(KIND, notebook.id)

    def labels(self) -> dict[str, NotebookLabel]:
        """Return what a work order says of each notebook, by its id."""
        return {each.id: NotebookLabel(each.role, each.title) for each in self.list()}

    def list(self, role: str | None = None) -> tuple[Notebook, ...]:
        """Return the registered notebooks, oldest first, of all roles or of one."""
        wanted = None if role is None else read_role(role)
        every = (Notebook.from_json(body) for body in self._workspace.records.all(KIND).values())
        return tuple(each for each in every if wanted is None or each.role is wanted)

    def missing_roles(self) -> tuple[NotebookRole, ...]:
        """Return the roles no notebook was registered for."""
        there = {each.role for each in self.list()}
        return tuple(role for role in NotebookRole if role not in there)

    def get(self, notebook_id: str) -> Notebook:
        """Return a notebook; an unknown id is answered with those that are known."""
        body = self._workspace.records.get(KIND, notebook_id.strip().lower())
        if body is None:
            known = [each.id for each in self.list()]
            raise NotFound(
                f"There is no notebook {notebook_id[:80]!r};"
                f" registered: {', '.join(known) or 'none'}",
                fix="Register it, or name one of the registered ones.",
                notebook_id=notebook_id[:80],
                registered=known,
            )
        return Notebook.from_json(body)

    async def sync(self, notebook_id: str) -> SyncReport:
        """Read what changed in a notebook."""
        notebook = self.get(notebook_id)
        return await self._provider(notebook.provider).sync(notebook)

    async def query(
        self, notebook_id: str, question: str, *, k: int = PASSAGES
    ) -> tuple[NotebookPassage, ...]:
        """Return the passages that bear on a question, best first; empty means not found."""
        notebook = self.get(notebook_id)
        return tuple(await self._provider(notebook.provider).query(notebook, question, k))

    def _provider(self, name: str) -> NotebookProvider:
        if name in self._given:
            return self._given[name]
        if name != FOLDER:
            known = ", ".join((FOLDER, *self._given))
            raise InvalidInput(f"No notebooks come from {name!r}", fix=f"There is: {known}.")
        if self._folders is None:
            studio = self._workspace.studio
            self._folders = FolderNotebooks(studio.project.root, studio.knowledge.library)
        return self._folders
