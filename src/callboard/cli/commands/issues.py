"""`callboard issues`: what work left behind for you."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from callboard.cli import exits
from callboard.cli.options import JsonOption, LimitOption, ProjectOption, SessionOption, new_app
from callboard.cli.output import echo, echo_json

if TYPE_CHECKING:
    from callboard.core.vocabulary import Issue
    from callboard.studio.studio import Studio

app = new_app("What work left behind for you: failed checks, findings, proposals, transcripts.")

NumberArgument = Annotated[int, typer.Argument(metavar="NUMBER", help="Number of an issue.", min=1)]
NumbersArgument = Annotated[
    list[int], typer.Argument(metavar="NUMBER", help="Numbers of issues.", min=1)
]


@app.command("list")
def list_command(
    everything: Annotated[bool, typer.Option("--all", help="Closed ones too.")] = False,
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            metavar="KIND",
            help="Only dod_failure, finding, proposal, transcript or note.",
            show_default=False,
        ),
    ] = None,
    tag: Annotated[
        str | None,
        typer.Option("--tag", metavar="TAG", help="Only with this tag.", show_default=False),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option("--run", metavar="RUN", help="Only those of this run.", show_default=False),
    ] = None,
    session: SessionOption = None,
    limit: LimitOption = 50,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """List open issues, newest first."""
    from callboard.cli.reading import reading
    from callboard.cli.reports.issues import WantedIssues, issues_report

    wanted = WantedIssues(everything, kind, tag, run, session, limit)
    with reading(project) as journal:
        issues_report(journal, wanted, as_json=as_json)


@app.command()
def show(
    number: NumberArgument, project: ProjectOption = None, as_json: JsonOption = False
) -> None:
    """Show an issue with its text and the receipts behind it."""
    from callboard.cli.reading import reading
    from callboard.cli.reports.issues import issue_report

    with reading(project) as journal:
        issue_report(journal, number, as_json=as_json)


@app.command()
def add(
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What it is about.")],
    body: Annotated[str, typer.Option("--body", metavar="TEXT", help="More about it.")] = "",
    priority: Annotated[
        str,
        typer.Option("--priority", metavar="PRIORITY", help="low, normal, high or urgent."),
    ] = "normal",
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="May be repeated.", show_default=False),
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Leave a note of your own."""
    from callboard.cli.arguments import one_of
    from callboard.core.vocabulary import IssueDraft, IssueKind, IssuePriority, IssueSource
    from callboard.operations import runtime

    chosen = one_of(IssuePriority, priority, "--priority")
    draft = IssueDraft(
        title, IssueSource(IssueKind.NOTE), body, priority=chosen, tags=tuple(tag or ())
    )

    async def change(studio: "Studio") -> "list[Issue]":
        return [await runtime.runtime(studio).perform(runtime.add_issue, draft)]

    return _act(project, change, as_json=as_json)


@app.command()
def close(
    numbers: NumbersArgument, project: ProjectOption = None, as_json: JsonOption = False
) -> int:
    """Say that issues are dealt with."""
    from callboard.operations import runtime

    async def change(studio: "Studio") -> "list[Issue]":
        act = runtime.close_issue
        return [await runtime.change_issue(studio, act, number) for number in numbers]

    return _act(project, change, as_json=as_json)


@app.command()
def reopen(
    numbers: NumbersArgument, project: ProjectOption = None, as_json: JsonOption = False
) -> int:
    """Take issues up again."""
    from callboard.operations import runtime

    async def change(studio: "Studio") -> "list[Issue]":
        act = runtime.reopen_issue
        return [await runtime.change_issue(studio, act, number) for number in numbers]

    return _act(project, change, as_json=as_json)


@app.command()
def link(
    number: NumberArgument,
    receipt: Annotated[
        list[str] | None,
        typer.Option("--receipt", metavar="RECEIPT", help="May be repeated.", show_default=False),
    ] = None,
    session: SessionOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Link receipts to an issue: named ones, or all of a session."""
    from callboard.cli.bridge import perform_simply
    from callboard.cli.handlers.opening import Choices, working
    from callboard.operations import runtime

    if session is None and not receipt:
        raise typer.BadParameter("Name a session or receipts.", param_hint="--session, --receipt")

    async def work() -> "Issue":
        async with working(Choices(project, as_json=as_json)) as here:
            issue = here.studio.issues.get(number)
            if session is not None:
                session_id = here.studio.sessions.get(session).id
                issue = await runtime.runtime(here.studio).perform_in(
                    session_id, runtime.link_session, session_id, number
                )
            if receipt:
                linked = runtime.link_receipts
                issue = await runtime.change_issue(here.studio, linked, number, list(receipt))
            return issue

    _tell([perform_simply(work())], as_json=as_json)
    return exits.OK


def _act(
    project: Path | None,
    change: "Callable[[Studio], Awaitable[list[Issue]]]",
    *,
    as_json: bool,
) -> int:
    from callboard.cli.bridge import perform_simply
    from callboard.cli.handlers.opening import Choices, working

    async def work() -> "list[Issue]":
        async with working(Choices(project, as_json=as_json)) as here:
            return await change(here.studio)

    _tell(perform_simply(work()), as_json=as_json)
    return exits.OK


def _tell(issues: "list[Issue]", *, as_json: bool) -> None:
    from callboard.studio.issues import issue_to_json

    if as_json:
        echo_json({"issues": [issue_to_json(each) for each in issues]})
        return
    for each in issues:
        linked = f", {len(each.receipt_ids)} receipts" if each.receipt_ids else ""
        echo(f"Issue #{each.id} is {each.status.value}{linked}: {each.title}")
