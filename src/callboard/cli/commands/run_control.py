"""The part of `callboard runs` that acts: signals, retry, fork, and what a run proposes."""

from typing import Annotated

import typer

from callboard.cli.options import (
    JsonOption,
    ModelOption,
    PackOption,
    ProjectOption,
    RunArgument,
)

ReasonOption = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="Why; it is stored with the signal.")
]


def add_to(app: typer.Typer) -> None:
    """Add these commands to the application of `callboard runs`."""
    for command in (watch, pause, resume, cancel, retry, fork, proposals, apply):
        app.command()(command)


def watch(run: RunArgument, project: ProjectOption = None, as_json: JsonOption = False) -> int:
    """Watch a run that another process executes, from its beginning to its end.

    Ctrl-C ends the watching, not the run. A question ends it too, and `callboard answer` takes it.
    """
    from callboard.cli.handlers.detaching import watch_run
    from callboard.cli.handlers.opening import Choices

    return watch_run(Choices(project, as_json=as_json), run)


def pause(
    run: RunArgument,
    reason: ReasonOption = "",
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Pause a run, wherever it is executed.

    Returns once it has taken effect; a step that is executing is finished first.
    """
    from callboard.cli.handlers.controls import send_signal

    return send_signal(project, run, "pause", reason, as_json=as_json)


def cancel(
    run: RunArgument,
    reason: ReasonOption = "",
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Cancel a run for good.

    Returns once it has taken effect; `retry` and `fork` can go on from what was finished.
    """
    from callboard.cli.handlers.controls import send_signal

    return send_signal(project, run, "cancel", reason, as_json=as_json)


def resume(
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN",
            help="Id of a run, a unique beginning or end of it, or `last`.",
            show_default=False,
        ),
    ] = None,
    all_runs: Annotated[
        bool, typer.Option("--all", help="Take up every interrupted run; paused ones stay paused.")
    ] = False,
    pack: PackOption = None,
    model: ModelOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Let a paused or interrupted run go on.

    A run that nobody executes is taken up here and watched.
    """
    from callboard.cli.handlers.controls import resume_all, resume_run
    from callboard.cli.handlers.opening import Choices
    from callboard.core.errors import InvalidInput

    choices = Choices(project, tuple(pack or ()), model, as_json)
    if all_runs == (run is not None):
        raise InvalidInput("Which run?", fix="Name one run, or give --all.")
    return resume_all(choices) if run is None else resume_run(choices, run)


def retry(
    run: RunArgument,
    from_step: Annotated[
        str | None,
        typer.Option(
            "--from-step",
            metavar="STEP",
            help="Begin at this step of a recipe instead of the one that failed.",
            show_default=False,
        ),
    ] = None,
    pack: PackOption = None,
    model: ModelOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Try a failed or cancelled run again.

    Makes a new run that keeps the finished steps of the old one, and watches it.
    """
    from callboard.cli.handlers.controls import retry_run
    from callboard.cli.handlers.opening import Choices

    return retry_run(Choices(project, tuple(pack or ()), model, as_json), run, from_step)


def fork(
    run: RunArgument,
    from_step: Annotated[
        str | None,
        typer.Option("--from", metavar="STEP", help="Start before this step.", show_default=False),
    ] = None,
    edit: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="SLOT=TEXT",
            help="Put your own words into a slot; may be repeated.",
            show_default=False,
        ),
    ] = None,
    edit_file: Annotated[
        list[str] | None,
        typer.Option(
            "--set-file",
            metavar="SLOT=FILE",
            help="The same with the text of a file.",
            show_default=False,
        ),
    ] = None,
    pack: PackOption = None,
    model: ModelOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Make a variant of a run.

    The new run keeps what was finished before a step, or up to slots you edit, and is watched.
    """
    from callboard.cli.arguments import read_pairs, read_text
    from callboard.cli.handlers.controls import fork_run
    from callboard.cli.handlers.opening import Choices

    edits = read_pairs(edit or [], "--set")
    files = read_pairs(edit_file or [], "--set-file")
    edits |= {slot: read_text(name) for slot, name in files.items()}
    choices = Choices(project, tuple(pack or ()), model, as_json)
    return fork_run(choices, run, from_step, edits)


def proposals(run: RunArgument, project: ProjectOption = None, as_json: JsonOption = False) -> int:
    """Show what a run would write, as a difference to the file as it is now."""
    from callboard.cli.handlers.controls import show_proposals

    return show_proposals(project, run, as_json=as_json)


def apply(
    run: RunArgument,
    path: Annotated[
        str | None,
        typer.Option("--path", metavar="FILE", help="Only this file.", show_default=False),
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Even if the file was changed since, or code found fault with the text."
        ),
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Write what a run proposes; what was there before is kept in .callboard/backups."""
    from callboard.cli.handlers.controls import Acceptance, apply_run

    return apply_run(project, run, Acceptance(path, force), as_json=as_json)
