"""Profiles as readable files: `profiles/<name>.yaml`, which providers have a key, and no key ever.

They are notes for people and for listings; whether there is a key is decided where keys lie.
"""

import logging
from pathlib import Path
from typing import Any, Final, cast

from callboard.core.errors import CallboardError
from callboard.core.parsing import decode_text, parse_yaml
from callboard.store.files import locked_folder, write_atomically
from callboard.store.reading import read_bounded

FOLDER_NAME: Final = "profiles"
_LARGEST_BYTES: Final = 1_000_000

_log = logging.getLogger(__name__)


class ProfileFiles:
    """The profiles of one user."""

    def __init__(self, folder: Path) -> None:
        """Take the user's configuration folder."""
        self._folder = folder / FOLDER_NAME

    def names(self) -> tuple[str, ...]:
        """Return the profiles somebody has stored a key in."""
        return tuple(sorted(file.stem for file in self._folder.glob("*.yaml")))

    def read(self, profile: str) -> dict[str, bool]:
        """Return of which providers a profile has credentials; an unreadable file says nothing."""
        try:
            data = read_bounded(self._path(profile), limit_bytes=_LARGEST_BYTES)
            content: Any = parse_yaml(decode_text(data))
            providers = cast("dict[str, Any]", content["providers"])
            return {str(name): bool(each["has_credentials"]) for name, each in providers.items()}
        except FileNotFoundError:
            return {}
        except (OSError, CallboardError, KeyError, TypeError, AttributeError) as error:
            _log.warning("the profile %s cannot be read: %s", profile, type(error).__name__)
            return {}

    def note(self, profile: str, provider: str, *, has_credentials: bool) -> None:
        """Write down that a profile has, or no longer has, credentials of a provider."""
        import yaml

        try:
            with locked_folder(self._folder):
                known = {**self.read(profile), provider: has_credentials}
                content = {
                    "name": profile,
                    "providers": {name: {"has_credentials": known[name]} for name in sorted(known)},
                }
                text = yaml.safe_dump(content, sort_keys=False)
                write_atomically(self._path(profile), text.encode())
        except OSError as error:
            # The key itself is where it belongs; a missing note costs a line in a listing.
            _log.warning("the profile %s was not written: %s", profile, error.strerror or error)

    def _path(self, profile: str) -> Path:
        return self._folder / f"{profile}.yaml"
