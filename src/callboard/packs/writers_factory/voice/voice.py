"""Voice: how far the project has come with its voice, and what the writer decides about it."""

from dataclasses import dataclass
from typing import Final

from callboard.core.errors import Conflict, InvalidInput
from callboard.packs.writers_factory.voice.bundle.making import VoiceLocked
from callboard.packs.writers_factory.voice.bundle.reading import (
    VoiceBundle,
    is_complete,
    read_bundle,
)
from callboard.packs.writers_factory.voice.state import VoiceRecord
from callboard.packs.writers_factory.voice.tournament.contestants import (
    Contestant,
    check_contestants,
)
from callboard.packs.writers_factory.voice.tournament.tournaments import (
    Pick,
    Tournament,
    Tournaments,
    TournamentState,
)
from callboard.packs.writers_factory.workspace import Workspace
from callboard.tools.errors import ToolError

# What leads to a locked voice, in order.
STEPS: Final = ("test_passage", "tournament", "winner", "bundle", "lock")
_HELD: Final = (TournamentState.READY, TournamentState.WINNER_SELECTED, TournamentState.BUNDLED)


class LockRefused(Conflict):
    """The voice cannot be locked as things are."""

    code = "lock_refused"


@dataclass(frozen=True, slots=True)
class VoiceStatus:
    """What of the voice is done, computed from records and files."""

    test_passage: str = ""
    tournament_id: str = ""
    tournament_state: str = ""
    winner: str = ""
    bundle_ready: bool = False
    locked: bool = False
    bundle_path: str = ""
    bundle_version: int = 0
    winning_agent: str = ""
    winning_strategy: str = ""

    @property
    def steps(self) -> tuple[str, ...]:
        """Which of the steps are done."""
        is_held = self.tournament_state in _HELD
        done = (self.test_passage, is_held, self.winner, self.bundle_ready, self.locked)
        return tuple(name for name, is_done in zip(STEPS, done, strict=True) if is_done)

    @property
    def steps_done(self) -> int:
        """How many of the five steps are done."""
        return len(self.steps)


class Voice:
    """The voice of a project."""

    def __init__(self, workspace: Workspace) -> None:
        """Take the open project."""
        self._workspace = workspace
        self._record = VoiceRecord(workspace)
        self._tournaments = Tournaments(workspace)

    def status(self) -> VoiceStatus:
        """Return how far the voice has come; a bundle whose files are gone is no bundle."""
        state = self._record.read()
        tournament = self._tournament(state.tournament_id)
        winning = tournament.winning if tournament is not None and state.winner else None
        path = self._path()
        is_ready = bool(state.winner) and self._has_files(path)
        return VoiceStatus(
            test_passage=state.test_passage,
            tournament_id=state.tournament_id,
            tournament_state=tournament.state.value if tournament is not None else "",
            winner=state.winner,
            bundle_ready=is_ready,
            locked=state.locked and is_ready,
            bundle_path=path if is_ready else "",
            bundle_version=state.bundle_version,
            winning_agent=winning.agent if winning is not None else "",
            winning_strategy=winning.strategy if winning is not None else "",
        )

    def bundle(self) -> VoiceBundle | None:
        """Return the bundle as its files say now, or None without one."""
        path = self._path()
        return read_bundle(self._workspace.files, path) if self._has_files(path) else None

    def tournaments(self) -> tuple[Tournament, ...]:
        """Return every tournament, oldest first."""
        return self._tournaments.all()

    def tournament(self, tournament_id: str) -> Tournament:
        """Return one tournament."""
        return self._tournaments.get(tournament_id)

    def check_agents(self, models: list[str]) -> tuple[Contestant, ...]:
        """Say which models can take part in a tournament, before one is started."""
        return check_contestants(self._workspace, models)

    async def set_test_passage(self, text: str) -> None:
        """Store the brief the tournament's passages are to be written to."""
        if not text.strip():
            raise InvalidInput("The test passage is empty", fix="Say what it is to tell.")
        await self._record.note_test_passage(text.strip())

    async def select_winner(
        self,
        tournament_id: str,
        pick: Pick,
        *,
        notes: str = "",
        confirmed: bool = False,
    ) -> Tournament:
        """Make a variant the winner; once the voice is locked, only if the writer confirms it."""
        tournament = self._tournaments.get(tournament_id)
        if tournament.state in (
            TournamentState.PENDING,
            TournamentState.RUNNING,
            TournamentState.FAILED,
            TournamentState.CANCELLED,
        ):
            raise Conflict(
                f"Tournament {tournament_id} is {tournament.state}: nothing can be chosen yet",
                fix="Wait until it is ready, or hold a new one.",
                tournament=tournament_id,
            )
        winner = tournament.find(pick)
        state = self._record.read()
        if state.locked and state.winner != winner.id and not confirmed:
            raise VoiceLocked(
                "The voice is locked", fix="Only the writer can choose anew, by confirming it."
            )
        is_same = (state.winner, state.tournament_id) == (winner.id, tournament_id)
        kept = TournamentState.BUNDLED if is_same and state.bundle_path else None
        marked = await self._tournaments.mark(
            tournament_id,
            winner=winner.id,
            notes=notes or tournament.notes,
            state=kept or TournamentState.WINNER_SELECTED,
        )
        changes = {} if is_same else {"locked": False, "locked_at": 0}
        await self._record.change(winner=winner.id, tournament_id=tournament_id, **changes)
        return marked

    async def lock(self, confirmed_by_writer: bool) -> VoiceStatus:
        """Lock the voice: the writer's word, and only with a bundle to hold on to."""
        if not confirmed_by_writer:
            raise LockRefused(
                "Only the writer can lock the voice", fix="Ask the writer to confirm it."
            )
        status = self.status()
        if not status.bundle_ready:
            missing = "a winner" if not status.winner else "the voice bundle"
            raise LockRefused(
                f"The voice cannot be locked without {missing}",
                fix="Choose a winner and generate the bundle first.",
            )
        await self._record.change(locked=True, locked_at=self._workspace.studio.clock.now_ms())
        return self.status()

    def _tournament(self, tournament_id: str) -> Tournament | None:
        return self._tournaments.get(tournament_id) if tournament_id else None

    def _path(self) -> str:
        own = self._workspace.settings.voice.bundle_path.strip()
        return own or self._record.read().bundle_path

    def _has_files(self, path: str) -> bool:
        try:
            return bool(path) and is_complete(self._workspace.files, path)
        except ToolError:
            # A folder that cannot be used holds no bundle.
            return False
