"""`callboard sessions`: isolated lines of work and their lifecycle."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from callboard.cli.options import JsonOption, ProjectOption, new_app
from callboard.cli.output import echo, echo_facts, echo_json, echo_table, moment, remark

if TYPE_CHECKING:
    from callboard.core.vocabulary.run import SessionRecord
    from callboard.studio.studio import Studio

app = new_app("Isolated lines of work: list, create, show, switch, suspend, resume, complete.")

SessionArgument = Annotated[str, typer.Argument(metavar="SESSION", help="Id or name of a session.")]


@app.command("list")
def list_command(project: ProjectOption = None, as_json: JsonOption = False) -> None:
    """List sessions, newest first."""
    from callboard.cli.reading import reading
    from callboard.cli.reports.shapes import session_shape
    from callboard.core.vocabulary.run import SessionRecord
    from callboard.store.journal.sessions import list_sessions

    with reading(project) as journal:
        nothing: list[SessionRecord] = []
        sessions = journal.read_or(
            nothing, lambda c: journal.viewer.among(c, list_sessions(c), lambda each: each.id)
        )
    if as_json:
        echo_json({"sessions": [session_shape(each) for each in sessions]})
    elif not sessions:
        remark("No sessions yet: the first run makes one.")
    else:
        rows = [(s.id, s.state.value, moment(s.last_active_at), s.name) for s in sessions]
        echo_table(("SESSION", "STATE", "LAST ACTIVE", "NAME"), rows)


@app.command()
def show(
    session: SessionArgument, project: ProjectOption = None, as_json: JsonOption = False
) -> None:
    """Show a session and its runs."""
    from callboard.cli.reading import reading
    from callboard.cli.reports.shapes import run_shape, session_shape
    from callboard.core.canonical import compact_json
    from callboard.store.journal.runs import list_runs

    with reading(project) as journal:
        found = journal.session(session)
        runs = journal.read(lambda connection: list_runs(connection, session_id=found.id))
    if as_json:
        echo_json({"session": session_shape(found), "runs": [run_shape(run) for run in runs]})
        return
    echo_facts(
        [
            ("session", found.id),
            ("name", found.name),
            ("state", found.state.value),
            ("created", moment(found.created_at)),
            ("last active", moment(found.last_active_at)),
            ("summary", found.summary),
            ("context", compact_json(found.context) if found.context else ""),
        ]
    )
    if runs:
        echo("")
        rows = [(run.id, run.state.value, moment(run.created_at), run.title) for run in runs]
        echo_table(("RUN", "STATE", "BEGAN", "TITLE"), rows)


@app.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="How it is called.")] = "",
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Create a session; it becomes the current one."""
    from callboard.operations import runtime

    return _act(project, lambda studio: runtime.begin_session(studio, name), as_json=as_json)


@app.command()
def switch(
    session: SessionArgument, project: ProjectOption = None, as_json: JsonOption = False
) -> int:
    """Make another session the current one."""
    from callboard.operations import runtime

    return _act(
        project,
        lambda studio: runtime.change_session(studio, runtime.switch_session, session),
        session,
        as_json=as_json,
    )


@app.command()
def suspend(
    session: SessionArgument, project: ProjectOption = None, as_json: JsonOption = False
) -> int:
    """Put a session away: its runs pause where they are."""
    from callboard.operations import runtime

    return _act(
        project,
        lambda studio: runtime.change_session(studio, runtime.suspend_session, session),
        session,
        as_json=as_json,
    )


@app.command()
def resume(
    session: SessionArgument, project: ProjectOption = None, as_json: JsonOption = False
) -> int:
    """Bring a suspended session back.

    Runs that were paused with it go on here and are watched.
    """
    from callboard.operations import runtime

    return _act(
        project,
        lambda studio: runtime.change_session(studio, runtime.resume_session, session),
        session,
        as_json=as_json,
    )


@app.command()
def complete(
    session: SessionArgument,
    summary: Annotated[
        str, typer.Option("--summary", metavar="TEXT", help="What came of it.")
    ] = "",
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Close a session that is done with."""
    from callboard.operations import runtime

    return _act(
        project,
        lambda studio: runtime.change_session(studio, runtime.complete_session, session, summary),
        session,
        as_json=as_json,
    )


def _act(
    project: Path | None,
    change: "Callable[[Studio], Awaitable[SessionRecord]]",
    session: str | None = None,
    *,
    as_json: bool,
) -> int:
    from callboard.cli.bridge import Interrupt, perform
    from callboard.cli.handlers.controls import follow_woken
    from callboard.cli.handlers.opening import Choices, working
    from callboard.cli.reading import reading
    from callboard.cli.reports.shapes import session_shape

    if session is not None:
        with reading(project) as journal:
            journal.session(session)

    async def work(interrupt: Interrupt) -> int:
        async with working(Choices(project, as_json=as_json)) as here:
            async with follow_woken(here, interrupt) as woken:
                changed = await change(here.studio)
                if as_json:
                    echo_json({"session": session_shape(changed)})
                else:
                    echo(f"Session {changed.name} ({changed.id}) is {changed.state.value}.")
            return woken.code

    return perform(work)
