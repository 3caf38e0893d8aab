"""`callboard budget`: what may be spent, and what is left."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from callboard.cli.options import JsonOption, ProjectOption, new_app

if TYPE_CHECKING:
    from callboard.studio.studio import Studio

app = new_app("What may be spent: list, set and clear budgets.")

ScopeArgument = Annotated[
    str,
    typer.Argument(
        metavar="SCOPE",
        help="project, session:ID, run:ID, step:RUN/KEY, agent:ID or provider:NAME;"
        " a run may be `last`, a session its name.",
    ),
]


def _amount(name: str, told: str) -> typer.models.OptionInfo:
    return typer.Option(name, metavar="AMOUNT", help=told, show_default=False)


@app.command("list")
def list_command(project: ProjectOption = None, as_json: JsonOption = False) -> None:
    """List budgets with what is spent, reserved and left, and the plans of providers."""
    from callboard.cli.reading import reading
    from callboard.cli.reports.budgets import budgets_report

    with reading(project) as journal:
        budgets_report(journal, as_json=as_json)


@app.command("set")
def set_command(
    scope: ScopeArgument,
    usd: Annotated[str | None, _amount("--usd", "Most dollars.")] = None,
    tokens: Annotated[str | None, _amount("--tokens", "Most tokens, in and out together.")] = None,
    calls: Annotated[str | None, _amount("--calls", "Most calls.")] = None,
    minutes: Annotated[str | None, _amount("--minutes", "Most minutes of model time.")] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Set what a scope may spend.

    What it has spent before counts; `+5` allows 5 more than that, and -1 is unlimited. What is
    left out stays as it is. A run that waits because of its budget goes on when you answer it.
    """
    from callboard.cli.reports.budgets import set_budget

    given = {"--usd": usd, "--tokens": tokens, "--calls": calls, "--minutes": minutes}
    _act(project, lambda studio: set_budget(studio, scope, given, as_json=as_json))


@app.command()
def clear(scope: ScopeArgument, project: ProjectOption = None, as_json: JsonOption = False) -> None:
    """Remove the limits of a scope; what it has spent stays on record."""
    from callboard.cli.reports.budgets import clear_budget

    _act(project, lambda studio: clear_budget(studio, scope, as_json=as_json))


def _act(project: Path | None, change: "Callable[[Studio], Awaitable[None]]") -> None:
    from callboard.cli.bridge import perform_simply
    from callboard.cli.handlers.opening import Choices, working

    async def work() -> None:
        async with working(Choices(project)) as here:
            await change(here.studio)

    perform_simply(work())
