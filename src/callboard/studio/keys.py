"""Keys and addresses of model providers, as the settings in force describe them."""

import re
from collections.abc import Mapping

from callboard.core.errors import InvalidInput
from callboard.core.places import config_dir
from callboard.core.settings import LoadedSettings, Settings
from callboard.core.settings.model import PROFILE_PATTERN, ProviderSettings
from callboard.models import ProviderConfig
from callboard.models.credentials import (
    KEY_VARIABLES,
    Credentials,
    Ties,
    UnknownProvider,
    account_of,
)
from callboard.models.credentials.secret import Scrubber
from callboard.studio.project import Project


def open_credentials(
    settings: Settings,
    environment: Mapping[str, str],
    profile: str | None = None,
    *,
    project: Project | None = None,
) -> Credentials:
    """Return the keys of the user, in the profile of the settings unless another is named.

    `project` may have keys of its own.
    """
    name = settings.profile if profile is None else profile
    if not re.fullmatch(PROFILE_PATTERN, name):
        raise InvalidInput(
            f"{name!r} is no name for a profile",
            fix="Use up to 64 letters, digits, dots, dashes and underscores.",
        )
    own = None if project is None else project.local
    return Credentials.open(environment, config_dir(environment), name, project=own)


def open_ties(environment: Mapping[str, str]) -> Ties:
    """Return to which addresses the user lets keys go."""
    return Ties(config_dir(environment))


def provider_configs(loaded: LoadedSettings) -> dict[str, ProviderConfig]:
    """Return how the settings say that providers are reached, and what of it the user said."""
    nothing = ProviderSettings()
    own = loaded.own.models.providers
    return {
        name: ProviderConfig(
            base_url=provider.base_url,
            api_key_env=provider.api_key_env,
            enabled=provider.enabled,
            aliases=provider.aliases,
            is_url_own=provider.base_url == own.get(name, nothing).base_url,
            is_key_own=provider.api_key_env == own.get(name, nothing).api_key_env,
        )
        for name, provider in loaded.settings.models.providers.items()
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
