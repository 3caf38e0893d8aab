"""`callboard runs`: look at runs. What acts on them stands in `run_control`."""

from typing import Annotated

import typer

from callboard.cli.commands.run_control import add_to
from callboard.cli.options import (
    JsonOption,
    LimitOption,
    ProjectOption,
    RunArgument,
    SessionOption,
    new_app,
)

app = new_app("List, show, control, retry and fork runs.")


@app.command("list")
def list_command(
    state: Annotated[
        list[str] | None,
        typer.Option(
            "--state",
            metavar="STATE",
            help="Only runs in this state; may be repeated.",
            show_default=False,
        ),
    ] = None,
    session: SessionOption = None,
    limit: LimitOption = 20,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """List runs, newest first."""
    from callboard.cli.reading import reading
    from callboard.cli.reports.runs import list_runs_report

    with reading(project) as journal:
        list_runs_report(journal, state or [], session, limit, as_json=as_json)


@app.command()
def show(
    run: RunArgument,
    prompts: Annotated[
        bool, typer.Option("--prompts", help="Name the stored prompt of every agent step.")
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a run.

    Its state, steps, slots, what it asks, what went wrong, where it comes from, its tokens.
    """
    from callboard.cli.reading import reading
    from callboard.cli.reports.runs import show_run_report

    with reading(project) as journal:
        show_run_report(journal, journal.run(run), with_prompts=prompts, as_json=as_json)


@app.command()
def steps(
    run: RunArgument,
    key: Annotated[
        str | None,
        typer.Argument(
            metavar="STEP", help="Show one step with its whole output.", show_default=False
        ),
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the steps of a run, or show one."""
    from callboard.cli.reading import reading
    from callboard.cli.reports.runs import show_step_report, steps_report

    with reading(project) as journal:
        found = journal.run(run)
        if key is None:
            steps_report(journal, found, as_json=as_json)
        else:
            show_step_report(journal, found, key, as_json=as_json)


@app.command()
def slot(
    run: RunArgument,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="SLOT", help="The slot; without it, the slots are listed.", show_default=False
        ),
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the whole value of a slot.

    An agent's reply is printed as text, what a tool found as JSON.
    """
    from callboard.cli.reading import reading
    from callboard.cli.reports.run_parts import slot_report, slots_report

    with reading(project) as journal:
        found = journal.run(run)
        if name is None:
            slots_report(journal, found, as_json=as_json)
        else:
            slot_report(journal, found, name, as_json=as_json)


@app.command()
def events(
    run: RunArgument,
    follow: Annotated[
        bool, typer.Option("--follow", help="Go on until the run is over, or until Ctrl-C.")
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print what happened in a run, one line per event."""
    from callboard.cli.reading import reading
    from callboard.cli.reports.run_parts import events_report

    with reading(project) as journal:
        events_report(journal, journal.run(run), follow=follow, as_json=as_json)


add_to(app)
