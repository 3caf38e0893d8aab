"""`callboard doctor`: check the project and its surroundings, say what is wrong and what helps."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from callboard.cli import exits
from callboard.cli.options import JsonOption, ProjectOption, new_app
from callboard.cli.output import counted, echo, echo_json, one_line

if TYPE_CHECKING:
    from callboard.cli.reports.checkup import Diagnosis

app = new_app("Check the project and its surroundings.")


@app.command(no_args_is_help=False)
def doctor(
    fix: Annotated[
        bool, typer.Option("--fix", help="Write run folders and receipt files anew where needed.")
    ] = False,
    accept: Annotated[
        bool,
        typer.Option(
            "--accept",
            help="Have the database count as it is from now on, or begin anew if it is lost:"
            " what is left of it goes into the backups.",
        ),
    ] = False,
    salvage: Annotated[
        Path | None,
        typer.Option(
            "--salvage",
            metavar="FILE",
            help="Copy what can still be read of the database into this new one, and stop.",
            show_default=False,
        ),
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Check the project and its surroundings; the exit code is 0 when all is well."""
    if salvage is not None:
        return _salvage(project, salvage, as_json=as_json)
    if accept:
        return _accept(project, as_json=as_json)
    from callboard.cli.reports.checkup import examine

    findings = examine(project, fix=fix)
    bad = [each for each in findings if each.mark == "bad"]
    if as_json:
        echo_json({"findings": [each.shape() for each in findings], "is_well": not bad})
    else:
        for each in findings:
            _echo_finding(each)
        echo(f"\n{counted(len(bad), 'thing')} to mend." if bad else "\nAll is well.")
    return exits.FAILED if bad else exits.OK


def _echo_finding(finding: "Diagnosis") -> None:
    mark = {"ok": "✓", "note": "·", "bad": "✗"}[finding.mark]
    echo(f"{mark} {finding.what:<12}{one_line(finding.told)}")
    if finding.fix:
        echo(f"  {'':<12}Way out: {one_line(finding.fix)}")


def _accept(project: Path | None, *, as_json: bool) -> int:
    from callboard.cli.reading import find_project
    from callboard.studio.doubts import accept

    accepted = accept(find_project(project))
    flaws = [each.message for each in accepted.report.flaws]
    aside = None if accepted.aside is None else str(accepted.aside)
    if as_json:
        echo_json({"accepted": flaws, "aside": aside, "is_new": accepted.is_new})
        return exits.OK
    for message in flaws:
        echo(f"accepted: {one_line(message)}")
    if accepted.is_new:
        echo("The database was lost: a new one has been begun.")
    else:
        echo(f"The database counts as it is: {counted(len(flaws), 'flaw')} accepted.")
    if aside is not None:
        echo(f"What did not agree with it lies in {aside}.")
    return exits.OK


def _salvage(project: Path | None, target: Path, *, as_json: bool) -> int:
    from callboard.cli.reading import find_project
    from callboard.core.errors import Conflict
    from callboard.store.kept import check_kept_folder
    from callboard.store.sqlite.salvage import salvage

    found = find_project(project)
    check_kept_folder(found.folder)
    if target.exists():
        raise Conflict(f"{target} exists already", fix="Name a file that does not exist.")
    kept = salvage(found.database, target)
    if as_json:
        echo_json({"target": str(target), "rows": kept})
    else:
        for table, count in kept.items():
            echo(f"{table:<16}{counted(count, 'row')}")
        echo(f"\nSalvaged into {target}. To use it, put it in the place of {found.database}.")
    return exits.OK
