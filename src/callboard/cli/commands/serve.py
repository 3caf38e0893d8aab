"""`callboard serve`: the project over HTTP."""

from typing import Annotated

import typer

from callboard.cli.options import JsonOption, ModelOption, PackOption, ProjectOption, new_app

app = new_app("Serve a project over HTTP, to this machine unless told otherwise.")


@app.command()
def serve(
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Where to listen.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, metavar="NUMBER", help="0 picks a free one.")
    ] = 8321,
    pack: PackOption = None,
    model: ModelOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Serve a project over HTTP until Ctrl-C; with --json one line tells the address.

    A project of the pack alfred also has a page for the browser.

    Beyond this machine it listens only with a token, from the environment variable
    CALLBOARD_API_TOKEN; clients send it as `Authorization: Bearer TOKEN`. Unfinished runs and plans
    of the project go on.
    """
    from callboard.cli.handlers.opening import Choices
    from callboard.cli.handlers.serving import ListenAddress, serve_project

    choices = Choices(project, tuple(pack or ()), model, as_json)
    return serve_project(choices, ListenAddress(host, port))
