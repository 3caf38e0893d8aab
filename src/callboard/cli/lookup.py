"""Finding what the user named: runs by a few characters or `last`, and who executes them."""

from collections.abc import Sequence

from callboard.core.clock import SystemClock
from callboard.core.errors import InvalidInput, NotFound
from callboard.core.ids import IdMaker
from callboard.core.vocabulary.run import UNFINISHED, RunRecord, RunState
from callboard.engine.ownership import Ownership
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.journal.runs import list_runs, load_run, match_runs
from callboard.studio.project import Project

LAST = "last"
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
