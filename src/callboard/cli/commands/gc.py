"""`callboard gc`: let go what old, ended work left behind."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from callboard.cli import exits
from callboard.cli.options import JsonOption, ProjectOption, new_app
from callboard.cli.output import echo, echo_facts, echo_json, number, remark

if TYPE_CHECKING:
    from callboard.studio.retention import Cleared, Clearing

app = new_app("Let go what old work left behind.")


@app.callback(invoke_without_command=True)
def gc(
    older_than: Annotated[
        str,
        typer.Option(
            "--older-than", metavar="TIME", help="Ended so long ago: 90d, 12w, or before a date."
        ),
    ] = "90d",
    down_to: Annotated[
        str | None,
        typer.Option(
            "--down-to",
            metavar="SIZE",
            help="Only as much, oldest first, as brings the database down to this: 500MB.",
            show_default=False,
        ),
    ] = None,
    steps: Annotated[
        bool,
        typer.Option(
            "--steps", help="Also the steps of runs in sessions that were not used since."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would go; change nothing.")
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Let go the events, prompts and replies of runs that ended long ago.

    Runs with their results, receipts and what they hold, questions and usage stay; so does all that
    an unfinished run needs. The ledger begins anew with the rows that are left, after each of them
    was proven. What is gone cannot be brought back: look with --dry-run first.
    """
    from callboard.cli.bridge import perform_simply
    from callboard.cli.reports.usage import parse_since
    from callboard.core.clock import SystemClock
    from callboard.studio.retention import Clearing

    before = parse_since(older_than, SystemClock().now_ms())
    wanted = Clearing(before, None if down_to is None else _size(down_to), steps)
    told = perform_simply(_clear(project, wanted, dry_run=dry_run, as_json=as_json))
    if as_json:
        echo_json({"dry_run": dry_run, **told.to_json()})
    else:
        _show(told, dry_run=dry_run)
    return exits.OK


async def _clear(
    project: Path | None, wanted: "Clearing", *, dry_run: bool, as_json: bool
) -> "Cleared":
    from callboard.cli.handlers.opening import Choices, working
    from callboard.operations import runtime
    from callboard.studio.retention import Retention

    async with working(Choices(project, as_json=as_json)) as here:
        studio = here.studio
        if dry_run:
            return Retention(studio.database, studio.clock, studio.mirrors.touch).survey(wanted)
        return await runtime.runtime(studio).perform(runtime.clear_old_work, wanted)


def _size(text: str) -> int:
    from callboard.core.settings.quantities import parse_bytes

    try:
        return parse_bytes(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r}: {error}", param_hint="--down-to") from error


def _show(told: "Cleared", *, dry_run: bool) -> None:
    if not (told.runs or told.blobs):
        remark(f"Nothing of that age is left to go; the database holds {_told(told.before_bytes)}.")
        return
    echo_facts(
        [
            ("runs", number(told.runs)),
            ("events", number(told.events)),
            ("prompts", number(told.prompts)),
            ("steps", number(told.steps)),
            ("texts", number(told.blobs)),
            ("history", f"{number(told.entries)} entries of the ledger"),
            ("room", f"{_told(told.bytes)} of {_told(told.before_bytes)}, at least"),
        ]
    )
    if dry_run:
        echo("Nothing was changed. Without --dry-run this goes, for good.")
    else:
        echo(f"Gone. The database holds {_told(told.after_bytes or 0)}.")
        if not told.is_shrunk:
            remark("Somebody else is at work here: the file itself shrinks the next time.")


def _told(size: int) -> str:
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} bytes"
