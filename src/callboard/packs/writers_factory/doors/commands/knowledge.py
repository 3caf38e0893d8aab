"""`callboard factory notebook` and `graph`: the writer's own material, and the facts in a web."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from callboard.cli.options import (
    JsonOption,
    LimitOption,
    ModelOption,
    ProjectOption,
    SessionOption,
    new_app,
)

if TYPE_CHECKING:
    from callboard.packs.writers_factory.factory import Factory

notebook = new_app("Notebooks: add, list, ask, remove.")
graph = new_app("The graph of hard facts: central, path, around, export.")

GROUPS: Final = {"notebook": notebook, "graph": graph}

NotebookArgument = Annotated[str, typer.Argument(metavar="ID", help="Id of a notebook.")]
NodeArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="A name, an alias, or an id like character:mickey.")
]


@notebook.command()
def add(
    notebook_id: NotebookArgument,
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A folder of Markdown, text or PDF files.")
    ],
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="What it is called.")] = "",
    role: Annotated[
        str,
        typer.Option(
            "--role", metavar="ROLE", help="world_building, character_voice or craft_reference."
        ),
    ] = "world_building",
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Make a folder a notebook, or read one anew; its files are only read."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.commands.remembering import add_notebook

    wanted = (notebook_id, title, role, folder)
    return enter(
        Choices(project, as_json=as_json),
        lambda factory: add_notebook(factory, *wanted, as_json=as_json),
    )


@notebook.command("list")
def list_command(project: ProjectOption = None, as_json: JsonOption = False) -> int:
    """List the notebooks, and the roles that have none."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.tell.memory import notebooks_report

    return enter(
        Choices(project, as_json=as_json),
        lambda factory: notebooks_report(
            factory.rooms.notebooks.list(),
            factory.rooms.notebooks.missing_roles(),
            as_json=as_json,
        ),
    )


@notebook.command()
def ask(
    notebook_id: NotebookArgument,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know.")],
    passages: Annotated[
        bool, typer.Option("--passages", help="Only show what it says there: ask no model.")
    ] = False,
    model: ModelOption = None,
    session: SessionOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Ask a notebook; every quotation of the answer stands in it."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import Job, enter, watch
    from callboard.packs.writers_factory.doors.tell.memory import answer_report, passages_report

    choices = Choices(project, model=model, as_json=as_json)
    if not passages:

        def job(factory: "Factory") -> Job:
            known = factory.rooms.notebooks.get(notebook_id)
            return Job("ask_notebook", {"notebook_id": known.id, "question": question}, session)

        return watch(choices, job, lambda _factory, told: answer_report(told))

    async def act(factory: "Factory") -> None:
        found = await factory.rooms.notebooks.query(notebook_id, question)
        passages_report(found, as_json=as_json)

    return enter(choices, act)


@notebook.command()
def remove(
    notebook_id: NotebookArgument, project: ProjectOption = None, as_json: JsonOption = False
) -> int:
    """Forget a notebook; its files stay."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.commands.remembering import remove_notebook

    return enter(
        Choices(project, as_json=as_json),
        lambda factory: remove_notebook(factory, notebook_id, as_json=as_json),
    )


@graph.command()
def central(
    kind: Annotated[
        str | None,
        typer.Option(
            "--type", metavar="TYPE", help="Only character, location, …", show_default=False
        ),
    ] = None,
    limit: LimitOption = 10,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """List what everything hangs on."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.tell.memory import central_report

    return enter(
        Choices(project, as_json=as_json),
        lambda factory: central_report(
            factory.rooms.memory.graph.central(limit, kind), as_json=as_json
        ),
    )


@graph.command()
def path(
    name: NodeArgument,
    other: Annotated[str, typer.Argument(metavar="OTHER", help="Another one.")],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show how two hang together."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.commands.remembering import find_node
    from callboard.packs.writers_factory.doors.tell.memory import path_report

    def act(factory: "Factory") -> None:
        web = factory.rooms.memory.graph
        ends = [find_node(web, each).id for each in (name, other)]
        path_report(web.path(*ends), as_json=as_json)

    return enter(Choices(project, as_json=as_json), act)


@graph.command()
def around(
    name: NodeArgument,
    hops: Annotated[
        int, typer.Option("--hops", min=1, max=4, metavar="NUMBER", help="How far to look.")
    ] = 1,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show what lies around something."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.commands.remembering import find_node
    from callboard.packs.writers_factory.doors.tell.memory import around_report

    def act(factory: "Factory") -> None:
        web = factory.rooms.memory.graph
        around_report(web.subgraph([find_node(web, name).id], hops=hops), as_json=as_json)

    return enter(Choices(project, as_json=as_json), act)


@graph.command()
def export(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER", help="By default .callboard/knowledge.", show_default=False
        ),
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Write graph and contradictions as JSON; nothing reads them back."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.tell.memory import exported_report
    from callboard.packs.writers_factory.memory.operations import export_graph

    async def act(factory: "Factory") -> None:
        exported_report(await factory.perform(export_graph, folder), as_json=as_json)

    return enter(Choices(project, as_json=as_json), act)
