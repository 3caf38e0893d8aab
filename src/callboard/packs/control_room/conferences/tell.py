"""Conferences and their rounds, for people and for programs."""

from callboard.choreography.conference import (
    Conference,
    ReplyStatus,
    Round,
    RoundReply,
    read_conference,
    read_conferences,
)
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
from callboard.store.connection import Connection
from callboard.store.journal.conferences import list_conferences
from callboard.store.journal.sessions import load_session


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
                moment(each.created_at),
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


def echo_round(held: Round, conference_id: str) -> None:
    """Print what everybody said in a round, in the order of the roster."""
    for reply in held.replies:
        echo_reply(held, reply)
    if held.error is not None:
        echo(f"The round failed: {held.error['code']}: {clean(str(held.error['message']))}\n")
    facts = [counted(len(held.receipt_ids), "receipt")]
    facts += [f"transcript in issue #{held.issue_id}"] if held.issue_id is not None else []
    remark(", ".join(facts) + f". Go on with: callboard conference --continue {conference_id} …")


def echo_reply(held: Round, reply: RoundReply) -> None:
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
