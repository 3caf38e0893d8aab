"""`callboard factory health`, `alerts`, `theme`, `correct`, `cast`."""

from typing import TYPE_CHECKING, Annotated

import typer

from callboard.cli.options import (
    JsonOption,
    ModelOption,
    ProjectOption,
    SessionOption,
    new_app,
)
from callboard.packs.writers_factory.doors.commands.options import SceneArgument, listed

if TYPE_CHECKING:
    from callboard.packs.writers_factory.factory import Factory

app = new_app("The health of the manuscript.")


@app.command()
def health(
    scope: Annotated[
        str,
        typer.Option(
            "--scope", metavar="PART", help="manuscript, act:2a, chapter:4, scene:ch4-sc2."
        ),
    ] = "manuscript",
    checks: Annotated[
        str, typer.Option("--checks", metavar="IDS", help="A1 to C2, with commas; all by default.")
    ] = "",
    model: ModelOption = None,
    session: SessionOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Look at the health of the manuscript with seven checks."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import Job, watch
    from callboard.packs.writers_factory.doors.tell.health import health_report

    return watch(
        Choices(project, model=model, as_json=as_json),
        Job("health", {"scope": scope, "checks": listed(checks)}, session),
        lambda _factory, told: health_report(told),
    )


@app.command()
def alerts(
    mute: Annotated[
        str | None,
        typer.Option(
            "--mute", metavar="FINDING", help="Keep it out of the alerts.", show_default=False
        ),
    ] = None,
    unmute: Annotated[
        str | None,
        typer.Option("--unmute", metavar="FINDING", help="Hear it again.", show_default=False),
    ] = None,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why it is muted.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Also what is fixed or muted.")] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """List open findings, worst first; mute one with a reason."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.tell.health import alerts_report, muted_report
    from callboard.packs.writers_factory.health import operations

    async def act(factory: "Factory") -> None:
        room = factory.rooms.health
        if mute is not None:
            muted = await factory.perform(operations.mute_finding, mute, reason)
            muted_report(muted, as_json=as_json)
        elif unmute is not None:
            heard = await factory.perform(operations.unmute_finding, unmute)
            muted_report(heard, as_json=as_json)
        else:
            found = [each for each in room.findings() if every or each.is_alert]
            alerts_report(found, has_looked=room.latest() is not None, as_json=as_json)

    return enter(Choices(project, as_json=as_json), act)


@app.command()
def theme(
    target: Annotated[
        str, typer.Argument(metavar="SCENE", help="A scene like ch4-sc2, or a beat like beat:9.")
    ],
    score: Annotated[
        float | None,
        typer.Argument(metavar="SCORE", help="From 0 to 10.", show_default=False),
    ] = None,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.")] = "",
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Take your score back.")] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Put your own score for the theme in place of the judge's, or take it back."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.commands.correcting import withdraw_theme
    from callboard.packs.writers_factory.doors.tell.health import theme_report
    from callboard.packs.writers_factory.health.operations import set_theme_override

    if (score is None) is not withdraw:
        raise typer.BadParameter("Give a score, or --withdraw.", param_hint="SCORE")

    async def act(factory: "Factory") -> None:
        if score is None:
            await withdraw_theme(factory, target, as_json=as_json)
        else:
            made = await factory.perform(set_theme_override, target, score, reason)
            theme_report(made, as_json=as_json)

    return enter(Choices(project, as_json=as_json), act)


@app.command()
def correct(
    scene: SceneArgument,
    tension: Annotated[
        float | None,
        typer.Option("--tension", metavar="NUMBER", help="From 1 to 10.", show_default=False),
    ] = None,
    challenge: Annotated[
        str | None,
        typer.Option(
            "--challenge",
            metavar="TYPE",
            help="It challenges the flaw: test, failure, growth, triumph; or `none`.",
            show_default=False,
        ),
    ] = None,
    intensity: Annotated[
        int, typer.Option("--intensity", metavar="NUMBER", help="Of the challenge, from 1 to 10.")
    ] = 5,
    symbols: Annotated[
        list[str] | None,
        typer.Option(
            "--symbol",
            metavar="NAME=STAGE",
            help="introduction, development or transformation; may be repeated.",
            show_default=False,
        ),
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Set right what a judge said of a scene.

    Your word goes first and survives later checks; saying it again changes it.
    """
    from callboard.cli.arguments import read_pairs
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.commands.correcting import Correction, correct_scene

    uses = None if symbols is None else read_pairs(symbols, "--symbol")
    wanted = Correction(scene, tension, challenge, intensity, uses)
    if wanted.is_empty:
        raise typer.BadParameter("Name --tension, --challenge or --symbol.")
    return enter(
        Choices(project, as_json=as_json),
        lambda factory: correct_scene(factory, wanted, as_json=as_json),
    )


@app.command("cast")
def cast_command(
    character: Annotated[str, typer.Argument(metavar="NAME", help="A supporting character.")],
    function: Annotated[
        str, typer.Argument(metavar="FUNCTION", help="antagonist, mentor, ally, foil, …, other.")
    ],
    note: Annotated[
        str, typer.Option("--note", metavar="TEXT", help="In your words; `other` needs it.")
    ] = "",
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Say what a supporting character is for; saying it again changes it."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.commands.correcting import set_function

    return enter(
        Choices(project, as_json=as_json),
        lambda factory: set_function(factory, character, function, note, as_json=as_json),
    )
