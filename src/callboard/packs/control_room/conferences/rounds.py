"""Rounds of a conference at the command line: held, asked again, shown."""

from dataclasses import dataclass

from callboard.choreography.agent_calls import ToolPolicy
from callboard.choreography.conference import (
    Conference,
    ConferenceRound,
    Conferences,
    ReplyStatus,
    RoundReply,
    read_conference,
    read_conferences,
)
from callboard.cli.bridge import Interrupt, perform
from callboard.cli.handlers.ending import conclude
from callboard.cli.handlers.following import follow
from callboard.cli.handlers.opening import Choices, OpenWork, working
from callboard.cli.output import (
    clean,
    counted,
    echo,
    echo_json,
    echo_table,
    moment,
    one_line,
    remark,
    seconds,
)
from callboard.cli.reading import OpenJournal, matching, pick
from callboard.core.errors import NotFound
from callboard.core.vocabulary.run import RunRecord, RunState
from callboard.store.connection import Connection
from callboard.store.journal.conferences import list_conferences
from callboard.store.journal.sessions import load_session

PACK = "control_room"
LAST = "last"


def conferences_report(journal: OpenJournal, session: str | None, *, as_json: bool) -> None:
    """List conferences, newest first."""

    def work(connection: Connection) -> list[Conference]:
        session_id = None if session is None else load_session(connection, session).id
        return read_conferences(connection, session_id)

    found = journal.read_or([], work)
    if as_json:
        echo_json({"conferences": [each.to_json() for each in found]})
    elif not found:
        remark("No conference yet. `callboard conference MESSAGE` holds one.")
    else:
        rows = [
            (
                each.conference_id,
                moment(each.stored.created_at),
                str(len(each.rounds)),
                each.rounds[-1].user_message if each.rounds else "",
            )
            for each in found
        ]
        echo_table(("CONFERENCE", "BEGAN", "ROUNDS", "LAST QUESTION"), rows)


def conference_report(journal: OpenJournal, name: str, *, as_json: bool) -> None:
    """Show one conference with everything that was said."""

    def work(connection: Connection) -> Conference:
        ids = [row.id for row in list_conferences(connection)]
        chosen = ids[0] if name == "last" and ids else pick(matching(ids, name), name, "conference")
        return read_conference(connection, chosen)

    found = journal.read(work)
    if as_json:
        echo_json(found.to_json())
        return
    for held in found.rounds:
        echo(f"Turn {held.number}: {one_line(held.user_message)}  ({held.status.value})")
        echo_round(held, found.conference_id)


def echo_round(held: ConferenceRound, conference_id: str) -> None:
    """Print what everybody said in a round, in the order of the roster."""
    for reply in held.replies:
        echo_reply(held, reply)
    if held.error is not None:
        echo(f"The round failed: {held.error['code']}: {clean(str(held.error['message']))}\n")
    if held.replies and all(each.status is ReplyStatus.ABSTAINED for each in held.replies):
        remark(
            "Nobody has ground for a view: the tools found no fault that is about this. A small"
            " model has none of its own; a larger one does: `callboard models --help`."
        )
    facts = [counted(len(held.receipt_ids), "receipt")]
    facts += [f"transcript in issue #{held.issue_id}"] if held.issue_id is not None else []
    remark(", ".join(facts) + f". Go on with: callboard conference --continue {conference_id} …")


def echo_reply(held: ConferenceRound, reply: RoundReply) -> None:
    """Print one reply: what was said, or why it does not count."""
    told = f" · {seconds(reply.duration_ms)}" if reply.duration_ms else ""
    echo(f"{reply.agent_id} ({reply.status.value}{told})")
    if reply.status is ReplyStatus.ACCEPTED:
        _indent(reply.text)
        _indent(f"Evidence: {reply.evidence}")
    elif reply.status in (ReplyStatus.REJECTED, ReplyStatus.ERROR):
        _indent(f"{reply.code}: {reply.detail}")
        remark(
            f"  Ask again: callboard conference --again {reply.agent_id} --round {held.round_id}"
        )
    echo()


def _indent(text: str) -> None:
    for line in clean(text).splitlines():
        echo(f"  {line}".rstrip())


@dataclass(frozen=True, slots=True)
class RoundOptions:
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


def hold_round(choices: Choices, asked: RoundOptions) -> int:
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
    return followed.exit_code


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
