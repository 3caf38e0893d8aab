"""The table of commands: the runtime's own, and those that installed packs bring.

Which commands packs bring is remembered in the user's cache, so that `callboard --help` needs
neither YAML nor a look through all installed distributions; it is found anew when anything it
was found in has changed. Imports nothing but the interpreter's own start-up modules.
"""

import os
import sys

from callboard import __version__

COMPLETE_VARIABLE = "_CALLBOARD_COMPLETE"
"""Set by a shell that asks what could come next."""

OWN = {
    "init": "make a folder a project",
    "run": "start a run and watch it",
    "runs": "list, show, control, retry and fork runs",
    "answer": "answer what a run asks you",
    "chat": "talk with one agent",
    "tool": "tools: list, look, run one",
    "agents": "who is on the staff, doing what",
    "sessions": "isolated lines of work",
    "packs": "what can be run, and who takes part",
    "prompts": "templates, and every prompt as it was sent",
    "receipts": "the signed record of every execution",
    "evidence": "which replies were grounded, and why others were not",
    "issues": "what work left behind for you",
    "models": "the catalog, the embedded model, a trial",
    "auth": "keys of model providers: store, show, remove",
    "usage": "what was called, by whom, for how much",
    "budget": "what may be spent, and what is left",
    "serve": "the project over HTTP",
    "trust": "say that what a folder brings shall count",
    "config": "the settings in force and where they come from",
    "store": "where the project's rows are kept, and moving them",
    "gc": "let go what old work left behind",
    "doctor": "check the project and its surroundings",
}
"""Command name to one line of help; each has a module of its name with a Typer `app`."""

TAKEN = frozenset((*OWN, "completion", "help", "version"))
"""Words that mean something to `callboard` itself; no pack can have them for a command."""

_FORM = f"callboard commands 1 {__version__}"


class Row:
    """A command of a pack."""

    __slots__ = ("help", "name", "needs_project", "title")

    def __init__(self, title: str, name: str, needs_project: bool, told: str) -> None:
        """Take the pack's title, its name, whether it needs a project, and a line of help."""
        self.title = title
        self.name = name
        self.needs_project = needs_project
        self.help = told


def of_packs() -> "list[Row]":
    """Return the commands packs bring, in their order."""
    remembered = _remembered()
    return _found() if remembered is None else remembered


def names() -> "list[str]":
    """Return all commands, the runtime's own first."""
    return [*OWN, *(row.name for row in of_packs())]


def _remembered() -> "list[Row] | None":
    try:
        with open(_file(), encoding="utf-8") as opened:
            form, *lines = opened.read().splitlines()
    except (OSError, ValueError):
        return None
    if form != _FORM:
        return None
    rows: list[Row] = []
    looked_in: list[str] = []
    for line in lines:
        kind, *fields = line.split("\t")
        if kind == "in" and len(fields) == 2:
            if _stamp(fields[1]) != fields[0]:
                return None
            looked_in.append(fields[1])
        elif kind == "command" and len(fields) == 4:
            title, name, needs_project, told = fields
            rows.append(Row(title, name, needs_project == "in a project", told))
        else:
            return None
    return rows if set(_searched()) <= set(looked_in) else None


def _found() -> "list[Row]":
    from callboard.studio.packs import FILE, discover

    rows: list[Row] = []
    files: list[str] = []
    found = discover()
    for pack in found.packs:
        files.append(str(pack.root / FILE))
        for name, entry in pack.described.commands.items():
            if name not in TAKEN and all(row.name != name for row in rows):
                title = " ".join(pack.title.split())
                told = " ".join(entry.help.split())
                rows.append(Row(title, name, entry.needs_project, told))
    if found.problems:
        # Where a pack was left out lies what may be mended any moment.
        return rows
    lines = [_FORM]
    lines += [f"in\t{_stamp(path)}\t{path}" for path in (*_searched(), *files)]
    for row in rows:
        where = "in a project" if row.needs_project else "anywhere"
        lines.append(f"command\t{row.title}\t{row.name}\t{where}\t{row.help}")
    _remember("\n".join(lines) + "\n")
    return rows


def _remember(text: str) -> None:
    path = _file()
    aside = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(aside, "w", encoding="utf-8") as opened:
            opened.write(text)
        os.replace(aside, path)
    except (OSError, ValueError):
        # What cannot be remembered is found again the next time.
        return


def _file() -> str:
    from zlib import crc32

    home = os.path.expanduser("~")
    folder = os.environ.get("CALLBOARD_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache"), "callboard"
    )
    return os.path.join(folder, f"commands-{crc32(repr(_searched()).encode()):08x}.txt")


def _searched() -> "list[str]":
    return [path for path in sys.path if os.path.isdir(path)]


def _stamp(path: str) -> str:
    try:
        return str(os.stat(path).st_mtime_ns)
    except OSError:
        return "none"
