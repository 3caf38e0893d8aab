"""`callboard factory outline`, `scaffold`, `approve`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from callboard.cli.commands.factory.options import SetOption
from callboard.cli.options import (
    JsonOption,
    ModelOption,
    ProjectOption,
    SessionOption,
    new_app,
)

if TYPE_CHECKING:
    from callboard.packs.writers_factory.factory import Factory

app = new_app("The plan of the book.")


@app.command()
def outline(
    propose: Annotated[
        bool, typer.Option("--propose", help="Have the Foreman propose scenes from the beats.")
    ] = False,
    approve: Annotated[
        bool, typer.Option("--approve", help="Take the outline that was proposed.")
    ] = False,
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Take an outline of your own, as JSON or YAML; `-` is standard input.",
            show_default=False,
        ),
    ] = None,
    model: ModelOption = None,
    session: SessionOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show the scenes of the book; propose, approve or replace the outline.

    Scenes that are written keep their texts, whatever the outline says.
    """
    from callboard.cli.acting.factory.doors import enter
    from callboard.cli.acting.factory.outlining import approve_outline, propose_outline
    from callboard.cli.acting.opening import Choices
    from callboard.cli.reports.factory.scenes import outline_report

    if sum((propose, approve, source is not None)) > 1:
        raise typer.BadParameter("Use one of --propose, --approve and --from.")
    choices = Choices(project, model=model, as_json=as_json)
    if propose:
        return propose_outline(choices, session)
    if approve or source is not None:
        return approve_outline(choices, source)
    return enter(choices, lambda factory: outline_report(factory, as_json=as_json))


@app.command()
def scaffold(
    chapter: Annotated[int, typer.Argument(metavar="CHAPTER", min=1, help="Its chapter.")],
    scene: Annotated[int, typer.Argument(metavar="SCENE", min=1, help="Its number there.")],
    title: Annotated[
        str, typer.Option("--title", metavar="TEXT", help="By default as the outline has it.")
    ] = "",
    enrich: Annotated[
        list[str] | None,
        typer.Option(
            "--enrich",
            metavar="SOURCE",
            help="What else it draws on, like notebook:ID; may be repeated.",
            show_default=False,
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Show the one there is.")] = False,
    model: ModelOption = None,
    session: SessionOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Make the brief of a scene from graph, beats and memory; you approve it or not."""
    from callboard.cli.acting.factory.doors import Job, watch
    from callboard.cli.acting.factory.outlining import show_scaffold
    from callboard.cli.acting.opening import Choices
    from callboard.cli.reports.factory.scenes import scaffold_report
    from callboard.packs.writers_factory.model import scene_id
    from callboard.packs.writers_factory.scenes import SmartScaffold

    choices = Choices(project, model=model, as_json=as_json)
    if show:
        return show_scaffold(choices, scene_id(chapter, scene))
    args: dict[str, Any] = {
        "chapter": chapter,
        "scene": scene,
        "title": title,
        "enrichment": enrich or [],
    }
    return watch(
        choices,
        Job("scaffold", args, session),
        lambda _factory, told: scaffold_report(SmartScaffold.from_json(told), as_json=False),
    )


@app.command()
def approve(
    scaffold_id: Annotated[
        str, typer.Argument(metavar="SCENE", help="The scene of the scaffold, like ch4-sc2.")
    ],
    changes: SetOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Approve the brief of a scene, with your changes.

    It can be approved again with others. Names and rules in a list are separated by semicolons;
    callbacks are JSON as --json shows them.
    """
    from callboard.cli.acting.factory.doors import enter
    from callboard.cli.acting.factory.outlining import read_changes
    from callboard.cli.acting.opening import Choices
    from callboard.cli.reports.factory.scenes import scaffold_report

    given = read_changes(changes or [])

    async def act(factory: "Factory") -> None:
        approved = await factory.rooms.scenes.approve_scaffold(scaffold_id, given)
        scaffold_report(approved, as_json=as_json)

    return enter(Choices(project, as_json=as_json), act)
