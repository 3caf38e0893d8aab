"""What commands take, declared once: the project, JSON, runs, packs, models, sessions."""

from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

ProjectOption = Annotated[
    Path | None,
    typer.Option(
        "--project",
        metavar="FOLDER",
        help="The project; by default the one at or above the current folder.",
        show_default=False,
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON on standard output, for programs.")
]


def _known_runs(ctx: typer.Context) -> list[tuple[str, str]]:
    from callboard.cli.completion import known_runs

    project = ctx.params.get("project")
    return known_runs(None if project is None else Path(project))


RunArgument = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="Id of a run, a unique beginning or end of it, or `last`.",
        autocompletion=_known_runs,
    ),
]
PackOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--pack",
        metavar="FOLDER",
        help="A pack of your own, besides the installed ones; may be repeated.",
        show_default=False,
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="Model for agents that name none: `local`, `provider:model`, `script:FILE`, "
        "`replay:FILE.jsonl:MODEL`.",
        show_default=False,
    ),
]
SessionOption = Annotated[
    str | None,
    typer.Option(
        "--session", metavar="SESSION", help="Id or name of a session.", show_default=False
    ),
]
ArgOption = Annotated[
    list[str] | None,
    typer.Option(
        "--arg",
        metavar="KEY=VALUE",
        help="An argument; may be repeated. A list or an object is written as JSON.",
        show_default=False,
    ),
]
ArgsJsonOption = Annotated[
    str | None,
    typer.Option(
        "--args-json",
        metavar="FILE",
        help="Arguments as a JSON object from a file, or `-` for standard input.",
        show_default=False,
    ),
]
LimitOption = Annotated[
    int, typer.Option("--limit", min=1, metavar="NUMBER", help="List at most so many.")
]


_WHOLE_CHARS: Final = 10_000


class CommandGroup(TyperGroup):
    """Lists commands with their whole first sentence, those with a panel under its name."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands of the help page."""
        sections: dict[str, list[tuple[str, str]]] = {}
        width = max((len(name) for name in self.commands), default=0)
        for name in self.list_commands(ctx):
            command: Any = self.get_command(ctx, name)
            told = command.get_short_help_str(_WHOLE_CHARS)
            section = command.rich_help_panel or "Commands"
            sections.setdefault(section, []).append((name.ljust(width), told))
        for section, rows in sections.items():
            with formatter.section(section):
                formatter.write_dl(rows)


def new_app(told: str) -> typer.Typer:
    """Return the Typer application of a command or a group of commands."""
    settings: dict[str, Any] = {
        "help_option_names": ["--help", "-h"],
        "max_content_width": 100,
    }
    return typer.Typer(
        cls=CommandGroup,
        help=told,
        add_completion=False,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=settings,
    )
