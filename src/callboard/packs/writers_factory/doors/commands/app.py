"""All commands of Writers Factory under one name, in the order in which a book is made."""

from typing import Final

import typer

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

# Forty commands in a row would be read by nobody.
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


def _joined() -> typer.Typer:
    whole = new_app("Write a novel, from idea to manuscript, with the Foreman.")
    for section, part in _SECTIONS.items():
        for command in part.registered_commands:
            command.rich_help_panel = section
            whole.registered_commands.append(command)
    for name, group in knowledge.GROUPS.items():
        whole.add_typer(group, name=name, rich_help_panel="Memory")
    return whole


app = _joined()
