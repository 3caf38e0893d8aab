"""A project opened to be read, no engine and no lock, and finding what the user named in it."""

import os
import shlex
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from callboard.core.clock import SystemClock
from callboard.core.errors import CallboardError, InvalidInput, NotFound
from callboard.core.ids import IdMaker
from callboard.core.vocabulary.run import UNFINISHED, RunRecord, RunState, SessionRecord
from callboard.engine.ownership import Ownership
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.journal.runs import list_runs, load_run, match_runs
from callboard.store.journal.sessions import load_session
from callboard.store.kept import check_kept_folder
from callboard.studio.database import admit, open_database, refuse_lost
from callboard.studio.place import has_database
from callboard.studio.privacy import Viewer
from callboard.studio.project import Project

if TYPE_CHECKING:
    from callboard.studio.packs import Pack

LAST = "last"
PERSON_VARIABLE = "CALLBOARD_USER"
# A paused run rests because somebody wanted it to.
_GOING = tuple(state for state in UNFINISHED if state is not RunState.PAUSED)


def find_run(connection: Connection, text: str) -> RunRecord:
    """Return the run a user means; more than one candidate is an error that names them."""
    if text == LAST:
        newest = list_runs(connection, limit=1)
        if not newest:
            raise NotFound("There is no run in this project yet", fix="`callboard run` starts one.")
        return newest[0]
    return load_run(connection, pick(match_runs(connection, text), text, "run"))


def viewer_here() -> Viewer:
    """Return who looks: the person the environment names, if it names one."""
    return Viewer(os.environ.get(PERSON_VARIABLE) or None)


def find_own_run(connection: Connection, text: str) -> RunRecord:
    """Return the run a user means; one of somebody else's conversation raises."""
    found = find_run(connection, text)
    viewer_here().require(connection, found.session_id)
    return found


def pick(candidates: Sequence[str], text: str, noun: str) -> str:
    """Return the only candidate, the exact one, or the text itself if nothing is like it."""
    if text in candidates or not candidates:
        return text
    if len(candidates) == 1:
        return candidates[0]
    named = ", ".join(candidates[:5]) + (", …" if len(candidates) > 5 else "")
    raise InvalidInput(
        f"{text!r} fits {len(candidates)} {noun}s: {named}", fix="Give a few more characters."
    )


def matching(ids: Sequence[str], text: str) -> list[str]:
    """Return the ids that begin or end with what the user typed."""
    return [each for each in ids if each.startswith(text) or each.endswith(text)]


class Owners:
    """Says which runs a living process executes, without being one of those processes."""

    def __init__(self, database: Database, project: Project) -> None:
        """Take the project whose processes are looked at."""
        self._database = database
        clock = SystemClock()
        self._ownership = Ownership(database, project.locks, IdMaker(clock), clock)

    def executes(self, run: RunRecord) -> bool:
        """Say whether some process executes the run."""
        owner = run.owner
        if owner is None:
            return False
        return self._database.read(lambda connection: self._ownership.is_alive(connection, owner))

    def interrupted(self) -> list[RunRecord]:
        """Return the runs that should be going on but that nobody executes, oldest first."""
        runs = self._database.read(lambda connection: list_runs(connection, states=_GOING))
        return [run for run in reversed(runs) if not self.executes(run)]

    def state_of(self, run: RunRecord) -> str:
        """Return the state as a user should read it: `running` without a process is not."""
        is_going = run.state in (RunState.PENDING, RunState.RUNNING)
        return "interrupted" if is_going and not self.executes(run) else run.state.value


T = TypeVar("T")


class OpenJournal:
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
        """Return the run a user means; one of somebody else's conversation raises."""
        return self.read(lambda connection: find_own_run(connection, text))

    def session(self, text: str) -> SessionRecord:
        """Return the session a user means; somebody else's conversation raises."""

        def work(connection: Connection) -> SessionRecord:
            found = load_session(connection, text)
            self.viewer.require(connection, found.id)
            return found

        return self.read(work)

    @property
    def viewer(self) -> Viewer:
        """Who looks."""
        return viewer_here()

    def owners(self) -> Owners:
        """Return who executes what."""
        return Owners(self.database, self.project)


def answer_command(question_id: str, project: Project, packs: "Sequence[Pack]" = ()) -> str:
    """Return the command that answers a question from the folder somebody is in."""
    try:
        is_here = Project.find(Path.cwd()).root == project.root
    except CallboardError:
        is_here = False
    words = ["callboard", "answer", question_id, "VALUE"]
    words += [] if is_here else ["--project", str(project.root)]
    # A pack without a package is in a folder that was named, and must be named again.
    words += [word for pack in packs if not pack.package for word in ("--pack", str(pack.root))]
    return shlex.join(words)


def find_project(project: Path | None) -> Project:
    """Return the named project, or the one at or above the current folder."""
    return Project.find(Path.cwd() if project is None else project)


@contextmanager
def reading(project: Path | None) -> Generator[OpenJournal]:
    """Open a project to be read, for as long as the context lasts."""
    found = find_project(project)
    check_kept_folder(found.folder)
    if not has_database(found):
        refuse_lost(found)
        yield OpenJournal(found, None)
        return
    database = open_database(admit(found))
    try:
        yield OpenJournal(found, database)
    finally:
        database.close()
