"""`callboard evidence`: which replies were grounded, and why others were not."""

from typing import Annotated

import typer

from callboard.cli.options import JsonOption, LimitOption, ProjectOption, SessionOption, new_app

app = new_app("Which replies were grounded, and why others were not.")


@app.command(no_args_is_help=False)
def evidence(
    run: Annotated[
        str | None,
        typer.Option("--run", metavar="RUN", help="Only this run; `last` is one."),
    ] = None,
    session: SessionOption = None,
    agent: Annotated[
        str | None,
        typer.Option("--agent", metavar="ID", help="Only this agent.", show_default=False),
    ] = None,
    code: Annotated[
        str | None,
        typer.Option(
            "--code", metavar="CODE", help="Only refused for this reason.", show_default=False
        ),
    ] = None,
    limit: LimitOption = 50,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """List verdicts on replies, newest first, and how often each reason occurred."""
    from callboard.cli.reading import reading
    from callboard.cli.reports.evidence import WantedVerdicts, evidence_report

    wanted = WantedVerdicts(run, session, agent, code, limit)
    with reading(project) as journal:
        evidence_report(journal, wanted, as_json=as_json)
