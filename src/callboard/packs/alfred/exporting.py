"""Printing what leaves the kitchen: recipes, a week's meals, the shopping list."""

from collections.abc import Sequence

from callboard.cli.output import echo, echo_json
from callboard.core.errors import InvalidInput
from callboard.packs.alfred.house import FORMATS, Alfred


async def print_export(
    alfred: Alfred, what: str, names: Sequence[str], *, user: str | None, as_json: bool
) -> None:
    """Print it as it is, so that it can be sent into a file."""
    who = alfred.who(user)
    if what in FORMATS:
        texts = await alfred.export_recipes(who, names, what)
        if as_json:
            echo_json(dict(texts))
        else:
            echo("\n\n".join(texts.values()))
        return
    match what:
        case "calendar":
            text = await alfred.export_calendar(who, "@today", "@today+13d")
        case "shopping":
            text = await alfred.export_shopping(who)
        case _:
            raise InvalidInput(
                f"{what!r} cannot be exported",
                fix=f"There are {', '.join(FORMATS)}, calendar and shopping.",
            )
    if as_json:
        echo_json({what: text})
    else:
        echo(text)
