"""A project opened to work in it: packs, model, and the runs this process takes into its hands."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from callboard.cli.bridge import Interrupt
from callboard.cli.handlers.ending import conclude
from callboard.cli.handlers.following import follow
from callboard.cli.output import counted, remark
from callboard.cli.reading import Owners, find_own_run
from callboard.cli.views.view import WatchView, choose_view
from callboard.core.canonical import Json
from callboard.core.vocabulary.run import RunRecord
from callboard.store.journal.steps import load_journal
from callboard.studio.configuration import Configuration
from callboard.studio.opening import Opening
from callboard.studio.packs import load_pack
from callboard.studio.project import Project
from callboard.studio.studio import Studio


@dataclass(frozen=True, slots=True)
class Choices:
    """What a user chose for one command."""

    project: Path | None
    packs: Sequence[Path] = ()
    model: str | None = None
    as_json: bool = False
    # Models the user named besides the one for agents that name none.
    also: tuple[str, ...] = ()

    def opening(self) -> Opening:
        """Return how the studio is opened; runs of others are never taken up by themselves."""
        flags: dict[str, Json] = {"models": {"default": self.model}} if self.model else {}
        packs = tuple(load_pack(folder) for folder in self.packs)
        return Opening(packs=packs, flags=flags, models=self.also, recover=False)


def pack_of_project(folder: Path | None) -> str:
    """Return what a project is for, as its settings say."""
    project = Project.find(Path.cwd() if folder is None else folder)
    return Configuration(project).settings.pack


@asynccontextmanager
async def working(choices: Choices) -> "AsyncGenerator[OpenWork]":
    """Open the project to work in it, for as long as the context lasts."""
    root = Path.cwd() if choices.project is None else choices.project
    async with Studio.open(root, choices.opening()) as studio:
        yield OpenWork(studio, choices)


class OpenWork:
    """An open studio together with what the user chose."""

    def __init__(self, studio: Studio, choices: Choices) -> None:
        """Take the open studio."""
        self.studio = studio
        self.choices = choices
        self.owners = Owners(studio.database, studio.project)

    def find(self, text: str) -> RunRecord:
        """Return the run a user means; one of somebody else's conversation raises."""
        return self.studio.database.read(lambda connection: find_own_run(connection, text))

    def require_choreography(self, run: RunRecord) -> None:
        """Refuse to touch a run whose pack is not here, before anything is changed."""
        if not run.is_terminal:
            self.studio.repertoire.performer(run.choreography)

    def hint_at_interrupted(self) -> None:
        """Tell of runs that nobody executes any more, without touching them."""
        lost = [run for run in self.owners.interrupted() if self.owners.state_of(run) != run.state]
        if lost and not self.choices.as_json:
            remark(
                f"Interrupted earlier: {counted(len(lost), 'run')}; "
                "`callboard runs resume --all` takes them up."
            )

    def announce(self, run: RunRecord) -> None:
        """Say which run begins, and what it keeps of another."""
        if self.choices.as_json:
            return
        model = self.studio.settings.models.default
        remark(f"Run {run.id} of {run.choreography} begins (model {model}).")
        if run.parent_id is not None:
            journal = self.studio.database.read(lambda connection: load_journal(connection, run))
            remark(f"It keeps {counted(len(journal), 'finished step')} of {run.parent_id}.")

    def view(self) -> WatchView:
        """Return how this command shows a run."""
        return choose_view(as_json=self.choices.as_json)

    async def follow(self, run_id: str, interrupt: Interrupt, *, after: int = 0) -> int:
        """Show a run that is executed here, then how it ended; return the exit code."""
        followed = await follow(self.studio, run_id, self.view(), interrupt, after=after)
        return conclude(self.studio, followed, as_json=self.choices.as_json)
