"""`callboard chat`: talk with one agent, once or for as long as you like."""

from typing import Annotated

import typer

from callboard.cli.options import (
    JsonOption,
    ModelOption,
    PackOption,
    ProjectOption,
    SessionOption,
    new_app,
)

app = new_app("Talk with one agent.")


@app.command(no_args_is_help=False)
def chat(
    message: Annotated[
        str | None,
        typer.Option(
            "--message",
            "-m",
            metavar="TEXT",
            help="Say one thing and leave; without it you talk until /quit.",
            show_default=False,
        ),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            "--agent",
            metavar="NAME",
            help="Id or archetype of an agent to talk with by name.",
            show_default=False,
        ),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            "--mode",
            metavar="MODE",
            help="How much machinery Alfred uses: quick, cook, plan, create or explore.",
            show_default=False,
        ),
    ] = None,
    user: Annotated[
        str | None,
        typer.Option("--user", metavar="NAME", help="Who talks with Alfred.", show_default=False),
    ] = None,
    tools: Annotated[
        str | None,
        typer.Option(
            "--tools",
            metavar="IDS",
            help="Tools it may use, with commas; by default all that only look.",
            show_default=False,
        ),
    ] = None,
    skip_tools: Annotated[
        bool, typer.Option("--skip-tools", help="Let it answer without looking anything up.")
    ] = False,
    pack: PackOption = None,
    model: ModelOption = None,
    session: SessionOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Talk with one agent: the staff's Chief, the Foreman, or Alfred, by what the project is for.

    It remembers what was said in the session. While you talk, /agent NAME turns to another agent,
    /plan WISH has the Chief make a plan of a wish, /history shows what was said, /why shows the
    prompt of the last answer, /quit ends it. With Alfred there are also /mode, /entities and /undo.
    """
    from callboard.cli.handlers.dialogue import TerminalConversation, converse
    from callboard.cli.handlers.opening import Choices

    choices = Choices(project, tuple(pack or ()), model, as_json)
    wanted = TerminalConversation(message, agent, mode, user, tools, skip_tools, session)
    return converse(choices, wanted)
