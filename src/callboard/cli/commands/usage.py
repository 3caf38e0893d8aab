"""`callboard usage`: what was called, by whom, for how much."""

from typing import Annotated

import typer

from callboard.cli.options import JsonOption, ProjectOption, SessionOption, new_app

app = new_app("What was called, by whom, for how many tokens and how much money.")


def _filter(name: str, metavar: str, told: str) -> typer.models.OptionInfo:
    return typer.Option(name, metavar=metavar, help=told, show_default=False)


@app.command()
def usage(
    by: Annotated[
        list[str] | None,
        _filter(
            "--by",
            "NAME",
            "Break down by day, model, provider, agent, run, session, pack, step or outcome;"
            " repeated, by one within the other.",
        ),
    ] = None,
    run: Annotated[str | None, _filter("--run", "RUN", "Only this run; `last` is one.")] = None,
    session: SessionOption = None,
    provider: Annotated[str | None, _filter("--provider", "NAME", "Only this provider.")] = None,
    agent: Annotated[str | None, _filter("--agent", "ID", "Only this agent.")] = None,
    since: Annotated[
        str | None,
        _filter("--since", "WHEN", "Only calls since then: `24h`, `7d`, `4w` or a date."),
    ] = None,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print CSV; without --by, one row per call.")
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what was spent, in total and broken down."""
    from callboard.cli.reading import reading
    from callboard.cli.reports.usage import UsageWanted, usage_output

    wanted = UsageWanted(tuple(by or ()), run, session, provider, agent, since)
    with reading(project) as journal:
        usage_output(journal, wanted, as_csv=as_csv, as_json=as_json)
