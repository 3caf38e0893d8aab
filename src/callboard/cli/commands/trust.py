"""`callboard trust`: say that what a folder brings shall count."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from callboard.cli import exits
from callboard.cli.options import JsonOption, ProjectOption, new_app
from callboard.cli.output import echo, echo_json, echo_table, moment
from callboard.core.errors import InvalidInput

app = new_app("Say that what a folder brings shall count.")


@app.command(no_args_is_help=False)
def trust(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="FOLDER", help="By default this folder.", show_default=False),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask; for scripts that know the folder.")
    ] = False,
    database: Annotated[
        Literal["adopt", "aside"] | None,
        typer.Option(
            "--database",
            help="A database that was not made here: make it yours, or move it away.",
            show_default=False,
        ),
    ] = None,
    revoke: Annotated[bool, typer.Option("--revoke", help="Stop trusting the folder.")] = False,
    show: Annotated[
        bool, typer.Option("--show", help="Only show what the folder brings and how it stands.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--list", help="List the folders known on this machine.")
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Trust a project's folder, on this machine, until you revoke it.

    A folder brings settings, agents, recipes, prompts, perhaps a database. Until you trust it they
    are ignored: its text can be read, and tools work on it with Callboard's own settings.
    """
    from callboard.cli.handlers.trusting import (
        echo_decided,
        locate,
        require_one,
        revoke_folder,
        show_brought,
        trust_folder,
    )
    from callboard.studio.trust_survey import survey

    if folder is not None and project is not None and folder != project:
        raise InvalidInput("Two folders were named", fix="Name one: `callboard trust FOLDER`.")
    require_one(yes, revoke, show, everything)
    named = folder or project
    if everything:
        return _list(as_json=as_json)
    if show:
        found = locate(named)
        brought = survey(found.brought)
        if as_json:
            echo_json(
                {
                    "project": str(found.root),
                    "standing": found.standing.kind.value,
                    "is_trusted": found.standing.is_trusted,
                    "brought": [each.shape() for each in brought],
                }
            )
        else:
            show_brought(found, brought)
        return exits.OK if found.standing.is_trusted else exits.NEEDS_YOU
    if revoke:
        stopped, was_trusted = revoke_folder(named)
        if as_json:
            echo_json({"project": str(stopped.root), "was_trusted": was_trusted})
        else:
            told = "is no longer trusted" if was_trusted else "was not trusted"
            echo(f"{stopped.root} {told}.")
        return exits.OK
    decided = trust_folder(named, is_sure=yes, database=database)
    if as_json:
        echo_json(
            {
                "project": str(decided.project.root),
                "is_trusted": decided.standing.is_trusted,
                "brought": [each.shape() for each in decided.brought],
                "paused_runs": decided.paused_runs,
                "aside": None if decided.aside is None else str(decided.aside),
            }
        )
    else:
        echo_decided(decided)
    return exits.OK


def _list(*, as_json: bool) -> int:
    from callboard.studio.trust import TrustRegistry

    known = TrustRegistry().all()
    if as_json:
        echo_json({"projects": [asdict(each) for each in known]})
    else:
        rows = [
            (each.path, moment(each.trusted_at) if each.is_trusted else "not trusted")
            for each in known
        ]
        echo_table(("FOLDER", "TRUSTED SINCE"), rows)
    return exits.OK
