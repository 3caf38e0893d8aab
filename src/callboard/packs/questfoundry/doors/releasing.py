"""`callboard quest`, how a book comes in and goes out: title page, import, gatecheck, files."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from callboard.cli.options import JsonOption, ModelOption, ProjectOption
from callboard.packs.questfoundry.doors import looking, sections
from callboard.packs.questfoundry.doors.canon import canon_app
from callboard.packs.questfoundry.doors.commands import (
    BatchOption,
    PolicyOption,
    UnitArgument,
    operate,
    read_in,
    start_loop,
    waivers_app,
)

if TYPE_CHECKING:
    from callboard.packs.questfoundry.waivers import KeptWaiver

app = looking.app
"""All of `callboard quest`."""
app.add_typer(canon_app, name="canon")
__all__ = ["app", "sections"]


@app.command()
def gate(
    tus: Annotated[
        list[str] | None,
        typer.Argument(metavar="TU", help="Units to judge; none means all that are ready."),
    ] = None,
    by_code: Annotated[bool, typer.Option("--code", help="Ask no model: code alone.")] = False,
    batch: BatchOption = False,
    policy: PolicyOption = "",
    model: ModelOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Judge units by all eight bars, and merge what passes. Exit code 4 if it is blocked."""
    if by_code:
        from callboard.packs.questfoundry.by_code import gate_by_code

        return operate(project, as_json, gate_by_code, tuple(tus or ()))
    args = {"upstream": tus or [], "is_interactive": not batch, "policy": policy}
    return start_loop(project, model, as_json, "gatecheck", args)


@app.command()
def waive(
    tu: UnitArgument,
    bar: Annotated[str, typer.Option("--bar", metavar="BAR", help="The bar that is red.")],
    place: Annotated[
        str,
        typer.Option("--place", metavar="PLACE", help="Where, as the finding says; or `book`."),
    ],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why it may pass.")],
    until: Annotated[str, typer.Option("--until", metavar="DAY", help="Until when: 2027-01-31.")],
    by: Annotated[str, typer.Option("--by", metavar="NAME", help="Who answers for it.")],
    check: Annotated[
        str, typer.Option("--check", metavar="CHECK", help="Only what this check found there.")
    ] = "",
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Let one red finding of a unit's report pass until a day; spoilers and dead links never."""
    from callboard.packs.questfoundry.operations import waive_finding

    return operate(project, as_json, waive_finding, tu, bar, place, reason, until, by, check=check)


@waivers_app.command("list")
def list_waivers(project: ProjectOption = None, as_json: JsonOption = False) -> None:
    """List the waivers, oldest first."""
    from callboard.cli.output import echo_json, echo_table

    found, today = read_in(project, lambda foundry: (foundry.waivers.all(), foundry.waivers.today))
    if as_json:
        echo_json({"waivers": [each.to_json() for each in found]})
        return
    rows = [
        (each.id, each.bar, each.scope, each.by, each.stands(today), _why(each)) for each in found
    ]
    echo_table(("WAIVER", "BAR", "PLACE", "BY", "STANDS", "WHY"), rows)


def _why(waiver: "KeptWaiver") -> str:
    return waiver.withdrawn or waiver.rationale


@waivers_app.command("withdraw")
def withdraw(
    waiver: Annotated[str, typer.Argument(metavar="WAIVER", help="Id of a waiver.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.")],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Take a waiver back: the next gatecheck knows it no more."""
    from callboard.packs.questfoundry.operations import withdraw_waiver

    return operate(project, as_json, withdraw_waiver, waiver, reason)


@app.command()
def bind(
    snapshot: Annotated[
        str, typer.Argument(metavar="SNAPSHOT", help="Which one; by default the newest.")
    ] = "",
    by_code: Annotated[bool, typer.Option("--code", help="Ask no model: code alone.")] = False,
    formats: Annotated[
        list[str] | None, typer.Option("--format", metavar="NAME", help="A format, with --code.")
    ] = None,
    locales: Annotated[
        list[str] | None,
        typer.Option("--locale", metavar="TAG", help="A translation to bind too, with --code."),
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Bind a translation that is not whole, too.")
    ] = False,
    batch: BatchOption = False,
    policy: PolicyOption = "",
    model: ModelOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Build the files that readers get, from a snapshot."""
    if by_code:
        from callboard.packs.questfoundry.by_code import bind_by_code

        return operate(
            project,
            as_json,
            bind_by_code,
            snapshot,
            tuple(formats or ()),
            tuple(locales or ()),
            partial,
        )
    args: dict[str, Any] = {"is_interactive": not batch, "policy": policy}
    if snapshot:
        args["inputs"] = {"cold_snapshot": snapshot}
    return start_loop(project, model, as_json, "binding_run", args)


@app.command()
def archive(
    by_code: Annotated[bool, typer.Option("--code", help="Ask no model: code alone.")] = False,
    label: Annotated[
        str, typer.Option("--label", metavar="TEXT", help="What it is called, with --code.")
    ] = "",
    batch: BatchOption = False,
    policy: PolicyOption = "",
    model: ModelOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Pack the whole state of the project into one file, and prove it by unpacking."""
    if by_code:
        from callboard.packs.questfoundry.by_code import archive_by_code

        return operate(project, as_json, archive_by_code, label)
    args = {"is_interactive": not batch, "policy": policy}
    return start_loop(project, model, as_json, "archive_snapshot", args)


@app.command("import")
def import_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Twee 3, Twine HTML or Ink.")],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Bring a story in as a unit that waits for its gatecheck; nothing in the file is run."""
    from callboard.packs.questfoundry.doors.playing import arrived
    from callboard.packs.questfoundry.intake import import_book

    book, notes = read_in(project, lambda foundry: arrived(foundry, file))
    return operate(project, as_json, import_book, book.to_json(), file.name, notes)


@app.command("describe")
def describe_command(
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Its title.")] = None,
    author: Annotated[
        str | None, typer.Option("--author", metavar="NAME", help="Who writes it.")
    ] = None,
    genre: Annotated[str | None, typer.Option("--genre", metavar="TEXT", help="Its genre.")] = None,
    language: Annotated[
        str | None, typer.Option("--language", metavar="TAG", help="Its language.")
    ] = None,
    tone: Annotated[
        str | None, typer.Option("--tone", metavar="TEXT", help="How it sounds.")
    ] = None,
    sections: Annotated[
        int | None,
        typer.Option("--sections", min=1, metavar="NUMBER", help="How long it shall be."),
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Change what is said about the book, and print it; snapshots stay as they are."""
    from callboard.cli.output import clean, echo, echo_json
    from callboard.packs.questfoundry.operations import describe_book, described, said_of

    args: dict[str, Any] = {"title": title, "author": author, "genre": genre, "tone": tone}
    args |= {"language": language, "target_sections": sections}
    if any(each is not None for each in args.values()):
        return operate(project, as_json, describe_book, **args)
    plan = read_in(project, said_of)
    echo_json(plan) if as_json else echo(clean(described(plan)))
    return 0


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(metavar="ARCHIVE", help="A file made by `archive`.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="An empty or new folder.")],
    as_json: JsonOption = False,
) -> int:
    """Open an archive as a new project; one that is not what was packed is refused."""
    from callboard.packs.questfoundry.archive import check_target, read_archive
    from callboard.packs.questfoundry.operations import restore_archive
    from callboard.studio.project import Project

    check_target(folder)
    read_archive(file)
    Project.init(folder, pack="questfoundry")
    return operate(folder, as_json, restore_archive, str(file.resolve()))


@app.command()
def demo(
    folder: Annotated[
        Path, typer.Option("--dir", metavar="FOLDER", help="Where the book is put.")
    ] = Path("quest-demo"),
    seed: Annotated[
        int, typer.Option("--seed", metavar="NUMBER", help="Another number, another book.")
    ] = 7,
    model: ModelOption = None,
    as_json: JsonOption = False,
) -> int:
    """Have a small book grown, named, judged and bound, with the embedded model."""
    return _demonstrate(folder, seed, model or "local", as_json=as_json)


def _demonstrate(folder: Path, seed: int, model: str, *, as_json: bool) -> int:
    """Show a book grown by code and named by a model; return the exit code of the run."""
    import shlex

    from callboard.cli.bridge import Interrupt, perform
    from callboard.cli.handlers.ending import conclude
    from callboard.cli.handlers.following import follow
    from callboard.cli.handlers.initiating import Initiated, initiate
    from callboard.cli.handlers.opening import Choices, working
    from callboard.cli.output import echo, remark
    from callboard.cli.reports.models import pull_weights

    root = initiate(Initiated(folder, "questfoundry")).root
    if model == "local":
        pull_weights(quiet=as_json)

    async def work(interrupt: Interrupt) -> int:
        async with working(Choices(root, model=model, as_json=as_json)) as here:
            run = await here.studio.start("questfoundry/grow", {"seed": seed})
            here.announce(run)
            followed = await follow(here.studio, run.id, here.view(), interrupt)
            if as_json or followed.exit_code:
                return conclude(here.studio, followed, as_json=as_json)
            result = followed.run.result
            echo(f"{result['title']}: {result['sections']} sections, {result['decision']}")
            for bar, status in result["bars"].items():
                echo(f"  {bar}: {status}")
            for path in result["files"]:
                echo(str(root / path))
            remark(f"\nPlay it: cd {shlex.quote(str(root))} && callboard quest play")
            return 0

    return perform(work)
