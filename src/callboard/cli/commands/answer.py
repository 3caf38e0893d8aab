"""`callboard answer`: what runs ask, and the answer to one question."""

from typing import Annotated

import typer

from callboard.cli import exits
from callboard.cli.options import JsonOption, ModelOption, PackOption, ProjectOption, new_app

app = new_app("Answer what a run asks you.")


@app.command(no_args_is_help=False)
def answer(
    question: Annotated[
        str | None,
        typer.Argument(
            metavar="QUESTION",
            help="Id of a question, or a unique beginning or end of it.",
            show_default=False,
        ),
    ] = None,
    value: Annotated[
        str | None,
        typer.Argument(metavar="VALUE", help="Your answer.", show_default=False),
    ] = None,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="Only record the answer; do not take up the run.")
    ] = False,
    pack: PackOption = None,
    model: ModelOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """List open questions, or answer one.

    If nobody executes the run that asked, it is taken up here and watched to its end.
    """
    if question is None:
        from callboard.cli.reading import reading
        from callboard.cli.reports.shapes import questions_report

        with reading(project) as journal:
            questions_report(journal, as_json=as_json)
        return exits.OK
    if value is None:
        raise typer.BadParameter("Your answer is missing.", param_hint="VALUE")
    from callboard.cli.handlers.controls import give_answer
    from callboard.cli.handlers.opening import Choices

    choices = Choices(project, tuple(pack or ()), model, as_json)
    return give_answer(choices, question, value, wait=not no_wait)
