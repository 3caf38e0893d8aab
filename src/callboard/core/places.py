"""Places: where the user's own folders lie, and addresses as they may be shown. Touches no disk."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final


def config_dir(environment: Mapping[str, str]) -> Path:
    """Return the folder of the user's own settings."""
    chosen = environment.get("CALLBOARD_CONFIG_DIR")
    if chosen:
        return Path(chosen)
    from platformdirs import user_config_path

    return user_config_path("callboard", appauthor=False)


def data_dir(environment: Mapping[str, str]) -> Path:
    """Return the folder of what Callboard keeps for the user beside all projects."""
    chosen = environment.get("CALLBOARD_DATA_DIR")
    if chosen:
        return Path(chosen)
    from platformdirs import user_data_path

    return user_data_path("callboard", appauthor=False)


def cache_dir(environment: Mapping[str, str]) -> Path:
    """Return the folder of what can be fetched again."""
    chosen = environment.get("CALLBOARD_CACHE_DIR")
    if chosen:
        return Path(chosen)
    from platformdirs import user_cache_path

    return user_cache_path("callboard")


_PARAMETER: Final = re.compile(r"password=[^\s&\"']+")
_USER: Final = re.compile(r"(?<=://)[^/?#\s\"'<>]*@")


def without_user(text: str) -> str:
    """Return a text in which no URL shows a user name or a password."""
    if "password=" in text:
        text = _PARAMETER.sub("password=(hidden)", text)
    return _USER.sub("(hidden)@", text) if "@" in text and "://" in text else text
