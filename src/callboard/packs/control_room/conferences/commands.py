"""`callboard conference`: ask everybody one question; look at what was said; ask one again."""

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

app = new_app("Ask the whole staff one question.")


@app.command(no_args_is_help=True)
def conference(
    message: Annotated[
        str | None,
        typer.Argument(metavar="MESSAGE", help="What everybody is asked.", show_default=False),
    ] = None,
    agents: Annotated[
        str,
        typer.Option(
            "--agents", metavar="NAMES", help="Who is invited beside the Chief, with commas."
        ),
    ] = "",
    tools: Annotated[
        str | None,
        typer.Option(
            "--tools",
            metavar="IDS",
            help="Tools the Chief may use, with commas; by default all that only look.",
            show_default=False,
        ),
    ] = None,
    require_tool: Annotated[
        bool, typer.Option("--require-tool", help="End the round if the Chief looks nothing up.")
    ] = False,
    continued: Annotated[
        str | None,
        typer.Option(
            "--continue",
            metavar="CONFERENCE",
            help="A conference to go on with: its id, or `last`.",
            show_default=False,
        ),
    ] = None,
    again: Annotated[
        str | None,
        typer.Option(
            "--again",
            metavar="AGENT",
            help="Ask an agent again whose reply was rejected or failed.",
            show_default=False,
        ),
    ] = None,
    round_id: Annotated[
        str, typer.Option("--round", metavar="RUN", help="The round meant by --again.")
    ] = "last",
    show: Annotated[
        str | None,
        typer.Option(
            "--show",
            metavar="CONFERENCE",
            help="Show what was said in a conference.",
            show_default=False,
        ),
    ] = None,
    list_all: Annotated[bool, typer.Option("--list", help="List the conferences.")] = False,
    pack: PackOption = None,
    model: ModelOption = None,
    session: SessionOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Ask the whole staff one question.

    The Chief looks things up first; then everybody answers apart from the others, on the same
    evidence. What an agent says counts only if its evidence holds. The transcript becomes an issue.
    """
    if list_all or show is not None:
        from callboard.cli.reading import reading
        from callboard.packs.control_room.conferences.rounds import (
            conference_report,
            conferences_report,
        )

        with reading(project) as journal:
            if show is not None:
                conference_report(journal, show, as_json=as_json)
            else:
                conferences_report(journal, session, as_json=as_json)
        return 0
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.control_room.conferences.rounds import RoundOptions, ask_again, hold_round

    choices = Choices(project, tuple(pack or ()), model, as_json)
    if again is not None:
        return ask_again(choices, again, round_id)
    if message is None or not message.strip():
        raise typer.BadParameter("What everybody is asked is missing.", param_hint="MESSAGE")
    names = tuple(name.strip() for name in agents.split(",") if name.strip())
    asked = RoundOptions(message, names, tools, require_tool, continued, session)
    return hold_round(choices, asked)
