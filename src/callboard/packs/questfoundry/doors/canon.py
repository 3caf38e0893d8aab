"""`callboard quest canon`: what is true in the world of the book, why, and what contradicts it."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from callboard.cli.options import JsonOption, ProjectOption, new_app
from callboard.packs.questfoundry.doors.commands import operate, read_in

if TYPE_CHECKING:
    from callboard.packs.questfoundry.foundry import Foundry

canon_app = new_app("Canon: what is true in the world of the book.")
StatementArgument = Annotated[str, typer.Argument(metavar="ID", help="Id of a statement.")]
ReaderOption = Annotated[
    str, typer.Option("--reader", metavar="ROLE", help="As this role may read it.")
]


@canon_app.command("list")
def list_canon(
    about: Annotated[str, typer.Option("--about", metavar="NAME", help="Only of this one.")] = "",
    kind: Annotated[str, typer.Option("--kind", metavar="KIND", help="Only of this kind.")] = "",
    reader: ReaderOption = "",
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """List Cold's canon, one statement a line."""
    from callboard.cli.output import echo_json, echo_table
    from callboard.packs.questfoundry.canon.statements import told
    from callboard.packs.questfoundry.doors.telling import canon_rows

    def work(foundry: "Foundry") -> Any:
        return canon_rows(foundry, about=about, kind=kind, reader=reader or None)

    found = read_in(project, work)
    if as_json:
        echo_json({"statements": [each.shape() for each in found]})
        return
    rows = [(each.statement.id, each.origin.snapshot, told(each.statement)) for each in found]
    echo_table(("STATEMENT", "SINCE SNAPSHOT", "SAYS"), rows)


@canon_app.command("show")
def show_statement(
    statement: StatementArgument,
    reader: ReaderOption = "",
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a statement and where it comes from."""
    from callboard.packs.questfoundry.canon.graph import find_statement

    def work(foundry: "Foundry") -> Any:
        return find_statement(foundry.canon(), statement, reader or None).shape()

    _tell(read_in(project, work), as_json=as_json)


@canon_app.command("why")
def why(
    statement: StatementArgument,
    reader: ReaderOption = "",
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say why a statement is canon: who made it, for which story hooks, and what it said before."""
    from callboard.packs.questfoundry.doors.telling import why_of

    told = read_in(project, lambda foundry: why_of(foundry, statement, reader or None))
    _tell(told, as_json=as_json)


@canon_app.command("conflicts")
def conflicts(
    tus: Annotated[
        list[str] | None, typer.Option("--tu", metavar="TU", help="As if this unit were merged.")
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Say what contradicts canon: canon itself, codex, prose. Exit code 1 if anything does."""
    from callboard.cli.output import clean, echo, echo_json
    from callboard.packs.questfoundry.doors.telling import conflicts_of

    found = read_in(project, lambda foundry: conflicts_of(foundry, tus or ()))
    if as_json:
        echo_json(found)
    else:
        echo(clean(f"{found['status']}: {found['looked_at']}"))
        for row in found["findings"]:
            echo(clean(f"{row['status']} {row['place']}: {row['evidence']}"))
            echo(clean(f"  {row['smallest_fix']} ({row['owner_role']}, {row['target_step']})"))
        for each in found["mysteries"]:
            echo(clean(f"open on purpose: {each}"))
    return 1 if found["findings"] else 0


@canon_app.command("rebuild")
def rebuild(project: ProjectOption = None, as_json: JsonOption = False) -> int:
    """Write canon into the knowledge graph anew, from Cold alone."""
    from callboard.packs.questfoundry.operations import rebuild_canon

    return operate(project, as_json, rebuild_canon)


def _tell(told: dict[str, Any], *, as_json: bool) -> None:
    from callboard.cli.output import clean, echo, echo_json

    if as_json:
        echo_json(told)
        return
    for name, value in told.items():
        echo(clean(f"{name}: {value}"))
