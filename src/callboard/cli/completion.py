"""What the shell is told when somebody presses Tab: commands, options, and the runs of the project.

The shells speak with Typer's own mechanism; here is only the root it starts from.
"""

import sys
from pathlib import Path
from typing import Any, Final

import typer.core
import typer.main
from typer.completion import get_completion_inspect_parameters, shell_complete

from callboard.cli import exits
from callboard.cli.command_apps import app_of
from callboard.cli.table import COMPLETE_VARIABLE, names
from callboard.core.errors import CallboardError, InvalidInput

SHELLS: Final = ("bash", "zsh", "fish")
HELP: Final = """\
Usage: callboard completion SHELL

Print what a shell must read to complete commands, options and runs.

  bash  in ~/.bashrc:  source <(callboard completion bash)
  zsh   in ~/.zshrc, below compinit:  source <(callboard completion zsh)
  fish  once:  callboard completion fish > ~/.config/fish/completions/callboard.fish
"""
_MOST_RUNS: Final = 20


class _Root(typer.core.TyperGroup):
    """All commands as one group; the module of one is loaded when it is looked into."""

    def list_commands(self, ctx: Any) -> list[str]:
        return names()

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in names():
            return None
        return typer.main.get_command(app_of(cmd_name))


def print_script(words: list[str]) -> int:
    """Print what a shell must read to know how to complete; return the exit code."""
    if words in (["--help"], ["-h"]):
        sys.stdout.write(HELP)
        return exits.OK
    if len(words) != 1 or words[0] not in SHELLS:
        raise InvalidInput(
            f"There is no completion for {' '.join(words)!r}" if words else "Which shell?",
            fix=f"Say `callboard completion SHELL` with one of: {', '.join(SHELLS)}.",
        )
    return answer(f"source_{words[0]}")


def answer(instruction: str) -> int:
    """Do what a shell asks by its instruction; return the exit code."""
    # Typer makes its shells known as it makes the options for them, which are not wanted here.
    get_completion_inspect_parameters()
    return shell_complete(_Root(name="callboard"), {}, "callboard", COMPLETE_VARIABLE, instruction)


def known_runs(project: Path | None) -> list[tuple[str, str]]:
    """Return how the newest runs may be named, with what each is; none outside a project."""
    from callboard.cli.reading import LAST, OpenJournal, reading
    from callboard.core.vocabulary.run import RunRecord
    from callboard.store.connection import Connection
    from callboard.store.journal.runs import list_runs

    def shown(journal: OpenJournal, connection: Connection) -> list[RunRecord]:
        found = list_runs(connection, limit=_MOST_RUNS)
        return journal.viewer.among(connection, found, lambda run: run.session_id)

    try:
        with reading(project) as journal:
            runs = journal.read_or([], lambda c: shown(journal, c))
    except CallboardError:
        # Whoever presses Tab wants a word or nothing, never an error amid the line.
        return []
    named = [(run.id, f"{run.choreography}, {run.state.value}") for run in runs]
    return [(LAST, "the newest run"), *named]
