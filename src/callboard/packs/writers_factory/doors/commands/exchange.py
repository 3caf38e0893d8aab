"""`callboard factory title-page`, `chapter`, `export` and `import`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from callboard.cli.options import JsonOption, ProjectOption, new_app
from callboard.packs.writers_factory.doors.commands.options import AuthorOption, FormatOption

if TYPE_CHECKING:
    from callboard.packs.writers_factory.factory import Factory

app = new_app("Sending a book out, and taking one in.")


def _said(name: str, told: str) -> typer.models.OptionInfo:
    return typer.Option(name, metavar="TEXT", help=told, show_default=False)


@app.command("title-page")
def title_page(
    author: Annotated[str | None, _said("--author", "Who wrote it, as it is printed.")] = None,
    surname: Annotated[
        str | None, _said("--surname", "What heads every page, if not the author's last word.")
    ] = None,
    contact: Annotated[
        list[str] | None, _said("--contact", "A line of your address; may be repeated.")
    ] = None,
    language: Annotated[str | None, _said("--language", "A code such as en or pt-BR.")] = None,
    date: Annotated[str | None, _said("--date", "2026, 2026-11 or 2026-11-18.")] = None,
    cover: Annotated[
        str | None, _said("--cover", "A PNG or JPEG in the project; without one it is set in type.")
    ] = None,
    cover_text: Annotated[
        str | None, _said("--cover-text", "What the cover shows, for those who do not see it.")
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show what stands on the title page and what nobody has said yet, or say it.

    What is not named stays; an empty text takes something back.
    """
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.tell.exchange import title_page_report
    from callboard.packs.writers_factory.exchange.operations import set_title_page
    from callboard.packs.writers_factory.exchange.title_page import read_title_page

    told = (author, surname, contact or None, language, date, cover, cover_text)

    async def act(factory: "Factory") -> None:
        if any(each is not None for each in told):
            page = await factory.perform(set_title_page, *told)
        else:
            page = read_title_page(factory.workspace)
        title_page_report(page, as_json=as_json)

    return enter(Choices(project, as_json=as_json), act)


@app.command()
def chapter(
    number: Annotated[int, typer.Argument(metavar="CHAPTER", help="Its number.", min=1)],
    title: Annotated[str, typer.Argument(metavar="TITLE", help="Empty takes it back.")],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Give a chapter a title; it is kept in the file of its first scene."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.tell.exchange import chapters_report
    from callboard.packs.writers_factory.manuscript.operations import name_chapter

    async def act(factory: "Factory") -> None:
        titles = await factory.perform(name_chapter, number, title)
        chapters_report(titles, as_json=as_json)

    return enter(Choices(project, as_json=as_json), act)


@app.command()
def export(
    author: AuthorOption = "",
    formats: FormatOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be written, and write nothing.")
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Write the manuscript as it is now, as Markdown, EPUB and DOCX.

    What an older export of the same title held is kept as a backup; the book goes on.
    """
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.tell.exchange import (
        export_preview_report,
        export_report,
    )
    from callboard.packs.writers_factory.exchange.export import Edition, preview_export
    from callboard.packs.writers_factory.exchange.operations import export_book

    async def act(factory: "Factory") -> None:
        wanted = ("epub", "docx") if formats is None else tuple(formats)
        if dry_run:
            book = Edition.of(factory.workspace, author)
            seen = preview_export(factory.workspace, book, wanted)
            export_preview_report(seen, as_json=as_json)
        else:
            made = await factory.perform(export_book, author, wanted)
            export_report(made, as_json=as_json)

    return enter(Choices(project, as_json=as_json), act)


@app.command("import")
def import_(
    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="A .docx, .md or .txt, or a folder of scenes in the project.",
            show_default=False,
        ),
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Write the scenes; without it they are only shown.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Also where scenes are; these are kept as versions.")
    ] = False,
    append: Annotated[
        bool, typer.Option("--append", help="Put it after the last chapter that is written.")
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take the last import back.")] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show how a manuscript would become chapters and scenes, or take it in.

    Chapters begin at headings, at lines that name them, or at page breaks; scenes at a line with
    nothing but a mark. Italics, bold and footnotes are kept; what is not understood is named.
    """
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.writers_factory.doors.command_line import enter
    from callboard.packs.writers_factory.doors.commands.importing import (
        ImportWish,
        take_in,
    )

    if (source is None) is not undo:
        raise typer.BadParameter("Name one file or folder, or say --undo.", param_hint="FILE")
    wish = ImportWish(source, write, replace, append)
    return enter(
        Choices(project, as_json=as_json), lambda factory: take_in(factory, wish, as_json=as_json)
    )
