"""`callboard factory new`, `chat`, `state`, `mode`, `prompts`, `complete`, `reopen`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from callboard.cli.options import (
    JsonOption,
    LimitOption,
    ModelOption,
    ProjectOption,
    SessionOption,
    new_app,
)
from callboard.packs.writers_factory.doors.commands.options import AuthorOption, FormatOption

if TYPE_CHECKING:
    from callboard.packs.writers_factory.factory import Factory

app = new_app("The book as a whole.")


@app.command()
def new(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="FOLDER", help="By default this folder.", show_default=False),
    ] = None,
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="The book's title.")] = "",
    genre: Annotated[str, typer.Option("--genre", metavar="TEXT", help="Its genre.")] = "",
    tone: Annotated[str, typer.Option("--tone", metavar="TEXT", help="Its tone.")] = "",
    protagonist: Annotated[
        str, typer.Option("--protagonist", metavar="NAME", help="Who it is about.")
    ] = "",
    sample: Annotated[
        bool, typer.Option("--sample", help="Also put the sample idea and notebooks there.")
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Begin a book in a folder, or say more about one that has begun.

    What is not named stays as it is. No file of yours is changed, except that another name for the
    protagonist moves the protagonist's file.
    """
    from callboard.packs.writers_factory.doors.commands.beginning import Beginning, begin_book

    facts = {"title": title, "genre": genre, "tone": tone, "protagonist_name": protagonist}
    given = {name: value for name, value in facts.items() if value}
    wanted = Beginning(folder or project or Path.cwd(), given, with_sample=sample)
    return begin_book(wanted, as_json=as_json)


@app.command()
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
    model: ModelOption = None,
    session: SessionOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Talk with the Foreman, who knows the state of the book and acts on it.

    While you talk, /state shows what the Foreman works from, /mode shows or changes the mode, /why
    shows the exact prompt of the last answer, /thinking what was thought, /history what was said,
    and /quit ends it.
    """
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.commands.chat import foreman_talk

    return foreman_talk(Choices(project, model=model, as_json=as_json), message, session)


@app.command()
def state(
    shown_as: Annotated[
        str, typer.Option("--as", metavar="FORM", help="`text`, or `xml` as the Foreman reads it.")
    ] = "text",
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show what the Foreman works from, in sentences or exactly as it reads it."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.tell.turns import state_report

    if shown_as not in ("text", "xml"):
        raise typer.BadParameter(f"{shown_as!r} is no form; use text or xml.", param_hint="--as")
    return enter(
        Choices(project, as_json=as_json),
        lambda factory: state_report(factory, shown_as, as_json=as_json),
    )


@app.command()
def mode(
    to: Annotated[
        str | None,
        typer.Argument(metavar="MODE", help="Where the book is to go.", show_default=False),
    ] = None,
    override: Annotated[
        bool, typer.Option("--override", help="Go although the gate is not met, on record.")
    ] = False,
    risk: Annotated[
        str, typer.Option("--risk", metavar="NOTE", help="What you risk by an override.")
    ] = "",
    waive: Annotated[
        str | None,
        typer.Option(
            "--waive",
            metavar="TEMPLATE",
            help="Go on without one template being complete, on record.",
            show_default=False,
        ),
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show where the book stands and what the next mode wants, or move it.

    The first refusal names everything that is missing; after it --override goes on anyway.
    """
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.commands.chat import move_book
    from callboard.packs.writers_factory.doors.tell.modes import (
        mode_report,
        moved_report,
        waived_report,
    )
    from callboard.packs.writers_factory.modes.operations import waive_template

    async def act(factory: "Factory") -> None:
        modes = factory.rooms.modes
        if waive is not None:
            made = await factory.perform(waive_template, waive, risk)
            waived_report(made, as_json=as_json)
        elif to is not None:
            moved = await move_book(factory, to, override=override, risk=risk)
            moved_report(moved, as_json=as_json)
        else:
            mode_report(modes, as_json=as_json)

    return enter(Choices(project, as_json=as_json), act)


@app.command()
def prompts(
    turn: Annotated[
        str | None,
        typer.Argument(
            metavar="TURN",
            help="Id of a turn, a unique beginning or end of it, or `last`.",
            show_default=False,
        ),
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Print nothing but the exact text.")] = False,
    limit: LimitOption = 20,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """List the turns with the Foreman, or show what one sent to models.

    A turn comes with its tier, the size of every layer, and the exact text.
    """
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.tell.turns import turn_report, turns_report

    def act(factory: "Factory") -> None:
        if turn is None:
            turns_report(factory, limit, as_json=as_json)
        else:
            turn_report(factory, turn, only_text=text, as_json=as_json)

    return enter(Choices(project, as_json=as_json), act)


@app.command()
def complete(
    author: AuthorOption = "",
    formats: FormatOption = None,
    note: Annotated[
        str, typer.Option("--note", metavar="TEXT", help="What you want kept with it.")
    ] = "",
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Mark the manuscript complete and export it.

    What is still open is told and does not stop you.
    """
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import Job, watch
    from callboard.packs.writers_factory.doors.tell.revision import completed_report

    args: dict[str, Any] = {"by": "writer", "author": author, "formats": formats, "note": note}
    return watch(
        Choices(project, as_json=as_json),
        Job("finish", args),
        lambda _factory, told: completed_report(told),
    )


@app.command()
def reopen(project: ProjectOption = None, as_json: JsonOption = False) -> int:
    """Take a complete manuscript up again; what was exported stays."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.tell.modes import moved_report
    from callboard.packs.writers_factory.factory import reopen_book

    async def act(factory: "Factory") -> None:
        moved_report(await factory.perform(reopen_book), as_json=as_json)

    return enter(Choices(project, as_json=as_json), act)
