"""Errors at the door: a block for people, a body for programs, an exit code by fault and tier."""

import sys
from typing import cast

from callboard.cli import exits
from callboard.cli.exit_codes import code_of_error
from callboard.core.canonical import Json, compact_json
from callboard.core.classify import Classifier
from callboard.core.errors import ErrorRecord, tier_views

_MISTAKE = (
    "This is a mistake in Callboard or in a pack; nobody foresaw it. `--debug` shows where it"
    " happened, `callboard runs show` what the run had done."
)


def report(error: Exception, *, command: str, as_json: bool, debug: bool) -> int:
    """Show an error that ended a command and return the exit code it means."""
    from callboard.cli.output import put

    if debug:
        import traceback

        put(sys.stderr, "".join(traceback.format_exception(error)))
    usage = _usage_of(error, command)
    if usage is not None and usage.message.startswith("Usage:"):
        # A group called without a command: its help says more than an error could.
        put(sys.stderr, f"{usage.message.rstrip()}\n")
        return exits.USAGE
    record = usage or Classifier().record(error)
    if as_json:
        put(sys.stdout, f"{compact_json(body_of(record))}\n")
    else:
        put(sys.stderr, block_of(record))
    return exits.USAGE if usage is not None else code_of_error(error, record.tier)


def body_of(record: ErrorRecord) -> dict[str, Json]:
    """Return the one error body of all doors."""
    details = {
        "tier": record.tier.name.lower(),
        "retryable": record.retryable,
        "fix": record.fix,
        "context": record.context,
    }
    return {"error": {"code": record.code, "message": record.message, "details": details}}


def block_of(record: ErrorRecord, way_out: str | None = None) -> str:
    """Return an error as people read it: headline by tier, message, way out."""
    from callboard.cli.output import clean

    lines = [tier_views[record.tier].headline, f"  {clean(record.message)}"]
    fix = record.fix or (_MISTAKE if record.code == "unexpected" else way_out)
    if fix is not None:
        lines.append(f"  Way out: {clean(fix)}")
    return "\n".join(lines) + "\n"


def _usage_of(error: Exception, command: str) -> ErrorRecord | None:
    """Return what is wrong with how a command was called, if that is what went wrong."""
    import typer
    from pydantic import ValidationError

    from callboard.core.parsing import misfit

    if not isinstance(error, typer.TyperException):
        return None
    context = getattr(error, "ctx", None)
    path = cast(str, getattr(context, "command_path", "")) or f"callboard {command}"
    if isinstance(error, typer.BadParameter) and isinstance(error.__cause__, ValidationError):
        problem = error.__cause__.errors()[0]
        error.message = f"{problem['input']!r} {misfit(problem)}"
    return ErrorRecord("usage", error.format_message(), fix=f"See `{path} --help`.")
