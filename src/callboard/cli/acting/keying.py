"""Taking a key from the user: asked for without showing it, from a file, or if need be as is."""

import sys
from getpass import getpass

from callboard.cli.arguments import read_text
from callboard.cli.output import remark
from callboard.core.errors import InvalidInput
from callboard.models.credentials import Secret

_WARNING = (
    "Warning: a key on the command line stays in the shell's history and shows in the list of "
    "processes. Better: the prompt, or `--key-file -`."
)


def take_key(title: str, api_key: str | None, key_file: str | None) -> Secret:
    """Return the key a user gives for a provider."""
    if api_key is not None and key_file is not None:
        raise InvalidInput("Two keys are given", fix="Use --api-key or --key-file, not both.")
    if api_key is not None:
        remark(_WARNING)
        return Secret(api_key.strip())
    if key_file is not None:
        return Secret(read_text(key_file).strip())
    if not sys.stdin.isatty():
        raise InvalidInput(
            "There is no terminal to ask for the key on",
            fix="Pipe it in: `callboard auth PROVIDER --key-file - < FILE`.",
        )
    return Secret(getpass(f"API key of {title} (it is not shown): ").strip())
