"""`callboard factory order`, `template`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from callboard.cli.options import JsonOption, ProjectOption, new_app
from callboard.packs.writers_factory.doors.commands.options import SetOption

if TYPE_CHECKING:
    from callboard.packs.writers_factory.factory import Factory

app = new_app("The Story Bible.")


@app.command()
def order(project: ProjectOption = None, as_json: JsonOption = False) -> int:
    """Show the work order: what is there, what is missing, what is weak."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.tell.bible import order_report

    return enter(
        Choices(project, as_json=as_json),
        lambda factory: order_report(factory.rooms.bible, as_json=as_json),
    )


@app.command()
def template(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="protagonist, beat_sheet, theme or world_rules."),
    ],
    fields: SetOption = None,
    beat: Annotated[
        list[str] | None,
        typer.Option(
            "--beat",
            metavar="NUMBER=TEXT",
            help="What happens in a beat from 1 to 15; may be repeated.",
            show_default=False,
        ),
    ] = None,
    rule: Annotated[
        list[str] | None,
        typer.Option(
            "--rule",
            metavar="TEXT",
            help="One more rule of the world; may be repeated.",
            show_default=False,
        ),
    ] = None,
    accept: Annotated[
        str | None,
        typer.Option(
            "--accept",
            metavar="CHECK",
            help="Keep what a judge failed, on record.",
            show_default=False,
        ),
    ] = None,
    anew: Annotated[
        bool, typer.Option("--anew", help="Drop the fields that are not named now.")
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show a template of the Story Bible, or write fields of it.

    Fields that are not named stay. The text that is replaced is kept, and its place is shown.
    """
    from callboard.cli.arguments import read_arguments, read_pairs
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.bible import operations
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.tell.bible import template_report, written_report

    given: dict[str, Any] = dict(read_arguments(fields or [], None, "--set"))
    for number, text in read_pairs(beat or [], "--beat").items():
        given[f"beat_{number.strip()}"] = text

    async def act(factory: "Factory") -> None:
        bible = factory.rooms.bible
        if accept is not None:
            kept = await factory.perform(operations.keep_judged, name, accept)
            template_report(kept, as_json=as_json)
            return
        if rule:
            given["fundamental_rules"] = [*(() if anew else bible.rules), *rule]
        if given:
            outcome = await factory.perform(
                operations.fill_template, name, given, "writer_stated", anew
            )
            written_report(outcome, as_json=as_json)
        else:
            template_report(bible.template(name), as_json=as_json)

    return enter(Choices(project, as_json=as_json), act)
