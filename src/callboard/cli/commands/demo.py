"""`callboard demo`: the sample project, the embedded model, one recipe, every step shown."""

from pathlib import Path
from typing import Annotated

import typer

from callboard.cli.options import JsonOption, ModelOption, ProjectOption, new_app

app = new_app("Run the sample project with the embedded model.")


@app.command(no_args_is_help=False)
def demo(
    folder: Annotated[
        Path, typer.Option("--dir", metavar="FOLDER", help="Where the sample project is put.")
    ] = Path("callboard-demo"),
    subject: Annotated[
        str, typer.Option("--subject", metavar="WORD", help="What the scene is about.")
    ] = "lighthouse",
    model: ModelOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Run the sample project with the embedded model.

    Puts a tiny story into a folder, fetches the embedded model if it is not here, and has three
    agents and two tools write a scene from it. No key, no account, no server.
    """
    from callboard.cli.acting.demonstration import Demonstration, demonstrate

    wanted = Demonstration(project or folder, subject, model or "local", as_json)
    return demonstrate(wanted)
