"""`callboard alfred`: the kitchen without a conversation, and what a conversation holds."""

from pathlib import Path
from typing import Annotated, Any

import typer

from callboard.cli.options import JsonOption, ModelOption, ProjectOption, SessionOption, new_app

app = new_app("A kitchen: talk with Alfred, and look after its data.")

UserOption = Annotated[
    str | None,
    typer.Option("--user", metavar="NAME", help="Who it is about.", show_default=False),
]
ModeOption = Annotated[
    str | None,
    typer.Option(
        "--mode",
        metavar="MODE",
        help="quick, cook, plan, create or explore; by default what was chosen last.",
        show_default=False,
    ),
]


async def _session(alfred: Any, named: str | None, user: str | None) -> str:
    if named is None:
        return str(await alfred.session_of(user))
    return str(alfred.theirs(named, user))


@app.command(no_args_is_help=True)
def send(
    message: Annotated[str, typer.Argument(metavar="MESSAGE", help="What you say.")],
    mode: ModeOption = None,
    user: UserOption = None,
    model: ModelOption = None,
    session: SessionOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Say one thing to Alfred; `callboard chat` talks for longer."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.alfred.terminal import AlfredTalk, alfred_talk

    choices = Choices(project, (), model, as_json)
    return alfred_talk(choices, AlfredTalk(session, mode, user), message)


@app.command()
def entities(
    session: SessionOption = None,
    user: UserOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show what the conversation is about: proposed, in play, or put away."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.alfred.tell import entities_report
    from callboard.packs.alfred.terminal import enter

    async def act(alfred: Any) -> None:
        found = await _session(alfred, session, user)
        entities_report(alfred.talk.entities(found), as_json=as_json)

    return enter(Choices(project, (), None, as_json), act)


@app.command()
def why(
    turn: Annotated[
        int | None,
        typer.Argument(metavar="TURN", help="By default the last one.", show_default=False),
    ] = None,
    session: SessionOption = None,
    user: UserOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show why a turn did what it did: plan, steps, assumptions, calls."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.alfred.tell import why_report
    from callboard.packs.alfred.terminal import enter

    async def act(alfred: Any) -> None:
        found = await _session(alfred, session, user)
        turns = alfred.talk.turns(found)
        wanted = turn if turn is not None else (turns[-1]["turn"] if turns else 0)
        why_report(alfred.talk.trace(found, wanted), as_json=as_json)

    return enter(Choices(project, (), None, as_json), act)


@app.command()
def undo(
    session: SessionOption = None,
    by_hand: Annotated[
        bool,
        typer.Option("--by-hand", help="Undo the last change made without a conversation."),
    ] = False,
    anyway: Annotated[
        bool,
        typer.Option("--anyway", help="With --by-hand: even if a limit of somebody goes with it."),
    ] = False,
    user: UserOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Take back what the last turn that wrote has changed."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.alfred.tell import undo_report
    from callboard.packs.alfred.terminal import AlfredTalk, alfred_talk, enter

    choices = Choices(project, (), None, as_json)
    if not by_hand:
        return alfred_talk(choices, AlfredTalk(session, None, user), "undo that")

    async def act(alfred: Any) -> None:
        take_back = alfred.undo_anyway if anyway else alfred.undo
        undo_report(await take_back(alfred.who(user)), as_json=as_json)

    return enter(choices, act)


@app.command("list")
def list_rows(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="recipes, inventory_items, shopping_items, …")
    ],
    search: Annotated[
        str | None,
        typer.Option("--search", metavar="TEXT", help="Only what holds it.", show_default=False),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=200)] = 50,
    offset: Annotated[
        int, typer.Option("--offset", metavar="N", min=0, help="Leave out the first N.")
    ] = 0,
    user: UserOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """List rows of the kitchen's database."""
    from callboard.choreography.turn.requests import ReadRequest
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.alfred.tell import rows_report
    from callboard.packs.alfred.terminal import enter

    filters = [{"field": "", "op": "search", "value": search}] if search else []

    async def act(alfred: Any) -> None:
        wanted = ReadRequest.model_validate(
            {"table": table, "filters": filters, "limit": limit, "offset": offset}
        )
        who = alfred.who(user)
        found = await alfred.kitchen.read(who, wanted)
        lines = await alfred.kitchen.present_rows(who, table, found.rows)
        rows_report(found, lines, offset=offset, as_json=as_json)

    return enter(Choices(project, (), None, as_json), act)


@app.command("import", no_args_is_help=True)
def import_recipes(
    files: Annotated[list[Path], typer.Argument(metavar="FILES", help="Recipes, or folders.")],
    write: Annotated[
        bool, typer.Option("--write", help="Store them; without it they are only read.")
    ] = False,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Also what somebody here must not eat.")
    ] = False,
    user: UserOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Read recipes from Markdown, JSON-LD, HTML or text, and show how sure every line is."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.alfred.tell import read_files
    from callboard.packs.alfred.terminal import enter

    async def act(alfred: Any) -> None:
        await read_files(alfred, files, write=write, user=user, as_json=as_json, anyway=anyway)

    return enter(Choices(project, (), None, as_json), act)


@app.command()
def export(
    what: Annotated[
        str,
        typer.Argument(metavar="WHAT", help="markdown, jsonld, calendar or shopping."),
    ] = "markdown",
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="RECIPE", help="Recipes; by default all.", show_default=False),
    ] = None,
    user: UserOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Print recipes, the planned meals of two weeks as iCalendar, or the shopping list."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.alfred.tell import print_export
    from callboard.packs.alfred.terminal import enter

    async def act(alfred: Any) -> None:
        await print_export(alfred, what, names or [], user=user, as_json=as_json)

    return enter(Choices(project, (), None, as_json), act)


@app.command()
def onboard(
    answer: Annotated[
        list[str] | None,
        typer.Option(
            "--answer", metavar="QUESTION=ANSWER", help="May be repeated.", show_default=False
        ),
    ] = None,
    user: UserOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Answer what is asked once, or see what has not been asked yet."""
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.alfred.tell import answer_questions
    from callboard.packs.alfred.terminal import enter

    async def act(alfred: Any) -> None:
        await answer_questions(alfred, answer or [], user=user, as_json=as_json)

    return enter(Choices(project, (), None, as_json), act)


@app.command()
def people(
    add: Annotated[
        str | None,
        typer.Option("--add", metavar="NAME", help="Somebody who joins.", show_default=False),
    ] = None,
    timezone: Annotated[str, typer.Option("--timezone", metavar="ZONE")] = "UTC",
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """List who cooks here, or add somebody."""
    from callboard.cli.handlers.opening import Choices
    from callboard.cli.output import clean, echo, echo_json
    from callboard.packs.alfred.terminal import enter

    async def act(alfred: Any) -> None:
        if add is not None:
            await alfred.add_person(add, add, timezone)
        known = [dict(each) for each in alfred.people()]
        if as_json:
            echo_json(known)
            return
        for each in known:
            echo(clean(f"{each['id']}  {each['display_name']}  {each['timezone']}"))

    return enter(Choices(project, (), None, as_json), act)


@app.command()
def seed(
    user: UserOption = None, project: ProjectOption = None, as_json: JsonOption = False
) -> int:
    """Fill an empty kitchen with recipes, stock and a list to try things on."""
    from callboard.cli.handlers.opening import Choices
    from callboard.cli.output import echo, echo_json, remark
    from callboard.packs.alfred.terminal import enter

    async def act(alfred: Any) -> None:
        before = dict(await alfred.kitchen.counts(alfred.who(user)))
        counts = await alfred.seed(alfred.who(user))
        if as_json:
            echo_json(dict(counts))
            return
        told = [f"{name.replace('_', ' ')}: {count}" for name, count in counts.items() if count]
        echo(f"The kitchen holds {', '.join(told)}.")
        if dict(counts) == before:
            remark("Nothing was added: only a kitchen without recipes is filled.")

    return enter(Choices(project, (), None, as_json), act)
