"""Where profiles are kept: one file per model in the user's data folder.

A profile tells about a model as this machine and this account reach it, so it belongs to the user
and not to a project. A file that cannot be read is as good as none, and is told in the log.
"""

import json
import logging
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from callboard.core.canonical import digest_bytes
from callboard.core.errors import CallboardError
from callboard.core.parsing import decode_text, parse_json
from callboard.core.places import data_dir
from callboard.models.ladder.profile import ModelProfile
from callboard.store.files import locked_folder, write_atomically
from callboard.store.reading import read_bounded

_LARGEST_BYTES: Final = 10_000_000
_log: Final = logging.getLogger(__name__)
_UNSAFE: Final = re.compile(r"[^a-z0-9._-]+")


def profiles_dir(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder for profiles: under `CALLBOARD_DATA_DIR`, else the user's data folder."""
    return data_dir(os.environ if environ is None else environ) / "profiles"


class ProfileShelf:
    """Profiles on disk; a file is read again when it has changed."""

    def __init__(self, folder: Path) -> None:
        """Take the folder; it need not exist."""
        self.folder = folder
        self._read: dict[Path, tuple[tuple[int, int], ModelProfile | None]] = {}

    def path(self, model: str) -> Path:
        """Return where the profile of a model lies, or would lie."""
        # The name is for people; the digest keeps ids apart that look alike as file names.
        name = _UNSAFE.sub("-", model.lower())[:60].strip("-.")
        return self.folder / f"{name}-{digest_bytes(model.encode())[:8]}.json"

    def find(self, model: str) -> ModelProfile | None:
        """Return the profile of a model, if there is a readable one."""
        path = self.path(model)
        try:
            state = path.stat()
        except OSError:
            return None
        stamp = (state.st_mtime_ns, state.st_size)
        known = self._read.get(path)
        if known is None or known[0] != stamp:
            known = self._read[path] = (stamp, _load(path))
        return known[1]

    def save(self, profile: ModelProfile) -> Path:
        """Keep a profile in place of an older one."""
        path = self.path(profile.model)
        text = json.dumps(profile.to_json(), indent=2, ensure_ascii=False)
        # Held, so that what a killed process left half-written is swept.
        with locked_folder(self.folder):
            write_atomically(path, f"{text}\n".encode("utf-8", "replace"))
        return path


def _load(path: Path) -> ModelProfile | None:
    try:
        data = read_bounded(path, limit_bytes=_LARGEST_BYTES)
        return ModelProfile.from_json(parse_json(decode_text(data)))
    except (OSError, CallboardError, ValueError, KeyError, TypeError, AttributeError) as error:
        _log.warning("The profile %s cannot be used: %s", path, error)
        return None
