"""What can be done about the voice of a book."""

from callboard.operations import AGENT, operation
from callboard.packs.writers_factory.action import Cause, Done, Filled, Words, start_job
from callboard.packs.writers_factory.model import VOICE_CALIBRATION
from callboard.packs.writers_factory.voice.tournament.tournaments import Pick
from callboard.packs.writers_factory.voice.voice import Voice, VoiceStatus
from callboard.packs.writers_factory.workspace import Workspace


@operation(
    who=(AGENT,),
    modes=(VOICE_CALIBRATION,),
    example={
        "test_prompt": "The clock stops while she winds it",
        "agents": "gpt-4o, claude-sonnet-4",
    },
)
async def start_tournament(
    workspace: Workspace,
    cause: Cause,
    test_prompt: Filled,
    agents: list[str],
    strategies: list[str] | None = None,
    context: str | None = None,
) -> Done:
    """Have several agents write the test passage, each in several strategies."""
    args = {
        "test_prompt": test_prompt,
        "agents": agents,
        "strategies": strategies,
        "context": context,
    }
    return await start_job(workspace, cause, "tournament", args)


@operation(who=(AGENT,), modes=(VOICE_CALIBRATION,))
async def select_winner(
    voice: Voice,
    agent_id: Filled,
    strategy: Filled,
    variant_index: int | None = None,
    voice_notes: Words = "",
) -> Done:
    """Record which variant the writer chose, and why."""
    pick = Pick(agent=agent_id, strategy=strategy, variant_index=variant_index)
    held = voice.status().tournament_id
    tournament = await voice.select_winner(held, pick, notes=voice_notes)
    chosen = {"tournament_id": tournament.id, "winner": tournament.winner}
    return Done(f"winner: {agent_id}, {strategy}", chosen)


@operation(who=(AGENT,), modes=(VOICE_CALIBRATION,))
async def generate_bundle(
    workspace: Workspace, cause: Cause, output_dir: str | None = None
) -> Done:
    """Write the voice bundle from the winning passage."""
    return await start_job(workspace, cause, "bundle", {"output_dir": output_dir})


@operation()
async def set_test_passage(voice: Voice, text: str) -> VoiceStatus:
    """Say what the passages of a tournament are to tell."""
    await voice.set_test_passage(text)
    return voice.status()


@operation()
async def confirm_voice_lock(voice: Voice, confirmed: bool) -> VoiceStatus:
    """Lock the voice; only the writer can, and only with a bundle to hold on to."""
    return await voice.lock(confirmed)
