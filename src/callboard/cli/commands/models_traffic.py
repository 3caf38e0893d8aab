"""The part of `callboard models` about traffic: which providers are left alone, and the reset."""

from typing import Annotated

import typer

from callboard.cli import exits
from callboard.cli.options import JsonOption, ProjectOption


def add_to(app: typer.Typer) -> None:
    """Add these commands to the application of `callboard models`."""
    for command in (status, reset):
        app.command()(command)


def status(project: ProjectOption = None, as_json: JsonOption = False) -> int:
    """Show which providers fail or are paused.

    Tells for each circuit whether calls pass, and when a provider left alone is tried again.
    """
    from callboard.cli.reading import reading
    from callboard.cli.reports.traffic import traffic_report

    with reading(project) as journal:
        traffic_report(journal, as_json=as_json)
    return exits.OK


def reset(
    provider: Annotated[str, typer.Argument(metavar="PROVIDER", help="Which, such as `openai`.")],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Let calls to a provider pass again at once.

    Every process on the project follows within half a second.
    """
    from callboard.cli.acting.resetting import reset_circuit

    return reset_circuit(project, provider, as_json=as_json)
