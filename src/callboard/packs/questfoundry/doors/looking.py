"""`callboard quest`, the rest: units, story hooks, artifacts, snapshots, playing, import."""

from typing import TYPE_CHECKING, Annotated

import typer

from callboard.cli.options import JsonOption, ModelOption, ProjectOption
from callboard.packs.questfoundry.doors.commands import (
    UnitArgument,
    app,
    context_app,
    hooks_app,
    lessons_app,
    operate,
    prompts_app,
    read_in,
    role_app,
    start_run,
    tu_app,
)

if TYPE_CHECKING:
    from callboard.packs.questfoundry.book.model import Book
    from callboard.packs.questfoundry.foundry import Foundry

__all__ = ["app"]


@tu_app.command("list")
def list_units(project: ProjectOption = None, as_json: JsonOption = False) -> None:
    """List the units, oldest first."""
    from callboard.cli.output import echo_json, echo_table

    found = read_in(project, lambda foundry: foundry.units.all())
    if as_json:
        echo_json({"tus": [each.shape() for each in found]})
        return
    rows = [(each.id, each.loop, each.status.value, each.outcome, each.title) for each in found]
    echo_table(("UNIT", "LOOP", "STATUS", "OUTCOME", "TITLE"), rows)


@tu_app.command("show")
def show_unit(tu: UnitArgument, project: ProjectOption = None, as_json: JsonOption = False) -> None:
    """Show a unit, what it made, and its newest report."""
    from callboard.cli.output import echo, echo_json
    from callboard.packs.questfoundry.doors.telling import report_of, tell_report, tell_unit

    def work(foundry: "Foundry") -> None:
        unit = foundry.units.find(tu)
        report = report_of(foundry, unit)
        if as_json:
            echo_json({**unit.shape(), "report": report})
            return
        tell_unit(foundry, unit)
        if report is not None:
            echo()
            tell_report(report)

    read_in(project, work)


@tu_app.command("defer")
def defer(
    tu: UnitArgument,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.")],
    revisit: Annotated[str, typer.Option("--revisit", metavar="TEXT", help="When to look again.")],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Put a unit off."""
    from callboard.packs.questfoundry.operations import defer_unit

    return operate(project, as_json, defer_unit, tu, reason, revisit)


@tu_app.command("reject")
def reject(
    tu: UnitArgument,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.")],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Give a unit up."""
    from callboard.packs.questfoundry.operations import reject_unit

    return operate(project, as_json, reject_unit, tu, reason)


@hooks_app.command("list")
def list_hooks(
    status: Annotated[str, typer.Option("--status", metavar="STATUS", help="Only these.")] = "",
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the story hooks, oldest first."""
    from callboard.cli.output import echo_json, echo_table

    found = read_in(project, lambda foundry: foundry.hooks.all())
    shown = [each for each in found if not status or each.status == status]
    if as_json:
        echo_json({"hooks": [each.shape() for each in shown]})
        return
    rows = [(each.id, each.status, each.kind, each.title) for each in shown]
    echo_table(("HOOK", "STATUS", "KIND", "TITLE"), rows)


@hooks_app.command("show")
def show_hook(
    hook: Annotated[str, typer.Argument(metavar="HOOK", help="Id of a story hook.")],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a story hook and the way it went."""
    from callboard.cli.output import clean, echo, echo_json

    found = read_in(project, lambda foundry: foundry.hooks.find(hook))
    if as_json:
        echo_json(found.shape())
        return
    for name, value in found.shape().items():
        echo(clean(f"{name}: {value}"))


@app.command()
def artifacts(
    kind: Annotated[str, typer.Option("--kind", metavar="KIND", help="Only of this kind.")] = "",
    tu: Annotated[str, typer.Option("--tu", metavar="TU", help="Only of this unit.")] = "",
    show: Annotated[str, typer.Option("--show", metavar="NAME", help="Print one of them.")] = "",
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """List artifacts, or print one."""
    from callboard.cli.output import echo_json, echo_table

    if show:
        echo_json(read_in(project, lambda foundry: foundry.shelf.read(show)))
        return
    found = read_in(project, lambda foundry: foundry.shelf.all(kind or None, tu or None))
    if as_json:
        echo_json({"artifacts": [each.shape() for each in found]})
        return
    rows = [(each.ref, each.produced_by, each.sot, each.note) for each in found]
    echo_table(("ARTIFACT", "BY", "SHELF", "HOLDS"), rows)


@app.command()
def snapshots(
    select: Annotated[
        str, typer.Option("--select", metavar="SNAPSHOT", help="Go on from this one.")
    ] = "",
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """List the snapshots, or go on from an earlier one."""
    from callboard.cli.output import echo_json, echo_table, moment
    from callboard.packs.questfoundry.operations import select_snapshot

    if select:
        return operate(project, as_json, select_snapshot, select)
    found, tip = read_in(project, lambda foundry: (foundry.cold.all(), foundry.cold.tip()))
    now = None if tip is None else tip.id
    if as_json:
        echo_json({"snapshots": [each.to_json() for each in found], "tip": now})
        return 0
    rows = [
        (each.id, moment(each.created_at), "now" if each.id == now else "", ", ".join(each.tus))
        for each in found
    ]
    echo_table(("SNAPSHOT", "MADE", "BOOK IS", "UNITS"), rows)
    return 0


@app.command()
def play(
    view: Annotated[
        str, typer.Argument(metavar="VIEW", help="A view or a snapshot; by default the newest.")
    ] = "",
    choose: Annotated[
        str,
        typer.Option(
            "--choose", metavar="IDS", help="Choices to take, by number or id, with commas."
        ),
    ] = "",
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Play the book at the terminal, as readers get it."""
    from callboard.packs.questfoundry.doors.playing import play_at_terminal

    def work(foundry: "Foundry") -> "Book":
        name = view.rsplit("-", 1)[0] if view.count("-") > 2 else view
        return foundry.cold_book(foundry.snapshot_named(name or None))

    taken = [each.strip() for each in choose.split(",") if each.strip()]
    return play_at_terminal(read_in(project, work), taken, as_json=as_json)


@role_app.callback()
def one_role() -> None:
    """Ask one role."""


@role_app.command("ask")
def ask(
    role: Annotated[str, typer.Argument(metavar="ROLE", help="Id of a role.")],
    message: Annotated[str, typer.Argument(metavar="MESSAGE", help="What you want of it.")],
    kinds: Annotated[
        str, typer.Option("--make", metavar="KINDS", help="Artifacts it shall make, with commas.")
    ] = "",
    model: ModelOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Ask a role directly, without a loop; what it makes is kept as a draft."""
    from callboard.core.errors import NotFound
    from callboard.packs.questfoundry.roster import ROSTER

    roles = [each.id for each in ROSTER]
    if role not in roles:
        raise NotFound(f"There is no role {role!r}", fix=f"Roles are {', '.join(roles)}.")
    args = {"role": role, "message": message, "kinds": kinds}
    return start_run(project, model, as_json, "ask_role", args)


@context_app.callback()
def context() -> None:
    """Look at what the Showrunner is shown."""


@context_app.command("report")
def context_report(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run, or `last`.")] = "last",
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell how many lines and tokens the Showrunner was shown, and how few that are."""
    from callboard.cli.output import echo_json, echo_table
    from callboard.cli.reading import reading
    from callboard.packs.questfoundry.doors.telling import BASELINE_LINES, context_rows, told_in
    from callboard.store.journal.events import read_events

    with reading(project) as journal:
        found = journal.run(run)
        events = journal.read(lambda connection: read_events(connection, run_id=found.id))
    rows = context_rows([data for name, data in told_in(events) if name == "decision"])
    if as_json:
        echo_json({"baseline_lines": BASELINE_LINES, "prompts": rows})
        return
    headers = ("PROMPTS", "CALLS", "LINES", "STATE", "TOKENS", "BELOW 10,300 LINES")
    names = ("kind", "calls", "lines", "state", "tokens", "below_baseline_percent")
    echo_table(headers, [tuple(str(row[name]) for name in names) for row in rows])


@prompts_app.callback()
def prompts() -> None:
    """Look at the texts that roles are made of."""


@prompts_app.command("check")
def prompts_check(project: ProjectOption = None, as_json: JsonOption = False) -> int:
    """Look for every text of every role."""
    from callboard.choreography.loop import missing_prompts
    from callboard.cli.output import echo, echo_json
    from callboard.packs.questfoundry.pack import bring

    def work(foundry: "Foundry") -> list[str]:
        found = missing_prompts(foundry.studio, bring(foundry.studio))
        return [each.message for each in found]

    missing = read_in(project, work)
    if as_json:
        echo_json({"missing": missing})
    else:
        echo("\n".join(missing) or "Every text is there.")
    return 1 if missing else 0


@lessons_app.callback()
def lessons() -> None:
    """Look at lessons."""


@lessons_app.command("approve")
def approve(
    artifact: Annotated[str, typer.Argument(metavar="ARTIFACT", help="A `practice_updates`.")],
    by: Annotated[str, typer.Option("--by", metavar="NAME", help="Who approves.")],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Approve the lessons of a retro: roles and loops are told them from now on."""
    from callboard.packs.questfoundry.operations import approve_lessons

    return operate(project, as_json, approve_lessons, artifact, by)
