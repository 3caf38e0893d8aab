"""Providers' keys: which exist and where they lie, never what they are; and one taken unseen."""

import os
import sys
from dataclasses import dataclass
from getpass import getpass
from pathlib import Path

from callboard.cli.arguments import read_text
from callboard.cli.output import remark
from callboard.cli.reports.models import configuration_near
from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput
from callboard.core.settings import LoadedSettings, Settings
from callboard.models import ProviderConfig
from callboard.models.credentials import (
    Credentials,
    KeyStatus,
    KeySurvey,
    Secret,
    Ties,
    service_account,
)
from callboard.studio.keys import (
    key_names,
    open_credentials,
    open_ties,
    provider_configs,
    require_provider,
)


@dataclass(frozen=True, slots=True)
class ProviderAccount:
    """A provider as its key is kept: under which name, in which variables."""

    name: str
    variables: tuple[str, ...]
    config: ProviderConfig


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys that the settings in force here lead to."""

    loaded: LoadedSettings
    credentials: Credentials
    ties: Ties

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.loaded.settings

    @property
    def profile(self) -> str:
        """The set of keys in use."""
        return self.credentials.profile

    def account(self, provider: str) -> ProviderAccount:
        """Return the account of a provider; one nobody knows is an error."""
        name, variables = require_provider(self.settings, provider)
        configs = provider_configs(self.loaded)
        return ProviderAccount(name, variables, configs.get(name, ProviderConfig()))

    def survey(self) -> KeySurvey:
        """Look for the key of every provider."""
        return self.credentials.survey(key_names(self.settings))

    def status(self, account: ProviderAccount) -> KeyStatus:
        """Look for the key of one provider."""
        return self.credentials.survey([(account.name, account.variables)]).keys[0]


def keys_near(project: Path | None, profile: str | None) -> Keys:
    """Return the keys of the user, in the profile of the settings unless another is named."""
    near = configuration_near(project)
    opened = open_credentials(near.settings, os.environ, profile, project=near.project)
    return Keys(near.loaded, opened, open_ties(os.environ))


def status_shape(status: KeyStatus) -> dict[str, Json]:
    """Return what is known of a key as JSON."""
    found = status.found
    return {
        "provider": status.provider,
        "has_key": found is not None,
        "from": status.origin,
        "ending": "" if found is None else found.secret.ending,
        "variables": list(status.variables),
    }


def status_row(status: KeyStatus) -> tuple[str, str, str, str]:
    """Return what is known of a key as a line of a table."""
    shown = "missing" if status.found is None else f"…{status.found.secret.ending}"
    return status.provider, shown, status.origin, " or ".join(status.variables)


_WARNING = (
    "Warning: a key on the command line stays in the shell's history and shows in the list of "
    "processes. Better: the prompt, or `--key-file -`."
)


@dataclass(frozen=True, slots=True)
class GivenKey:
    """The ways in which a key may be given; without any it is asked for."""

    api_key: str | None = None
    key_file: str | None = None
    credentials_file: str | None = None


def take_key(title: str, given: GivenKey) -> Secret:
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
