"""Keys and addresses of model providers, as the settings in force describe them."""

import re
from collections.abc import Mapping
from pathlib import Path

from callboard.core.errors import InvalidInput
from callboard.core.settings import Settings
from callboard.core.settings.model import PROFILE_PATTERN
from callboard.models import ProviderConfig
from callboard.models.credentials import (
    KEY_VARIABLES,
    Credentials,
    UnknownProvider,
    account_of,
)
from callboard.models.credentials.secret import Scrubber
from callboard.studio.configuration import user_config_dir
from callboard.studio.project import Project


def open_credentials(
    settings: Settings,
    environment: Mapping[str, str],
    profile: str | None = None,
    *,
    project: Path | None = None,
) -> Credentials:
    """Return the keys of the user, in the profile of the settings unless another is named.

    `project` is the root of a project that may have keys of its own.
    """
    name = settings.profile if profile is None else profile
    if not re.fullmatch(PROFILE_PATTERN, name):
        raise InvalidInput(
            f"{name!r} is no name for a profile",
            fix="Use up to 64 letters, digits, dots, dashes and underscores.",
        )
    own = None if project is None else Project(project).local
    return Credentials.open(environment, user_config_dir(environment), name, project=own)


def provider_configs(settings: Settings) -> dict[str, ProviderConfig]:
    """Return how the settings say that providers are reached."""
    return {
        name: ProviderConfig(
            base_url=provider.base_url,
            api_key_env=provider.api_key_env,
            enabled=provider.enabled,
            aliases=provider.aliases,
        )
        for name, provider in settings.models.providers.items()
    }


def key_names(settings: Settings) -> list[tuple[str, tuple[str, ...]]]:
    """Return every provider that may have a key, with the variables that may hold it."""
    names = dict(KEY_VARIABLES)
    for name, provider in settings.models.providers.items():
        account = account_of(name)
        own = provider.api_key_env
        names[account] = (own,) if own is not None else names.get(account, ())
    return list(names.items())


def require_provider(settings: Settings, name: str) -> tuple[str, tuple[str, ...]]:
    """Return the name a provider's key is kept under, with its variables."""
    from difflib import get_close_matches

    known = dict(key_names(settings))
    account = account_of(name)
    if account in known:
        return account, known[account]
    # What was typed may be a key that went to the wrong place.
    typed = Scrubber().scrub(name)
    close = get_close_matches(name, known, n=1)
    hint = f"Did you mean `{close[0]}`? " if close else ""
    raise UnknownProvider(
        f"There is no provider {typed!r} that takes a key",
        fix=f"{hint}Known are {', '.join(known)}; a name of your own needs a `base_url` "
        "under `models.providers` in your settings.",
        provider=typed,
    )
