"""The door `callboard`: root help and version from a table, one command's module, its errors.

Imports nothing but the interpreter's own start-up modules before it knows which command is
wanted: that is what makes `callboard --help` quick.
"""

import os
import sys

from callboard import __version__
from callboard.cli import exits
from callboard.cli.attendance import is_attended
from callboard.cli.table import COMPLETE_VARIABLE, OWN, names, of_packs

_HELP_FLAGS = ("--help", "-h", "help")
# Commands that ask about the folder themselves, or need none.
_WITHOUT_PROJECT = frozenset(("trust", "init", "packs", "doctor"))


def main(arguments: "list[str] | None" = None) -> int:
    """Run one command and return the exit code."""
    if arguments is None:
        _look_for_garbage_less_often()
    words = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        # A reply may hold what the terminal's encoding cannot: show it escaped, do not fail.
        getattr(stream, "reconfigure", _nothing)(errors="backslashreplace")
    asked = os.environ.get(COMPLETE_VARIABLE)
    if asked:
        from callboard.cli.completion import answer

        return answer(asked)
    debug = _take_flag(words, "--debug")
    if _take_flag(words, "--trust-once"):
        # By the environment, so that what this command starts in the background has it too.
        os.environ["CALLBOARD_TRUST"] = "once"
    if not words or words[0] in _HELP_FLAGS:
        sys.stdout.write(root_help())
        return exits.OK if words else exits.USAGE
    if words[0] in ("--version", "-V", "version"):
        sys.stdout.write(f"callboard {__version__}\n")
        return exits.OK
    if words[0] == "completion":
        return _complete(words[1:])
    if words[0] not in OWN and words[0] not in names():
        return _unknown(words)
    return _dispatch(words[0], words[1:], debug)


def _look_for_garbage_less_often() -> None:
    """Have the collector leave alone what lives as long as the process: nearly all of a command.

    Looking through the objects of imported code, again and again and once more at the end, is a
    sixth of what a short command costs.
    """
    import atexit
    import gc

    gc.set_threshold(50_000, 20, 20)
    atexit.register(gc.freeze)


def root_help() -> str:
    """Return the help of `callboard` itself."""
    lines = ["Usage: callboard COMMAND [ARGUMENTS]", ""]
    lines += ["Runs teams of LLM agents: durable, inspectable, on your own folder.", ""]
    lines += ["Commands:"]
    lines += [f"  {name:<12}{told}" for name, told in OWN.items()]
    title = ""
    for row in of_packs():
        if row.title != title:
            title = row.title
            lines += ["", f"{title}:"]
        lines += [f"  {row.name:<12}{row.help}"]
    lines += ["", "Every command takes:"]
    lines += ["  --project FOLDER  the project; by default the one at or above this folder"]
    lines += ["  --json            JSON on standard output, for programs"]
    lines += ["  --debug           the whole traceback of an error"]
    lines += ["  --trust-once      let what the project's folder brings count, this time only"]
    lines += ["  --help            what the command does and takes"]
    lines += ["", "callboard --version prints the version."]
    lines += ["callboard completion SHELL prints what bash, zsh or fish need to complete commands."]
    lines += ["", "Exit codes:"]
    lines += [f"  {code:<5}{meaning}" for code, meaning in exits.MEANINGS.items()]
    return "\n".join(lines) + "\n"


def _dispatch(name: str, words: "list[str]", debug: bool) -> int:
    from importlib import import_module

    try:
        if is_attended() and _needs_project(name):
            _get_acquainted(words)
        import_module("callboard.cli.output").clean_log()
        app = import_module("callboard.cli.command_apps").app_of(name)
        code = app(args=words, prog_name=f"callboard {name}", standalone_mode=False)
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the border of the door: every error is shown once
        from callboard.cli.failure import report

        return report(error, command=name, as_json=_wants_json(words), debug=debug)
    return code if isinstance(code, int) else exits.OK


def _needs_project(name: str) -> bool:
    if name in OWN:
        return name not in _WITHOUT_PROJECT
    return any(row.needs_project for row in of_packs() if row.name == name)


def _get_acquainted(words: "list[str]") -> None:
    """Let a person say at first use whether they trust the folder."""
    from pathlib import Path

    from callboard.cli.handlers.trusting import ask_at_first_use

    asked = _before_dashes(words)
    if any(word in _HELP_FLAGS[:2] for word in asked):
        return
    named = next((word.partition("=")[2] for word in asked if word.startswith("--project=")), "")
    if not named and "--project" in asked[:-1]:
        named = asked[asked.index("--project") + 1]
    ask_at_first_use(Path(named) if named else None)


def _complete(words: "list[str]") -> int:
    from callboard.cli.completion import print_script
    from callboard.core.errors import InvalidInput

    try:
        return print_script(words)
    except InvalidInput as error:
        from callboard.cli.failure import report

        return report(error, command="completion", as_json=_wants_json(words), debug=False)


def _unknown(words: "list[str]") -> int:
    from difflib import get_close_matches

    from callboard.cli.failure import report
    from callboard.core.errors import InvalidInput

    word = words[0]
    if word.startswith("-"):
        problem = f"{word} is not an option of callboard itself"
        fix = "Options come after the command: `callboard run NAME --project FOLDER`."
    else:
        close = get_close_matches(word, names(), n=1)
        problem = f"There is no command {word!r}"
        fix = f"Did you mean `callboard {close[0]}`?" if close else "See `callboard --help`."
    error = InvalidInput(problem, fix=fix, command=word)
    return report(error, command=word, as_json=_wants_json(words), debug=False)


def _wants_json(words: "list[str]") -> bool:
    return "--json" in _before_dashes(words)


def _take_flag(words: "list[str]", flag: str) -> bool:
    if flag not in _before_dashes(words):
        return False
    words.remove(flag)
    return True


def _before_dashes(words: "list[str]") -> "list[str]":
    return words[: words.index("--")] if "--" in words else words


def _nothing(**_options: str) -> None:
    """Stand in for a stream that cannot be configured."""


if __name__ == "__main__":
    sys.exit(main())
