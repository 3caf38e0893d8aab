"""`callboard factory analyze`, `enhance`, `changes`, `edit`, `undo` and the rest of revising."""

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
    FastOption,
    SceneArgument,
    WriterOption,
    listed,
)

if TYPE_CHECKING:
    from callboard.packs.writers_factory.factory import Factory

app = new_app("Written scenes, revised.")


@app.command()
def analyze(
    scene: SceneArgument,
    fast: FastOption = False,
    model: ModelOption = None,
    session: SessionOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Score a scene in five categories; every issue quotes it."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import Job, watch
    from callboard.packs.writers_factory.doors.tell.revision import analysis_report

    return watch(
        Choices(project, model=model, as_json=as_json),
        Job("analyze", {"scene_id": scene, "fast": fast}, session),
        lambda _factory, told: analysis_report(told),
    )


@app.command()
def waive(
    scene: SceneArgument,
    quote: Annotated[str, typer.Argument(metavar="QUOTE", help="The words that are to stay.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why they stay.")],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Let one zero-tolerance phrase of a scene stand, on record."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.commands.deciding import waive_phrase

    return enter(
        Choices(project, as_json=as_json),
        lambda factory: waive_phrase(factory, scene, quote, reason, as_json=as_json),
    )


@app.command()
def enhance(
    scene: SceneArgument,
    six_pass: Annotated[
        bool, typer.Option("--six-pass", help="Six passes over all of it, not only the issues.")
    ] = False,
    fast: FastOption = False,
    writer: WriterOption = None,
    model: ModelOption = None,
    session: SessionOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Propose changes to a scene; it stays as it is until you take them."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import Job, watch
    from callboard.packs.writers_factory.doors.tell.revision import enhancement_report

    args: dict[str, Any] = {
        "scene_id": scene,
        "mode": "six_pass" if six_pass else "action_prompt",
        "fast": fast,
        "model": writer,
    }
    return watch(
        Choices(project, model=model, as_json=as_json),
        Job("enhance", args, session),
        lambda _factory, told: enhancement_report(told),
    )


@app.command()
def changes(
    enhancement: Annotated[
        str, typer.Argument(metavar="ID", help="The run that proposed them, or a scene.")
    ],
    accept: Annotated[
        str, typer.Option("--accept", metavar="IDS", help="Take these, with commas, or `all`.")
    ] = "",
    reject: Annotated[
        str, typer.Option("--reject", metavar="IDS", help="Refuse these, with commas, or `all`.")
    ] = "",
    force: Annotated[
        bool, typer.Option("--force", help="Even if the text then contradicts cards or scenes.")
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show proposed changes, and take or refuse them.

    The scene then holds what is accepted. The text before stays among the scene's versions.
    """
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.commands.deciding import decide_changes

    taken, refused = listed(accept), listed(reject)
    return enter(
        Choices(project, as_json=as_json),
        lambda factory: decide_changes(
            factory, enhancement, taken, refused, force=force, as_json=as_json
        ),
    )


@app.command()
def edit(
    scene: SceneArgument,
    old: Annotated[
        str, typer.Option("--old", metavar="TEXT", help="The words, which stand there once.")
    ],
    new: Annotated[str, typer.Option("--new", metavar="TEXT", help="What takes their place.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.")],
    force: Annotated[
        bool,
        typer.Option("--force", help="Even if the voice or the book forbids it."),
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Replace words in one place of a scene; `undo` takes it back.

    A file of the Story Bible can be named too.
    """
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.tell.revision import edit_report
    from callboard.packs.writers_factory.factory import edit_text
    from callboard.packs.writers_factory.revision.editing.requests import EditRequest

    async def act(factory: "Factory") -> None:
        request = EditRequest(new, reason, old_text=old, force=force, target=scene)
        edit_report(await factory.perform(edit_text, request), as_json=as_json)

    return enter(Choices(project, as_json=as_json), act)


@app.command()
def undo(
    scene: Annotated[
        str | None,
        typer.Argument(
            metavar="SCENE",
            help="The scene, like ch4-sc2; without one, what the Foreman filed last.",
            show_default=False,
        ),
    ] = None,
    version: Annotated[
        int | None,
        typer.Option(
            "--version",
            min=0,
            metavar="NUMBER",
            help="Bring this version back instead.",
            show_default=False,
        ),
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Take back the last edit of a scene, or what the Foreman filed last.

    With a number an older version of a scene is brought back.
    """
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.commands.deciding import go_back
    from callboard.packs.writers_factory.doors.tell.memory import taken_back_report
    from callboard.packs.writers_factory.memory.operations import take_back

    async def act(factory: "Factory") -> None:
        if scene is not None:
            await go_back(factory, scene, version, as_json=as_json)
        else:
            taken_back_report(await factory.perform(take_back), as_json=as_json)

    if scene is None and version is not None:
        raise typer.BadParameter("--version is of a scene; name it.")
    return enter(Choices(project, as_json=as_json), act)


@app.command()
def versions(
    scene: SceneArgument, project: ProjectOption = None, as_json: JsonOption = False
) -> int:
    """List what a scene was before, with when and why it changed."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.tell.scenes import versions_report

    def act(factory: "Factory") -> None:
        book = factory.rooms.manuscript
        versions_report(book.versions(book.scene(scene).scene_id), as_json=as_json)

    return enter(Choices(project, as_json=as_json), act)


@app.command()
def proposals(
    proposal: Annotated[
        str | None,
        typer.Argument(metavar="PROPOSAL", help="Id of a proposal.", show_default=False),
    ] = None,
    accept: Annotated[bool, typer.Option("--accept", help="Put it in place.")] = False,
    reject: Annotated[bool, typer.Option("--reject", help="Refuse it.")] = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="Even if the voice or the book forbids it."),
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """List texts the Foreman proposed, show one as a difference, take or refuse it."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.commands.deciding import Answer, decide_proposal

    if accept and reject:
        raise typer.BadParameter("Use one of --accept and --reject.")
    if proposal is None and (accept or reject):
        raise typer.BadParameter("Which one is meant is missing.", param_hint="PROPOSAL")
    answer = Answer.ACCEPT if accept else Answer.REJECT if reject else Answer.NONE
    return enter(
        Choices(project, as_json=as_json),
        lambda factory: decide_proposal(factory, proposal, answer, force=force, as_json=as_json),
    )


@app.command()
def audit(
    fast: FastOption = False,
    judge: Annotated[
        bool,
        typer.Option("--judge", help="Let a model judge the passages that rules cannot judge."),
    ] = False,
    model: ModelOption = None,
    session: SessionOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Check the continuity of the whole manuscript, and write the report."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import Job, watch
    from callboard.packs.writers_factory.doors.tell.revision import audit_report

    return watch(
        Choices(project, model=model, as_json=as_json),
        Job("audit", {"fast": fast, "judge": judge}, session),
        lambda _factory, told: audit_report(told),
    )


@app.command("voice-report")
def voice_report_command(
    session: SessionOption = None, project: ProjectOption = None, as_json: JsonOption = False
) -> int:
    """Measure every scene against the voice, and write the report; asks no model."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import Job, watch
    from callboard.packs.writers_factory.doors.tell.revision import voice_report

    return watch(
        Choices(project, as_json=as_json),
        Job("voice_report", {}, session),
        lambda _factory, told: voice_report(told),
    )
