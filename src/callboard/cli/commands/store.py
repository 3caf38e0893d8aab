"""`callboard store`: where a project's rows are kept, and moving them to another store."""

from typing import Annotated

import typer

from callboard.cli import exits
from callboard.cli.options import JsonOption, ProjectOption, new_app
from callboard.cli.output import counted, echo, echo_json, remark

app = new_app("Where the project's rows are kept: in a file or on a server.")


@app.callback()
def store() -> None:
    """Where the project's rows are kept: in a file or on a server."""


@app.command()
def show(project: ProjectOption = None, as_json: JsonOption = False) -> int:
    """Say where the project is kept, and how many rows it has."""
    from callboard.cli.reading import reading
    from callboard.store.copying import count_rows
    from callboard.studio.configuration import Configuration
    from callboard.studio.place import place_of, server_of

    with reading(project) as journal:
        found = journal.project
        # A new project goes where the user's own settings say.
        url = Configuration(found).settings.store.url if journal.is_empty else None
        place = server_of(found) or str(place_of(found, url))
        is_server = place != str(found.database)
        rows = None if journal.is_empty else journal.read(count_rows)
    if as_json:
        kind = "postgres" if is_server else "sqlite"
        echo_json({"store": kind, "place": place, "rows": None if rows is None else rows.rows})
        return exits.OK
    echo(f"{'Postgres' if is_server else 'SQLite'}: {place}")
    echo("Nothing has run yet." if rows is None else f"{counted(rows.total, 'row')}.")
    return exits.OK


@app.command()
def copy(
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="URL|file",
            help="Where to: postgresql://USER@HOST/DATABASE, or `file` for a file in the project.",
            show_default=False,
        ),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Look at both sides and copy nothing.")
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Copy every row to another store, compare, and keep the project there from now on."""
    from callboard.cli.reading import find_project
    from callboard.studio.relocation import FILE, Relocation

    relocation = Relocation.to(find_project(project), to)

    def progress(table: str, copied: int) -> None:
        if not as_json:
            remark(f"{table}: {counted(copied, 'row')}")

    done = relocation.rehearse() if dry_run else relocation.carry_out(progress)
    if as_json:
        rows = {"rows": done.rows.rows, "total": done.rows.total}
        echo_json(
            {"from": done.source, "to": done.target, "aside": done.aside, "dry": dry_run, **rows}
        )
        return exits.OK
    verb = "would be copied" if dry_run else "copied and compared"
    echo(f"{counted(done.rows.total, 'row')} {verb}: {done.source} -> {done.target}")
    if done.aside:
        echo(f"What was left behind is kept as {done.aside}.")
    if not dry_run and to != FILE:
        echo("Set `store.url` in your own settings to this address: the project is reached by it.")
    return exits.OK
