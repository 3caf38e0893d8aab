"""`callboard quest sections`: what stands where in a book, and who can come to it."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from callboard.cli.options import JsonOption, ProjectOption
from callboard.packs.questfoundry.doors.commands import app, read_in

if TYPE_CHECKING:
    from callboard.packs.questfoundry.book.model import Book
    from callboard.packs.questfoundry.foundry import Foundry


_REACHED = {
    "reachable": "A way to it:",
    "never": "No playthrough comes here, whatever is chosen.",
    "undecided": "Neither a playthrough that comes here was found nor a proof that none does.",
    "unknown": "The book starts nowhere, so nobody can come here.",
}


@app.command()
def sections(
    section: Annotated[
        str, typer.Argument(metavar="SECTION", help="Show this one whole; by default all.")
    ] = "",
    ends: Annotated[bool, typer.Option("--ends", help="Only those where the story ends.")] = False,
    tu: Annotated[
        str, typer.Option("--tu", metavar="TU", help="As the book would be with this unit.")
    ] = "",
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the sections, or show one: its ways in and out, what each asks for, a way to it."""
    from callboard.cli.output import echo_json, echo_table
    from callboard.packs.questfoundry.bars.whereabouts import list_sections, whereabouts

    def work(foundry: "Foundry") -> "Book":
        if tu:
            return foundry.book_with([foundry.units.find(tu)])
        return foundry.cold_book(foundry.snapshot_named(None))

    book = read_in(project, work)
    if section:
        found = whereabouts(book, section)
        if as_json:
            echo_json(found)
        else:
            _tell_section(found)
        return
    rows = [each for each in list_sections(book) if each["is_end"] or not ends]
    if as_json:
        echo_json({"sections": rows})
        return
    names = ("id", "kind", "ways_in", "ways_out", "words", "title", "ending")
    headers = ("SECTION", "KIND", "IN", "OUT", "WORDS", "TITLE", "ENDING")
    echo_table(headers, [tuple(str(row[name]) for name in names) for row in rows])


def _tell_section(found: dict[str, Any]) -> None:
    from callboard.cli.output import clean, echo

    lines = [f"{found['title'] or found['id']} ({found['id']}, {found['kind']})", ""]
    lines += [found["text"], ""]
    if found["ending"]:
        lines += [f"The end: {found['ending']}."]
    lines += [f"gives {each}" for each in found["gives"]]
    lines += [f"out  {_told(each)} -> {each['to']}" for each in found["out"]]
    lines += [f"in   {each['from']}: {_told(each)}" for each in found["in"]]
    lines += ["", _REACHED[found["reached"]]]
    lines += [f"  {each['section']}: {each['label']}" for each in found["playthrough"]]
    if found["reached"] == "reachable" and not found["playthrough"]:
        lines.append("  the book begins here")
    echo(clean("\n".join(lines)))


def _told(way: dict[str, Any]) -> str:
    told = f"“{way['label']}”"
    if way["asks_for"]:
        told += f", asks for {' and '.join(way['asks_for'])}"
    if way["phrase"]:
        told += f" ({way['phrase']})"
    return told + "".join(f", gives {each}" for each in way["gives"])
