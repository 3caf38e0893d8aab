"""`callboard run`: start a run and watch it to its end."""

from typing import Annotated

import typer

from callboard.cli.options import (
    ArgOption,
    ArgsJsonOption,
    JsonOption,
    ModelOption,
    PackOption,
    ProjectOption,
    SessionOption,
    new_app,
)

app = new_app("Start a run and watch it.")


@app.command()
def run(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="What to run: `pack/name`, or `name` alone.")
    ],
    arg: ArgOption = None,
    args_json: ArgsJsonOption = None,
    pack: PackOption = None,
    model: ModelOption = None,
    session: SessionOption = None,
    title: Annotated[
        str, typer.Option("--title", metavar="TEXT", help="What the run is called in lists.")
    ] = "",
    detach: Annotated[
        bool,
        typer.Option(
            "--detach",
            help="Run it in the background and print its id; `callboard runs watch` shows it.",
        ),
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Start a run and watch it.

    Steps are shown on standard error as they happen; the result goes to standard output. Ctrl-C
    lets go of the run: `callboard runs resume` takes it up again where it was. With --json every
    stored event is one line, and the last line is an object with the run.
    """
    from callboard.cli.arguments import read_arguments
    from callboard.cli.bridge import Interrupt, perform
    from callboard.cli.handlers.opening import Choices, working

    given = read_arguments(arg or [], args_json)
    choices = Choices(project, tuple(pack or ()), model, as_json)
    if detach:
        from callboard.cli.handlers.detaching import DetachedRun, run_detached

        return run_detached(choices, DetachedRun(name, given, session, title))

    async def work(interrupt: Interrupt) -> int:
        async with working(choices) as here:
            here.hint_at_interrupted()
            started = await here.studio.start(name, given, session_id=session, title=title)
            here.announce(started)
            return await here.follow(started.id, interrupt)

    return perform(work)
