"""The voice of the book: tournaments, the winner, the bundle, and the writer's lock."""

from dataclasses import asdict, dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import Field

from callboard.api.project import Entry, Paged, Shown, StartedJob, Wanted, promise, started
from callboard.core.canonical import plain
from callboard.core.errors import NotFound
from callboard.packs.writers_factory.doors.routes.request import (
    ModelName,
    Name,
    Note,
    SessionId,
    WritersFactory,
)
from callboard.packs.writers_factory.factory import choose_winner as pick_winner
from callboard.packs.writers_factory.voice import (
    STRATEGIES,
    Pick,
    Tournament,
    VoiceStatus,
    operations,
    tournament_id_of,
)

router = APIRouter(prefix="/factory", tags=["factory: voice"])

TournamentId = Annotated[str, Path(max_length=100)]
Brief = Annotated[str, Field(min_length=1, max_length=20_000)]


class VoiceShape(Shown):
    """How far the voice has come, of five steps."""

    test_passage: str
    tournament_id: str
    winner: str
    bundle_ready: bool
    locked: bool
    steps_done: int
    strategies: list[str]


class PassageWanted(Wanted):
    """What the passages of a tournament are to tell."""

    text: Brief


class TournamentWanted(Wanted):
    """Who writes what, how; without agents the model that writes prose takes part alone."""

    test_prompt: Brief
    agents: list[ModelName] = Field(default_factory=list[str], max_length=20)
    strategies: list[Name] = Field(default_factory=list[str], max_length=10)
    context: Note = ""
    seed: Annotated[str, Field(max_length=200)] = ""
    session_id: SessionId = None


class AgentsWanted(Wanted):
    """Models that may take part."""

    agents: list[ModelName] = Field(min_length=1, max_length=20)


TournamentShape = promise(
    "TournamentShape",
    "A tournament; who wrote what is not told before a winner is chosen.",
    Tournament,
    variants=int,
    usable=int,
    failed=int,
)


@dataclass(frozen=True, slots=True)
class WinnerWanted(Pick):
    """The passage the writer chose, by its label, its id, or its agent and strategy."""

    notes: Note = ""
    confirmed: Annotated[bool, Field(description="Choose anew although the voice is locked.")] = (
        False
    )


class BundleWanted(Wanted):
    """Where the bundle is to lie; `confirmed` has a locked voice made anew."""

    output_dir: Annotated[str, Field(max_length=300)] = ""
    confirmed: bool = False
    session_id: SessionId = None


class LockWanted(Wanted):
    """The writer's word."""

    confirmed: bool


@router.get("/voice")
async def show_voice(factory: WritersFactory) -> VoiceShape:
    """Show how far the voice has come."""
    return _status(factory.rooms.voice.status())


@router.put("/voice/test-passage")
async def set_test_passage(factory: WritersFactory, wanted: PassageWanted) -> VoiceShape:
    """Say what the passages of a tournament are to tell."""
    return _status(await factory.perform(operations.set_test_passage, wanted.text))


@router.get("/voice/bundle")
async def show_bundle(factory: WritersFactory) -> Entry:
    """Show the voice as the files of its bundle say now, and what is wrong in them."""
    bundle = factory.rooms.voice.bundle()
    if bundle is None:
        raise NotFound("There is no voice bundle", fix="Choose a winner and make the bundle.")
    return plain(
        {
            "path": bundle.path,
            "version": bundle.version,
            "summary": bundle.summary,
            "pov": bundle.pov,
            "tense": bundle.tense,
            "passage": bundle.passage,
            "metrics": bundle.metrics.to_json(),
            "metaphor_domains": bundle.metaphor_domains,
            "zero_tolerance": bundle.zero_tolerance(100),
            "evolution": {act: asdict(phase) for act, phase in bundle.evolution.items()},
            "winning_agent": bundle.winning_agent,
            "winning_strategy": bundle.winning_strategy,
            "problems": bundle.problems,
        }
    )


@router.post("/voice/bundle", status_code=202)
async def make_bundle(factory: WritersFactory, wanted: BundleWanted | None = None) -> StartedJob:
    """Write the files every later scene is written by, from the passage that won."""
    chosen = wanted or BundleWanted()
    args = {"output_dir": chosen.output_dir, "confirmed": chosen.confirmed}
    return started(await factory.start("bundle", args, session_id=chosen.session_id))


@router.post("/voice/lock")
async def lock_voice(factory: WritersFactory, wanted: LockWanted) -> VoiceShape:
    """Lock the voice; only the writer can, and only with a bundle to hold on to."""
    return _status(await factory.perform(operations.confirm_voice_lock, wanted.confirmed))


@router.get("/tournaments", response_model=list[TournamentShape])
async def list_tournaments(factory: WritersFactory, page: Paged) -> list[Entry]:
    """List the tournaments, oldest first; none is ever overwritten."""
    return [_tournament(each) for each in page.cut(factory.rooms.voice.tournaments())]


@router.post("/tournaments", status_code=202)
async def start_tournament(factory: WritersFactory, wanted: TournamentWanted) -> StartedJob:
    """Have several models write one passage by several strategies, and score the results."""
    args = wanted.model_dump(exclude={"session_id"})
    run = await factory.start("tournament", args, session_id=wanted.session_id)
    return started(run, tournament_id=tournament_id_of(run.id))


@router.post("/tournaments/check")
async def check_agents(factory: WritersFactory, wanted: AgentsWanted) -> list[Entry]:
    """Say which models can take part, and what keeps the others from it."""
    found = factory.rooms.voice.check_agents(list(wanted.agents))
    return [{**asdict(each), "is_usable": each.is_usable} for each in found]


@router.get("/tournaments/{tournament_id}", response_model=TournamentShape)
async def show_tournament(factory: WritersFactory, tournament_id: TournamentId) -> Entry:
    """Show how far a tournament has come."""
    return _tournament(factory.rooms.voice.tournament(tournament_id))


@router.get("/tournaments/{tournament_id}/presented")
async def present(factory: WritersFactory, tournament_id: TournamentId) -> list[Entry]:
    """Show the passages under letters, shuffled, and nameless until one is chosen."""
    return factory.rooms.voice.tournament(tournament_id).presented()


@router.get("/tournaments/{tournament_id}/reveal")
async def reveal(factory: WritersFactory, tournament_id: TournamentId) -> list[Entry]:
    """Show the passages with who wrote them, how, and who judged them."""
    return factory.rooms.voice.tournament(tournament_id).presented(reveal=True)


@router.post("/tournaments/{tournament_id}/winner", response_model=TournamentShape)
async def choose_winner(
    factory: WritersFactory, tournament_id: TournamentId, wanted: WinnerWanted
) -> Entry:
    """Choose the passage the book is to sound like."""
    chosen = await factory.perform(
        pick_winner, tournament_id, wanted, wanted.notes, wanted.confirmed
    )
    return _tournament(chosen)


def _status(status: VoiceStatus) -> VoiceShape:
    told: dict[str, Any] = asdict(status)
    more = {"steps_done": status.steps_done, "strategies": list(STRATEGIES)}
    return VoiceShape.model_validate({**told, **more})


def _tournament(tournament: Tournament) -> Entry:
    counted = {
        "variants": len(tournament.variants),
        "usable": len(tournament.usable),
        "failed": len(tournament.failed),
    }
    return {**tournament.to_json(), **counted}
