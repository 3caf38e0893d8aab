"""`callboard factory tournament`, `voices`, `winner`, `bundle`, `lock`."""

from typing import TYPE_CHECKING, Annotated

import typer

from callboard.cli.options import (
    JsonOption,
    ModelOption,
    ProjectOption,
    SessionOption,
    new_app,
)
from callboard.packs.writers_factory.doors.commands.options import listed

if TYPE_CHECKING:
    from callboard.packs.writers_factory.factory import Factory

app = new_app("The voice of the book.")

ConfirmedOption = Annotated[
    bool, typer.Option("--confirmed", help="Change a voice that is locked; it is to lock again.")
]


@app.command()
def tournament(
    prompt: Annotated[
        str,
        typer.Option(
            "--prompt",
            metavar="TEXT",
            help="What the passage is to tell; by default what was asked last.",
        ),
    ] = "",
    models: Annotated[
        str,
        typer.Option("--models", metavar="MODELS", help="Who takes part, with commas."),
    ] = "",
    strategies: Annotated[
        str,
        typer.Option(
            "--strategies", metavar="NAMES", help="action, character, dialogue, …, with commas."
        ),
    ] = "",
    model: ModelOption = None,
    session: SessionOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Have one passage written in several ways, and see the results blind.

    Every model writes it by every strategy. Earlier tournaments stay.
    """
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.commands.calibrating import Contest, hold_tournament

    wanted = Contest(prompt, tuple(listed(models)), tuple(listed(strategies)), session)
    return hold_tournament(Choices(project, model=model, as_json=as_json), wanted)


@app.command()
def voices(
    named: Annotated[
        str | None,
        typer.Argument(metavar="TOURNAMENT", help="By default the newest one.", show_default=False),
    ] = None,
    reveal: Annotated[bool, typer.Option("--reveal", help="Also show who wrote which.")] = False,
    every: Annotated[bool, typer.Option("--all", help="List all tournaments.")] = False,
    status: Annotated[
        bool, typer.Option("--status", help="Show how far the voice has come instead.")
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show the passages of a tournament; who wrote which is hidden until one has won."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.commands.calibrating import find_tournament
    from callboard.packs.writers_factory.doors.tell.voice import (
        status_report,
        tournament_report,
        tournaments_report,
    )

    def act(factory: "Factory") -> None:
        voice = factory.rooms.voice
        if status:
            status_report(voice.status(), as_json=as_json)
        elif every:
            tournaments_report(voice.tournaments(), as_json=as_json)
        else:
            found = find_tournament(voice, named)
            tournament_report(found, reveal=reveal or None, as_json=as_json)

    return enter(Choices(project, as_json=as_json), act)


@app.command()
def winner(
    label: Annotated[
        str | None,
        typer.Argument(metavar="LETTER", help="The passage by its letter.", show_default=False),
    ] = None,
    agent: Annotated[
        str, typer.Option("--agent", metavar="MODEL", help="Or by who wrote it …")
    ] = "",
    strategy: Annotated[
        str, typer.Option("--strategy", metavar="NAME", help="… and in which way.")
    ] = "",
    notes: Annotated[
        str, typer.Option("--notes", metavar="TEXT", help="Why it works, and what to avoid.")
    ] = "",
    named: Annotated[
        str | None,
        typer.Option(
            "--tournament",
            metavar="ID",
            help="By default the newest one.",
            show_default=False,
        ),
    ] = None,
    confirmed: ConfirmedOption = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Choose the passage whose voice the book is to have; then the names are shown."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.commands.calibrating import choose_winner
    from callboard.packs.writers_factory.voice import Pick

    if label is None and not (agent and strategy):
        raise typer.BadParameter("Name a letter, or --agent and --strategy.", param_hint="LETTER")
    pick = Pick(agent=agent, strategy=strategy, label=label or "")
    return enter(
        Choices(project, as_json=as_json),
        lambda factory: choose_winner(
            factory, named, pick, notes=notes, confirmed=confirmed, as_json=as_json
        ),
    )


@app.command()
def bundle(
    confirmed: ConfirmedOption = False,
    model: ModelOption = None,
    session: SessionOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Write the files every scene is written by; those there were before are kept."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import Job, watch
    from callboard.packs.writers_factory.doors.tell.voice import bundle_report

    return watch(
        Choices(project, model=model, as_json=as_json),
        Job("bundle", {"confirmed": confirmed}, session),
        lambda _factory, told: bundle_report(told),
    )


@app.command()
def lock(project: ProjectOption = None, as_json: JsonOption = False) -> int:
    """Lock the voice: your word, which no model can give.

    `bundle --confirmed` or `winner --confirmed` opens it again.
    """
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.tell.voice import status_report
    from callboard.packs.writers_factory.voice.operations import confirm_voice_lock

    async def act(factory: "Factory") -> None:
        status_report(await factory.perform(confirm_voice_lock, True), as_json=as_json)

    return enter(Choices(project, as_json=as_json), act)
