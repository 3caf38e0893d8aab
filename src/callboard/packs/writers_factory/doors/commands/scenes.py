"""`callboard factory write`, `variants`, `select`, `hybrid`, `accept`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from callboard.cli.options import (
    JsonOption,
    ModelOption,
    ProjectOption,
    SessionOption,
    new_app,
)
from callboard.packs.writers_factory.doors.commands.options import (
    SceneArgument,
    WriterOption,
    listed,
)

if TYPE_CHECKING:
    from callboard.packs.writers_factory.factory import Factory

app = new_app("Scenes on their way into the book.")


@app.command()
def write(
    scene: SceneArgument,
    strategies: Annotated[
        str,
        typer.Option(
            "--strategies", metavar="NAMES", help="action, character, balanced, …, with commas."
        ),
    ] = "",
    words: Annotated[
        int | None,
        typer.Option(
            "--words", min=1, metavar="NUMBER", help="How long it is to be.", show_default=False
        ),
    ] = None,
    writer: WriterOption = None,
    model: ModelOption = None,
    session: SessionOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Draft an approved scene once per strategy; the book changes when you select one."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import Job, watch
    from callboard.packs.writers_factory.doors.tell.scenes import variants_report
    from callboard.packs.writers_factory.scenes import SceneVariant

    args: dict[str, Any] = {
        "scaffold_id": scene,
        "strategies": listed(strategies),
        "word_target": words,
        "model": writer,
    }

    def tell(_factory: "Factory", told: Any) -> None:
        made = [SceneVariant.from_json(each) for each in told["variants"]]
        variants_report(made, as_json=False)

    return watch(
        Choices(project, model=model, as_json=as_json), Job("write_scene", args, session), tell
    )


@app.command()
def variants(
    scene: SceneArgument, project: ProjectOption = None, as_json: JsonOption = False
) -> int:
    """Show every draft of a scene."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.tell.scenes import variants_report

    def act(factory: "Factory") -> None:
        known = factory.rooms.manuscript.scene(scene).scene_id
        variants_report(factory.rooms.scenes.variants(known), as_json=as_json)

    return enter(Choices(project, as_json=as_json), act)


@app.command()
def select(
    scene: SceneArgument,
    variant: Annotated[
        str, typer.Argument(metavar="VARIANT", help="Its id, or its strategy for the newest.")
    ],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Take a draft as the scene's text; the text before stays among its versions."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.commands.deciding import latest_version
    from callboard.packs.writers_factory.doors.tell.scenes import version_report
    from callboard.packs.writers_factory.factory import take_variant

    async def act(factory: "Factory") -> None:
        before = latest_version(factory, scene)
        taken = await factory.perform(take_variant, scene, variant)
        version_report(taken, before, as_json=as_json)

    return enter(Choices(project, as_json=as_json), act)


@app.command()
def hybrid(
    scene: SceneArgument,
    parts: Annotated[
        list[str] | None,
        typer.Option(
            "--part",
            metavar="VARIANT#PARAGRAPHS",
            help="Like ch4-sc2:BALANCED:1#2-4; may be repeated, in their order.",
            show_default=False,
        ),
    ] = None,
    wish: Annotated[
        str, typer.Option("--wish", metavar="TEXT", help="What a model is to do with them.")
    ] = "",
    model: ModelOption = None,
    session: SessionOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Join parts of drafts into one more draft.

    Every paragraph remembers where it comes from.
    """
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import Job, watch
    from callboard.packs.writers_factory.doors.tell.scenes import variants_report
    from callboard.packs.writers_factory.scenes import SceneVariant

    args: dict[str, Any] = {"scene_id": scene, "parts": parts or [], "wishes": wish}
    return watch(
        Choices(project, model=model, as_json=as_json),
        Job("hybrid", args, session),
        lambda _factory, told: variants_report([SceneVariant.from_json(told)], as_json=False),
    )


@app.command()
def accept(
    scene: SceneArgument,
    variant: Annotated[
        str, typer.Option("--variant", metavar="VARIANT", help="Select this draft first.")
    ] = "",
    force: Annotated[
        bool, typer.Option("--force", help="Even if it contradicts cards or other scenes.")
    ] = False,
    model: ModelOption = None,
    session: SessionOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Accept a scene: it enters the book and the graph, and the next one is proposed."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import Job, watch
    from callboard.packs.writers_factory.doors.tell.scenes import accepted_report

    args: dict[str, Any] = {"scene_id": scene, "variant_id": variant, "force": force}
    return watch(
        Choices(project, model=model, as_json=as_json),
        Job("accept", args, session),
        lambda _factory, told: accepted_report(told),
    )
