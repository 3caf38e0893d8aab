"""Conferences as a door uses them: opens them, holds rounds, asks again, reads them."""

from collections.abc import Sequence

from callboard.choreography.agent_calls import ToolPolicy, check_policy
from callboard.choreography.conference.records import (
    CONFERENCE,
    REASK,
    read_conference,
    read_conferences,
    read_round,
)
from callboard.choreography.conference.shapes import Conference, ConferenceRound
from callboard.choreography.staffing import find_attendees
from callboard.core.canonical import Json
from callboard.core.vocabulary import RunRecord
from callboard.store.connection import Connection
from callboard.store.journal.conferences import ConferenceRow, insert_conference
from callboard.studio.studio import Studio


class Conferences:
    """The conferences of one pack in an open studio."""

    def __init__(self, studio: Studio, pack: str) -> None:
        """Take the studio and the pack whose staff confers."""
        self._studio = studio
        self._pack = pack

    async def open(
        self,
        *,
        agents: Sequence[str] = (),
        policy: ToolPolicy | None = None,
        session_id: str | None = None,
    ) -> Conference:
        """Begin a conference without a round; who is invited and what is allowed is checked."""
        studio, chosen = self._studio, policy or ToolPolicy()
        attendees = find_attendees(studio, agents, self._pack)
        check_policy(studio, chosen)
        sessions = studio.sessions
        session = sessions.get(session_id) if session_id else await sessions.current()
        sessions.require_active(session)
        row = ConferenceRow(
            id=studio.ids.make("conference"),
            session_id=session.id,
            pack=self._pack,
            agents=tuple(agent.id for agent in attendees),
            tool_policy=chosen.to_json(),
            created_at=studio.clock.now_ms(),
        )

        def work(connection: Connection) -> None:
            insert_conference(connection, row)

        await studio.database.write(work)
        return self.get(row.id)

    async def hold_round(
        self,
        message: str,
        *,
        conference_id: str | None = None,
        agents: Sequence[str] = (),
        policy: ToolPolicy | None = None,
        session_id: str | None = None,
    ) -> RunRecord:
        """Start a round, in a conference that goes on or in a new one; return its run."""
        args: dict[str, Json] = {"message": message}
        if conference_id is not None:
            args["conference_id"] = conference_id
            session_id = session_id or self.get(conference_id).stored.session_id
        if agents:
            args["agents"] = list(agents)
        if policy is not None:
            args |= policy.to_json()
        return await self._studio.start(f"{self._pack}/{CONFERENCE}", args, session_id=session_id)

    async def ask_again(self, round_id: str, agent: str) -> RunRecord:
        """Start asking one agent of a round again; return the run of that."""
        held = self._studio.engine.load(round_id)
        return await self._studio.start(
            f"{self._pack}/{REASK}",
            {"round_id": round_id, "agent": agent},
            session_id=held.session_id,
        )

    def get(self, conference_id: str) -> Conference:
        """Return a conference with its rounds as they are now."""
        return self._studio.database.read(
            lambda connection: read_conference(connection, conference_id)
        )

    def list(self, session_id: str | None = None) -> list[Conference]:
        """Return conferences with their rounds, newest first."""
        return self._studio.database.read(
            lambda connection: read_conferences(connection, session_id)
        )

    def round(self, round_id: str) -> ConferenceRound:
        """Return a round as it is now."""
        return self._studio.database.read(lambda connection: read_round(connection, round_id))
