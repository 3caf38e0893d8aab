"""A project opened to be read: its database and nothing else, no engine, no lock."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from callboard.cli.lookup import Owners, find_run
from callboard.core.errors import NotFound
from callboard.core.vocabulary.run import RunRecord
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.kept import check_kept_folder
from callboard.studio.database import admit, open_database, refuse_lost
from callboard.studio.project import Project

T = TypeVar("T")


class Reading:
    """A project as far as it can be read; without a database it is simply empty."""

    def __init__(self, project: Project, database: Database | None) -> None:
        """Take an open database, or none if nothing has ever run."""
        self.project = project
        self._database = database

    @property
    def is_empty(self) -> bool:
        """Whether nothing has ever run here."""
        return self._database is None

    @property
    def database(self) -> Database:
        """The database; in an empty project there is nothing to be found in it."""
        if self._database is None:
            raise NotFound(
                f"Nothing has run in {self.project.root} yet", fix="`callboard run` starts a run."
            )
        return self._database

    def read(self, work: Callable[[Connection], T]) -> T:
        """Read from the database; an empty project is an error that says so."""
        return self.database.read(work)

    def read_or(self, empty: T, work: Callable[[Connection], T]) -> T:
        """Read from the database, or return what an empty project holds."""
        return empty if self._database is None else self._database.read(work)

    def run(self, text: str) -> RunRecord:
        """Return the run a user means."""
        return self.read(lambda connection: find_run(connection, text))

    def owners(self) -> Owners:
        """Return who executes what."""
        return Owners(self.database, self.project)


def find_project(project: Path | None) -> Project:
    """Return the named project, or the one at or above the current folder."""
    return Project.find(Path.cwd() if project is None else project)


@contextmanager
def reading(project: Path | None) -> Generator[Reading]:
    """Open a project to be read, for as long as the context lasts."""
    found = find_project(project)
    check_kept_folder(found.folder)
    if not found.database.exists():
        refuse_lost(found)
        yield Reading(found, None)
        return
    database = open_database(admit(found))
    try:
        yield Reading(found, database)
    finally:
        database.close()
