"""`callboard init`: make a folder a project."""

from pathlib import Path
from shlex import quote
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
        typer.Argument(metavar="FOLDER", help="By default this folder.", show_default=False),
    ] = None,
    pack: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="PACK",
            help="What the project is for: a pack, as `callboard packs list` names it.",
            show_default=False,
        ),
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Also put the pack's sample into the folder.")
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a folder a project: add `.callboard/` to it. Doing it again changes nothing."""
    from callboard.cli.handlers.initiating import Initiated, initiate

    if folder is not None and project is not None and folder != project:
        raise InvalidInput("Two folders were named", fix="Name one: `callboard init FOLDER`.")
    made = initiate(Initiated(folder or project or Path.cwd(), pack, with_sample=sample))
    if as_json:
        echo_json({"project": str(made.root), "is_new": made.is_new, "pack": made.pack})
        return
    echo(f"{made.root} {'is now' if made.is_new else 'already is'} a Callboard project.")
    for name in made.copied:
        echo(f"  {name}")
    is_here = made.root == Path.cwd().resolve()
    into = "" if is_here else f"cd {quote(str(folder or project))} && "
    echo(f"Try: {into}{made.hint}")
