"""Taking a key from the user: asked for without showing it, from a file, or if need be as is."""

import sys
from dataclasses import dataclass
from getpass import getpass

from callboard.cli.arguments import read_text
from callboard.cli.output import remark
from callboard.core.errors import InvalidInput
from callboard.models.credentials import Secret, service_account

_WARNING = (
    "Warning: a key on the command line stays in the shell's history and shows in the list of "
    "processes. Better: the prompt, or `--key-file -`."
)


@dataclass(frozen=True, slots=True)
class Given:
    """The ways in which a key may be given; without any it is asked for."""

    api_key: str | None = None
    key_file: str | None = None
    credentials_file: str | None = None


def take_key(title: str, given: Given) -> Secret:
    """Return the key a user gives for a provider."""
    api_key, key_file = given.api_key, given.key_file
    if sum(each is not None for each in (api_key, key_file, given.credentials_file)) > 1:
        raise InvalidInput(
            "Two keys are given", fix="Use one of --api-key, --key-file and --credentials-file."
        )
    if given.credentials_file is not None:
        return service_account(read_text(given.credentials_file))
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
