"""`callboard prompts`: templates with their origin, and every prompt exactly as it was sent."""

from typing import Annotated

import typer

from callboard.cli.options import (
    JsonOption,
    LimitOption,
    PackOption,
    ProjectOption,
    new_app,
)

app = new_app("Templates, and every prompt as it was sent.")


@app.command("list")
def list_command(
    run: Annotated[
        str | None,
        typer.Option(
            "--run",
            metavar="RUN",
            help="List what this run sent to models instead; `last` is the newest run.",
            show_default=False,
        ),
    ] = None,
    limit: LimitOption = 50,
    pack: PackOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """List templates, or the prompts of a run."""
    from callboard.cli.reading import reading
    from callboard.cli.reports.prompts import records_report, templates_report

    with reading(project) as journal:
        if run is None:
            templates_report(journal.project, pack or [], as_json=as_json)
        else:
            records_report(journal, journal.run(run), limit, as_json=as_json)


@app.command()
def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A template's name, or the id of a stored prompt.")
    ],
    tier: Annotated[
        str | None,
        typer.Option(
            "--tier",
            metavar="TIER",
            help="The template as it reads for `full`, `medium` or `minimal`.",
            show_default=False,
        ),
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Print nothing but the exact text.")] = False,
    pack: PackOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a template or a stored prompt.

    A stored prompt comes with its bill of materials, exactly as it was sent.
    """
    from callboard.cli.reading import reading
    from callboard.cli.reports.prompts import record_report, template_report

    with reading(project) as journal:
        if name.startswith("prm_"):
            record_report(journal, name, only_text=text, as_json=as_json)
        else:
            found = journal.project
            template_report(found, pack or [], name, tier, only_text=text, as_json=as_json)
