"""`callboard init`: make a folder a project."""

from pathlib import Path
from typing import Annotated

import typer

from callboard.cli.options import JsonOption, ProjectOption, new_app
from callboard.cli.output import echo, echo_json
from callboard.core.errors import InvalidInput

app = new_app("Make a folder a project.")


@app.command()
def init(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="FOLDER]", help="By default this folder.", show_default=False),
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a folder a project: add `.callboard/` to it. Doing it again changes nothing."""
    from callboard.studio.project import Project

    if folder is not None and project is not None and folder != project:
        raise InvalidInput("Two folders were named", fix="Name one: `callboard init FOLDER`.")
    root = folder or project or Path.cwd()
    is_new = not Project(root.resolve()).exists
    made = Project.init(root)
    if as_json:
        echo_json({"project": str(made.root), "is_new": is_new})
        return
    echo(f"{made.root} {'is now' if is_new else 'already is'} a Callboard project.")
    echo("Try: callboard packs list")
