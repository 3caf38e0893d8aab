"""Asking one agent of a round again, because the user wants to: its reply was rejected or failed.

The agent sees exactly what it saw in the round. The round itself stays as it was.
"""

from collections.abc import Mapping
from typing import Any, Final

from callboard.choreography.calling import gathered_from_json
from callboard.choreography.conference.closing import archive, transcript
from callboard.choreography.conference.records import evidence_of, read_round
from callboard.choreography.conference.shapes import ReplyStatus, Round
from callboard.choreography.conference.supplies import Bring
from callboard.choreography.conference.views import Table
from callboard.choreography.staffing import find_agent
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.errors import Conflict, InvalidInput
from callboard.engine.run import Run
from callboard.store.journal.runs import load_run
from callboard.studio.runnable import Prepared
from callboard.studio.studio import Studio

_PARAMETERS: Final = {
    "round_id": "str, required: the run of the round",
    "agent": "str, required: whose reply was rejected or failed",
}
_AGAIN: Final = frozenset({ReplyStatus.REJECTED, ReplyStatus.ERROR})


class AskAgain:
    """The choreography of asking one agent again."""

    summary = "Ask one agent of a round again whose reply was rejected or failed."

    def __init__(self, pack: str, bring: Bring) -> None:
        """Take the pack whose staff confers, and how it brings what is needed."""
        self.pack = pack
        self._bring = bring

    @property
    def parameters(self) -> Mapping[str, str]:
        """The arguments it takes."""
        return _PARAMETERS

    async def prepare(self, studio: Studio, raw: Mapping[str, Json]) -> Prepared:
        """Check that there is a reply to be replaced."""
        if set(raw) != set(_PARAMETERS):
            raise InvalidInput("Asking again needs round_id and agent, and nothing else")
        agent = find_agent(studio, str(raw["agent"]), self.pack)
        held = studio.database.read(lambda connection: read_round(connection, str(raw["round_id"])))
        said = held.reply_of(agent.id)
        if said is None or said.status not in _AGAIN:
            state = "has not answered" if said is None else f"was {said.status.value}"
            raise Conflict(
                f"Agent {agent.id} {state} in round {held.number}; there is nothing to ask again",
                fix="Only a reply that was rejected or failed is asked for again.",
                agent=agent.id,
            )
        args: dict[str, Json] = {"round_id": held.round_id, "agent": agent.id}
        return Prepared(args, title=f"{agent.id} again: {held.user_message[:40]}")

    async def perform(self, studio: Studio, run: Run) -> Json:
        """Ask the agent again and leave a transcript of it."""
        stage = Stage(studio, run)
        agent = find_agent(studio, str(run.args["agent"]), self.pack)
        held, laid = self._round(stage)
        receipts = held.receipt_ids
        table = Table(held.user_message, str(laid["text"]), receipts, self._bring().grounding)
        (reply,) = await table.hear(stage, (agent,))
        gathered = gathered_from_json(laid["gathered"])
        body = transcript(held.user_message, gathered, (reply,), (agent,))
        await archive(stage, held.number, body, receipts, suffix=f", {agent.name} again")
        return reply.to_json()

    def _round(self, stage: Stage) -> tuple[Round, dict[str, Any]]:
        """Return the round as it was; refuse another session, whose receipts are not ours."""
        round_id = str(stage.run.args["round_id"])
        database = stage.studio.database
        run = database.read(lambda connection: load_run(connection, round_id))
        if run.session_id != stage.run.session_id:
            raise Conflict(
                f"Round {round_id} was held in session {run.session_id}",
                fix=f"Ask again with --session {run.session_id}.",
                session_id=run.session_id,
            )
        held = database.read(lambda connection: read_round(connection, round_id))
        laid = database.read(lambda connection: evidence_of(connection, run))
        return held, laid
