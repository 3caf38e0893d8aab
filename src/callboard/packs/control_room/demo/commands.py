"""`callboard demo`: the sample novel, the embedded model, one scene drafted, every step shown."""

from pathlib import Path
from typing import Annotated

import typer

from callboard.cli.options import JsonOption, ModelOption, ProjectOption, new_app

app = new_app("Draft a scene of the sample novel with the embedded model.")


@app.command(no_args_is_help=False)
def demo(
    folder: Annotated[
        Path, typer.Option("--dir", metavar="FOLDER", help="Where the sample novel is put.")
    ] = Path("callboard-demo"),
    task: Annotated[
        str, typer.Option("--task", metavar="TEXT", help="What the staff is asked to do.")
    ] = "Draft scene 5, The Long Bell",
    model: ModelOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Draft a scene of the sample novel with the embedded model.

    Puts a short novel with outline and canon cards into a folder, fetches the embedded model if it
    is not here, and has three tools and five agents draft, check and judge the scene that is
    missing. No key, no account, no server.
    """
    from callboard.packs.control_room.demo.demonstration import Demonstration, demonstrate

    wanted = Demonstration(project or folder, task, model or "local", as_json)
    return demonstrate(wanted)
