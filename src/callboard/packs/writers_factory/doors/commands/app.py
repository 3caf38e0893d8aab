"""All commands of Writers Factory under one name, in the order in which a book is made."""

from typing import Any, Final

import typer
from typer.core import TyperGroup

from callboard.cli.options import new_app
from callboard.packs.writers_factory.doors.commands import (
    bible,
    book,
    exchange,
    health,
    knowledge,
    memory,
    planning,
    revision,
    scenes,
    voice,
)

_SECTIONS: Final = {
    "The book": book.app,
    "Story Bible": bible.app,
    "Memory": memory.app,
    "Voice": voice.app,
    "Outline and scaffolds": planning.app,
    "Scenes": scenes.app,
    "Revision": revision.app,
    "Health": health.app,
    "Out and in": exchange.app,
}


class Sections(TyperGroup):
    """Lists the commands under headings: forty in a row would be read by nobody."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands of the help page."""
        rows: dict[str, list[tuple[str, str]]] = {section: [] for section in _SECTIONS}
        width = max(len(name) for name in self.commands)
        for name in self.list_commands(ctx):
            command: Any = self.get_command(ctx, name)
            told = command.get_short_help_str(formatter.width - 6 - width)
            rows[command.rich_help_panel].append((name.ljust(width), told))
        for section, listed in rows.items():
            with formatter.section(section):
                formatter.write_dl(listed)


def _joined() -> typer.Typer:
    whole = new_app("Write a novel, from idea to manuscript, with the Foreman.")
    whole.info.cls = Sections
    for section, part in _SECTIONS.items():
        for command in part.registered_commands:
            command.rich_help_panel = section
            whole.registered_commands.append(command)
    for name, group in knowledge.GROUPS.items():
        whole.add_typer(group, name=name, rich_help_panel="Memory")
    return whole


app = _joined()
