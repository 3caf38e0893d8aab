"""`callboard route`: which recipe a request is for, and why."""

from typing import Annotated

import typer

from callboard.cli.options import JsonOption, ProjectOption, new_app

app = new_app("Say which recipe a request is for, without running it.")


@app.command()
def route(
    request: Annotated[str, typer.Argument(metavar="REQUEST", help="What you want, in words.")],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Say which recipe a request is for, with the arguments its words give."""
    from callboard.packs.control_room.recipes.tell import route_request

    return route_request(project, request, as_json=as_json)
