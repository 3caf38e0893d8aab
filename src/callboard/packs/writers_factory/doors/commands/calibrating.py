"""Finding the voice at the command line: holding a tournament, and choosing what won."""

from dataclasses import dataclass, replace
from typing import Any, cast

from callboard.cli.handlers.opening import Choices
from callboard.cli.output import remark
from callboard.cli.reading import matching, pick
from callboard.core.canonical import Json
from callboard.core.errors import NotFound
from callboard.packs.writers_factory.doors.command_line import Job, watch
from callboard.packs.writers_factory.doors.tell.voice import tournament_report, winner_report
from callboard.packs.writers_factory.factory import Factory
from callboard.packs.writers_factory.factory import choose_winner as pick_winner
from callboard.packs.writers_factory.voice import Pick, Tournament, Voice


@dataclass(frozen=True, slots=True)
class Contest:
    """What a tournament is about, and who takes part in which ways."""

    prompt: str = ""
    models: tuple[str, ...] = ()
    strategies: tuple[str, ...] = ()
    session: str | None = None

    def job(self, factory: Factory) -> Job:
        """Return the run that holds it; the passage that was asked for last is asked for again."""
        args: dict[str, Json] = {
            "test_prompt": self.prompt or factory.rooms.voice.status().test_passage,
            "agents": list(self.models),
            "strategies": list(self.strategies),
        }
        return Job("tournament", args, self.session)


def hold_tournament(choices: Choices, wanted: Contest) -> int:
    """Hold a tournament and show its passages without names."""

    def tell(factory: Factory, result: Any) -> None:
        told = cast("dict[str, Any]", result)
        tournament_report(factory.rooms.voice.tournament(str(told["tournament_id"])))

    return watch(replace(choices, also=wanted.models), wanted.job, tell)


def find_tournament(voice: Voice, named: str | None) -> Tournament:
    """Return the tournament a writer means; without a name, the newest."""
    every = voice.tournaments()
    if named is not None:
        return voice.tournament(pick(matching([t.id for t in every], named), named, "tournament"))
    if not every:
        raise NotFound(
            "No tournament has been held yet",
            fix="`callboard factory tournament --prompt TEXT` holds one.",
        )
    return every[-1]


async def choose_winner(
    factory: Factory,
    named: str | None,
    chosen: Pick,
    *,
    notes: str,
    confirmed: bool,
    as_json: bool,
) -> None:
    """Make a passage the winner and show who wrote it."""
    voice = factory.rooms.voice
    found = find_tournament(voice, named)
    was_locked = voice.status().locked
    marked = await factory.perform(pick_winner, found.id, chosen, notes, confirmed)
    winner_report(marked, as_json=as_json)
    if was_locked and not voice.status().locked and not as_json:
        remark("The voice is no longer locked.")
