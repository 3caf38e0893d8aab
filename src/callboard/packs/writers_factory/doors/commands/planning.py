"""`callboard factory outline`, `scaffold`, `approve`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from callboard.cli.options import (
    JsonOption,
    ModelOption,
    ProjectOption,
    SessionOption,
    new_app,
)
from callboard.packs.writers_factory.doors.commands.options import SetOption

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
    versions: Annotated[
        bool, typer.Option("--versions", help="List every outline you approved.")
    ] = False,
    version: Annotated[
        int | None,
        typer.Option(
            "--version",
            min=1,
            metavar="NUMBER",
            help="Show one of them, for --from as --json.",
            show_default=False,
        ),
    ] = None,
    restore: Annotated[
        int | None,
        typer.Option(
            "--restore",
            min=1,
            metavar="NUMBER",
            help="Bring one of them back; the one in force now is kept.",
            show_default=False,
        ),
    ] = None,
    scenes: Annotated[
        int | None,
        typer.Option("--scenes", min=1, metavar="NUMBER", help="With --propose: how many scenes."),
    ] = None,
    words: Annotated[
        int | None,
        typer.Option("--words", min=1, metavar="NUMBER", help="With --propose: how long a book."),
    ] = None,
    chapters: Annotated[
        int | None,
        typer.Option("--chapters", min=1, metavar="NUMBER", help="With --propose: in how many."),
    ] = None,
    model: ModelOption = None,
    session: SessionOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show the scenes of the book; propose, approve or replace the outline.

    Scenes that are written keep their texts, whatever the outline says. An outline that is replaced
    is kept.
    """
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.commands.outlining import (
        approve_outline,
        propose_outline,
        restore_outline,
    )
    from callboard.packs.writers_factory.doors.tell.outlines import (
        outline_report,
        outline_version_report,
        outline_versions_report,
    )

    given = (propose, approve, source is not None, versions, version, restore)
    if sum(map(bool, given)) > 1:
        raise typer.BadParameter(
            "Use one of --propose, --approve, --from, --versions, --version and --restore."
        )
    choices = Choices(project, model=model, as_json=as_json)
    if propose:
        size = {"scenes": scenes, "words": words, "chapters": chapters}
        return propose_outline(choices, session, size)
    if scenes or words or chapters:
        raise typer.BadParameter("--scenes, --words and --chapters go with --propose.")
    if approve or source is not None:
        return approve_outline(choices, source)
    if restore is not None:
        return restore_outline(choices, restore)

    def show(factory: "Factory") -> None:
        if version is not None:
            found = factory.rooms.manuscript.outline_version(version)
            outline_version_report(found, as_json=as_json)
        elif versions:
            found = factory.rooms.manuscript.outline_versions()
            outline_versions_report(found, as_json=as_json)
        else:
            outline_report(factory, as_json=as_json)

    return enter(choices, show)


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
    drop: Annotated[
        bool, typer.Option("--drop", help="Remove a scene that is neither planned nor written.")
    ] = False,
    version: Annotated[
        int | None,
        typer.Option(
            "--version",
            min=1,
            metavar="NUMBER",
            help="Show one it had before.",
            show_default=False,
        ),
    ] = None,
    model: ModelOption = None,
    session: SessionOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Make the brief of a scene from graph, beats and memory; you approve it or not."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import Job, watch
    from callboard.packs.writers_factory.doors.commands.outlining import drop_scene, show_scaffold
    from callboard.packs.writers_factory.doors.tell.scenes import scaffold_report
    from callboard.packs.writers_factory.model import scene_id
    from callboard.packs.writers_factory.scenes import SmartScaffold

    choices = Choices(project, model=model, as_json=as_json)
    if drop:
        return drop_scene(choices, scene_id(chapter, scene))
    if show or version is not None:
        return show_scaffold(choices, scene_id(chapter, scene), version)
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
    version: Annotated[
        int | None,
        typer.Option(
            "--version",
            min=1,
            metavar="NUMBER",
            help="Bring back one it had before.",
            show_default=False,
        ),
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Approve the brief of a scene, with your changes.

    It can be approved again with others. Names and rules in a list are separated by semicolons;
    callbacks are JSON as --json shows them.
    """
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.commands.outlining import read_changes
    from callboard.packs.writers_factory.doors.tell.scenes import scaffold_report
    from callboard.packs.writers_factory.scenes.operations import approve_scaffold

    given = read_changes(changes or [])

    async def act(factory: "Factory") -> None:
        approved = await factory.perform(approve_scaffold, scaffold_id, given, version)
        scaffold_report(approved, as_json=as_json)

    return enter(Choices(project, as_json=as_json), act)
