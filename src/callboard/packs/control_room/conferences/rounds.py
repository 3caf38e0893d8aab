"""Holding rounds of a conference from the command line, and asking one agent again."""

from dataclasses import dataclass

from callboard.choreography.agent_calls import ToolPolicy
from callboard.choreography.conference import Conferences
from callboard.cli.bridge import Interrupt, perform
from callboard.cli.work.ending import conclude, exit_code_of
from callboard.cli.work.following import follow
from callboard.cli.work.opening import Choices, OpenWork, working
from callboard.core.errors import NotFound
from callboard.core.vocabulary.run import RunRecord, RunState
from callboard.packs.control_room.conferences.tell import echo_reply, echo_round

PACK = "control_room"
LAST = "last"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user asks, of whom, and under which policy."""

    message: str
    agents: tuple[str, ...] = ()
    tools: str | None = None
    require_tool: bool = False
    conference_id: str | None = None
    session: str | None = None

    def policy(self) -> ToolPolicy | None:
        """Return the policy of this round, or None to keep that of the conference."""
        if self.tools is None and not self.require_tool:
            return None
        return ToolPolicy.from_json(
            {"allowed_tools": self.tools or "", "require_tool": self.require_tool}
        )


def hold_round(choices: Choices, asked: Asked) -> int:
    """Hold a round and print what everybody said."""

    async def work(interrupt: Interrupt) -> int:
        async with working(choices) as here:
            conferences = Conferences(here.studio, PACK)
            here.hint_at_interrupted()
            run = await conferences.hold_round(
                asked.message,
                conference_id=_conference_id(conferences, asked.conference_id),
                agents=asked.agents,
                policy=asked.policy(),
                session_id=asked.session,
            )
            here.announce(run)
            return await _follow(here, run, interrupt)

    return perform(work)


def ask_again(choices: Choices, agent: str, round_id: str) -> int:
    """Ask one agent of a round again and print what it says now."""

    async def work(interrupt: Interrupt) -> int:
        async with working(choices) as here:
            conferences = Conferences(here.studio, PACK)
            held = _last_round(conferences) if round_id == LAST else here.find(round_id).id
            run = await conferences.ask_again(held, agent)
            here.announce(run)
            return await _follow(here, run, interrupt)

    return perform(work)


async def _follow(here: OpenWork, run: RunRecord, interrupt: Interrupt) -> int:
    followed = await follow(here.studio, run.id, here.view(), interrupt)
    if here.choices.as_json or followed.run.state is not RunState.DONE:
        return conclude(here.studio, followed, as_json=here.choices.as_json)
    conferences, args = Conferences(here.studio, PACK), followed.run.args
    if "round_id" in args:
        held = conferences.round(str(args["round_id"]))
        reply = held.reply_of(str(args["agent"]))
        if reply is not None:
            echo_reply(held, reply)
    else:
        echo_round(conferences.round(run.id), str(args["conference_id"]))
    return exit_code_of(followed)


def _conference_id(conferences: Conferences, named: str | None) -> str | None:
    if named != LAST:
        return named
    known = conferences.list()
    if not known:
        raise NotFound("There is no conference to go on with yet", fix="Leave --continue out.")
    return known[0].conference_id


def _last_round(conferences: Conferences) -> str:
    rounds = [each for conference in conferences.list() for each in conference.rounds]
    if not rounds:
        raise NotFound("No round has been held yet", fix="`callboard conference MESSAGE` does.")
    return max(rounds, key=lambda held: held.created_at).round_id
