"""A round: the message, the Chief's evidence, everybody's view, the transcript. One durable run.

The user may ask one agent of a round again.

A conference gives opinions. It writes no file of the project and starts no run.

The agent sees exactly what it saw in the round. The round itself stays as it was.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from callboard.choreography.agent_calls import (
    Gathered,
    ToolPolicy,
    check_policy,
    gathered_from_json,
    gathered_to_json,
    lay_out,
)
from callboard.choreography.conference.leading import check_gathered, lead
from callboard.choreography.conference.records import (
    EVIDENCE_KEY,
    archive,
    evidence_of,
    read_round,
    round_number,
    transcript,
)
from callboard.choreography.conference.shapes import (
    Bring,
    ConferenceRound,
    ReplyStatus,
    RoundStatus,
    Supplies,
)
from callboard.choreography.conference.views import Table
from callboard.choreography.staffing import find_agent, find_attendees
from callboard.choreography.stage import Stage
from callboard.choreography.values import pack_of
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError, Conflict, InvalidInput
from callboard.core.vocabulary import Agent, Effect
from callboard.engine.run import Run
from callboard.engine.scope import StepScope
from callboard.prompts import render_template
from callboard.store.connection import Connection
from callboard.store.journal.conferences import ConferenceRow, find_conference, insert_conference
from callboard.store.journal.runs import load_run
from callboard.studio.runnable import Prepared
from callboard.studio.studio import Studio

_TITLE_CHARS: Final = 60
_PARAMETERS: Final = {
    "message": "str, required",
    "conference_id": "str, a conference to continue; default: a new one",
    "agents": "list of ids or archetypes, default: everybody",
    "allowed_tools": "list of tool ids, default: all that only look",
    "require_tool": "bool, default False",
}


class ConferenceRounds:
    """The choreography of a round, for a pack that brings what is needed."""

    summary = "Ask everybody one question about the same evidence, each apart from the others."

    def __init__(self, pack: str, bring: Bring) -> None:
        """Take the pack whose staff confers, and how it brings what is needed."""
        self.pack = pack
        self._bring = bring

    @property
    def parameters(self) -> Mapping[str, str]:
        """The arguments it takes."""
        return _PARAMETERS

    async def prepare(self, studio: Studio, raw: Mapping[str, Json]) -> Prepared:
        """Check who is invited and what is allowed, before anything is stored."""
        unknown = sorted(raw.keys() - _PARAMETERS.keys())
        message = str(raw.get("message") or "").strip()
        if unknown or not message:
            told = f"unknown: {', '.join(unknown)}" if unknown else "the message is missing"
            takes = ", ".join(f"{name} ({kind})" for name, kind in _PARAMETERS.items())
            raise InvalidInput(f"A round cannot begin: {told}", fix=f"It takes: {takes}.")
        continued = self._continued(studio, raw.get("conference_id"))
        names = _names(raw["agents"]) if raw.get("agents") else continued.agents
        attendees = find_attendees(studio, names, self.pack)
        policy = _policy(raw, continued.tool_policy)
        check_policy(studio, policy)
        args: dict[str, Json] = {
            "conference_id": continued.id,
            "message": message,
            "agents": [agent.id for agent in attendees],
            "tool_policy": policy.to_json(),
        }
        return Prepared(args, title=message[:_TITLE_CHARS])

    async def perform(self, studio: Studio, run: Run) -> Json:
        """Hold the round."""
        args = run.args
        names = cast("list[str]", args["agents"])
        attendees = find_attendees(studio, names, self.pack)
        return await _Holding(Stage(studio, run), self._bring(), attendees).hold()

    def _continued(self, studio: Studio, conference_id: Json) -> ConferenceRow:
        """Return the conference a round belongs to; a new one is stored with its first round."""
        if conference_id is None or conference_id == "":
            return ConferenceRow(studio.ids.make("conference"), "", self.pack, (), {}, 0)
        found = studio.database.read(
            lambda connection: find_conference(connection, str(conference_id))
        )
        if found is None:
            raise InvalidInput(
                f"There is no conference {conference_id!r}",
                fix="Leave the id out to begin a new one.",
                conference_id=conference_id,
            )
        return found


class _Holding:
    """A round while it is held."""

    def __init__(self, stage: Stage, supplies: Supplies, attendees: Sequence[Agent]) -> None:
        self.stage = stage
        self.supplies = supplies
        self.attendees = attendees
        self.message = str(stage.run.args["message"])
        self.policy = ToolPolicy.from_json(stage.run.args["tool_policy"])

    async def hold(self) -> Json:
        number = await self.open()
        gathered = Gathered()
        try:
            gathered, evidence, is_required = await self.gather()
            check_gathered(gathered, is_required=is_required)
        except CallboardError as error:
            body = transcript(self.message, gathered, (), self.attendees, error)
            await archive(self.stage, number, body, _receipts(gathered))
            raise
        receipts = _receipts(gathered)
        table = Table(self.message, evidence, receipts, self.supplies.grounding)
        replies = await table.hear(self.stage, self.attendees)
        body = transcript(self.message, gathered, replies, self.attendees)
        issue_id = await archive(self.stage, number, body, receipts)
        held = ConferenceRound(
            round_id=self.stage.run.id,
            number=number,
            user_message=self.message,
            status=RoundStatus.CLOSED,
            receipt_ids=receipts,
            replies=replies,
            issue_id=issue_id,
        )
        return {"conference_id": self.stage.run.args["conference_id"], **held.to_json()}

    async def open(self) -> int:
        """Store the conference if this is its first round; return the number of the round."""
        studio, run = self.stage.studio, self.stage.run
        record = studio.engine.load(run.id)
        row = ConferenceRow(
            id=str(run.args["conference_id"]),
            session_id=run.session_id,
            pack=pack_of(run),
            agents=tuple(agent.id for agent in self.attendees),
            tool_policy=self.policy.to_json(),
            created_at=record.created_at,
        )

        def number_of(connection: Connection) -> int:
            known = find_conference(connection, row.id)
            if known is not None and known.session_id != row.session_id:
                raise Conflict(
                    f"Conference {row.id} belongs to session {known.session_id}",
                    fix=f"Hold the round with --session {known.session_id}.",
                    session_id=known.session_id,
                )
            return round_number(connection, record)

        async def act(scope: StepScope) -> Json:
            number = studio.database.read(number_of)
            scope.commit_with(lambda connection: insert_conference(connection, row))
            return number

        return int(await run.step("open", act, effect=Effect.PURE))

    async def gather(self) -> tuple[Gathered, str, bool]:
        """Hold phase 1 and journal what lies on the table."""
        gathered, is_required = await lead(
            self.stage, self.message, self.attendees, self.policy, self.supplies
        )

        def lay() -> Json:
            return {
                "gathered": gathered_to_json(gathered),
                "text": self.table_text(gathered),
                "is_required": is_required,
            }

        stored = await self.stage.step(EVIDENCE_KEY, lay, effect=Effect.PURE, slot=EVIDENCE_KEY)
        laid = cast("dict[str, Any]", stored)
        return gathered_from_json(laid["gathered"]), str(laid["text"]), is_required

    def table_text(self, gathered: Gathered) -> str:
        if gathered.findings:
            return lay_out(gathered.findings).text
        prompts = self.stage.studio.prompts(pack_of(self.stage.run))
        return render_template(prompts.get("conference_no_evidence", None), {}).text.strip()


def _receipts(gathered: Gathered) -> tuple[str, ...]:
    return tuple(each.receipt_id for each in gathered.findings if each.receipt_id)


def _names(raw: Json) -> tuple[str, ...]:
    listed = raw.split(",") if isinstance(raw, str) else cast("list[Any]", raw)
    return tuple(str(each).strip() for each in listed if str(each).strip())


def _policy(raw: Mapping[str, Json], kept: Mapping[str, Json]) -> ToolPolicy:
    """Return the policy of a round: what it says itself, else what the conference says."""
    said = {name: raw[name] for name in ("allowed_tools", "require_tool") if name in raw}
    return ToolPolicy.from_json({**kept, **said})


_AGAIN_PARAMETERS: Final = {
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
        return _AGAIN_PARAMETERS

    async def prepare(self, studio: Studio, raw: Mapping[str, Json]) -> Prepared:
        """Check that there is a reply to be replaced."""
        if set(raw) != set(_AGAIN_PARAMETERS):
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

    def _round(self, stage: Stage) -> tuple[ConferenceRound, dict[str, Any]]:
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
