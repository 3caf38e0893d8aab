"""`callboard factory decide`, `decisions`, `forget`, `timeline`, `consolidate`, `conflicts`."""

from typing import TYPE_CHECKING, Annotated

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

app = new_app("What is remembered.")

CategoryArgument = Annotated[
    str,
    typer.Argument(
        metavar="CATEGORY",
        help="character, world, structure, constraint, preference, voice, correction, continuity.",
    ),
]
KeyArgument = Annotated[
    str, typer.Argument(metavar="KEY", help="What it is about, like mickey_fatal_flaw.")
]


@app.command()
def filed(project: ProjectOption = None, as_json: JsonOption = False) -> int:
    """List what the Foreman filed in conversation; `undo` takes the last of it back."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.bible.filings import Filings
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.tell.memory import filings_report

    return enter(
        Choices(project, as_json=as_json),
        lambda factory: filings_report(Filings(factory.workspace).all(), as_json=as_json),
    )


@app.command()
def decide(
    category: CategoryArgument,
    key: KeyArgument,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="What you decided.")],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Keep a decision; one of the same category and key goes into the history."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.tell.memory import decision_report
    from callboard.packs.writers_factory.memory.operations import decide as keep

    async def act(factory: "Factory") -> None:
        memory = factory.rooms.memory
        known = next((each for each in memory.decisions(category) if each.key == key), None)
        entry = await factory.perform(keep, category, key, value)
        decision_report(entry, None if known is None else known.value, as_json=as_json)

    return enter(Choices(project, as_json=as_json), act)


@app.command()
def decisions(
    category: Annotated[
        str | None,
        typer.Option(
            "--category", metavar="NAME", help="Only of this category.", show_default=False
        ),
    ] = None,
    limit: LimitOption = 100,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """List what was decided, newest first."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.tell.memory import decisions_report

    return enter(
        Choices(project, as_json=as_json),
        lambda factory: decisions_report(
            factory.rooms.memory.decisions(category, limit), as_json=as_json
        ),
    )


@app.command()
def forget(
    category: CategoryArgument,
    key: KeyArgument,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Forget a decision and its history; what it was is printed, to decide it again."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.commands.remembering import forget_decision

    return enter(
        Choices(project, as_json=as_json),
        lambda factory: forget_decision(factory, category, key, as_json=as_json),
    )


@app.command()
def timeline(
    limit: LimitOption = 100, project: ProjectOption = None, as_json: JsonOption = False
) -> int:
    """List every decision with when and from where, also those that were replaced."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.tell.memory import timeline_report

    return enter(
        Choices(project, as_json=as_json),
        lambda factory: timeline_report(factory.rooms.memory.timeline(limit), as_json=as_json),
    )


@app.command()
def consolidate(
    conversations: Annotated[
        bool,
        typer.Option(
            "--conversations/--decisions-only", help="Also what was said, which asks a model."
        ),
    ] = True,
    model: ModelOption = None,
    session: SessionOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Bring decisions and conversations into the graph.

    Contradictions change nothing and wait for you.
    """
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import Job, watch
    from callboard.packs.writers_factory.doors.tell.memory import consolidated_report

    return watch(
        Choices(project, model=model, as_json=as_json),
        Job("consolidate", {"conversations": conversations}, session),
        lambda factory, told: consolidated_report(told, len(factory.consolidator.conflicts())),
    )


@app.command()
def conflicts(
    conflict: Annotated[
        str | None,
        typer.Argument(metavar="CONFLICT", help="Id of a contradiction.", show_default=False),
    ] = None,
    decision: Annotated[
        str | None,
        typer.Option(
            "--decision",
            metavar="WORD",
            help="keep_existing, accept_new or both_with_scope.",
            show_default=False,
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="SCENE",
            help="For both_with_scope: where the new fact begins.",
            show_default=False,
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            metavar="SCENE",
            help="For both_with_scope: where it ends.",
            show_default=False,
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Also those that are decided.")] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """List contradictions, or decide one; nobody else can.

    The fact that gives way stays in the history of the graph.
    """
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.tell.memory import conflict_report, conflicts_report
    from callboard.packs.writers_factory.memory.operations import resolve_conflict

    if decision is not None and conflict is None:
        raise typer.BadParameter("Which one is decided is missing.", param_hint="CONFLICT")
    ends = {"since_scene": since, "until_scene": until}
    scope = {name: value for name, value in ends.items() if value is not None}

    async def act(factory: "Factory") -> None:
        consolidator = factory.consolidator
        if conflict is None:
            conflicts_report(consolidator.conflicts(only_open=not every), as_json=as_json)
        elif decision is None:
            conflict_report(consolidator.conflict(conflict), as_json=as_json)
        else:
            decided = await factory.perform(resolve_conflict, conflict, decision, scope or None)
            conflict_report(decided, as_json=as_json)

    return enter(Choices(project, as_json=as_json), act)
