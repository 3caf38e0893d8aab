"""Keys in an encrypted file, for machines without a keyring. Never overwrites what it cannot read.

Beside `credentials.enc` lies `credentials.salt`, made once; both are readable by their owner only.
"""

import json
import secrets
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, cast

from callboard.core.canonical import canonical_json
from callboard.models.credentials.errors import CredentialsUnreadable, CredentialsUnusable
from callboard.models.credentials.machine import machine_id, user_name
from callboard.models.credentials.sealing import (
    SALT_BYTES,
    BrokenSeal,
    derive_key,
    open_seal,
    seal,
)
from callboard.models.credentials.secret import Secret
from callboard.store.files import locked_folder, write_atomically
from callboard.store.reading import FileRefused, read_bounded

FILE_NAME: Final = "credentials.enc"
SALT_NAME: Final = "credentials.salt"
_LARGEST_BYTES: Final = 1_000_000

_Entries = dict[str, dict[str, str]]
"""Profile to provider to key."""


class EncryptedFile:
    """The file of keys in one folder."""

    def __init__(
        self,
        folder: Path,
        *,
        machine: Callable[[], str] = machine_id,
        user: Callable[[], str] = user_name,
    ) -> None:
        """Take the folder, and what ties the file to this machine and user."""
        self.path = folder / FILE_NAME
        self.salt_path = folder / SALT_NAME
        self._machine = machine
        self._user = user
        # Making a key takes a tenth of a second on purpose; kept with the salt it belongs to.
        self._made: tuple[bytes, bytes] | None = None

    def get(self, profile: str, account: str) -> Secret | None:
        """Return a key, or nothing if there is none."""
        value = self._read().get(profile, {}).get(account)
        return Secret(value) if value else None

    def set(self, profile: str, account: str, secret: Secret) -> None:
        """Store a key."""
        with self._changing() as entries:
            entries.setdefault(profile, {})[account] = secret.reveal()
            self._write(entries)

    def delete(self, profile: str, account: str) -> bool:
        """Forget a key and say whether there was one."""
        if not self.path.exists():
            return False
        with self._changing() as entries:
            known = entries.get(profile, {})
            if known.pop(account, None) is None:
                return False
            if not known:
                entries.pop(profile)
            self._write(entries)
        return True

    @contextmanager
    def _changing(self) -> Generator[_Entries]:
        """Read while nobody else can write; what two processes store is both there."""
        try:
            with locked_folder(self.path.parent):
                yield self._read()
        except OSError as error:
            raise CredentialsUnusable(
                f"{self.path} cannot be written: {error.strerror or error}",
                fix="Give yourself write permission, or give keys in environment variables.",
                path=str(self.path),
            ) from error

    def _read(self) -> _Entries:
        data = _bytes_of(self.path)
        if data is None:
            return {}
        salt = _bytes_of(self.salt_path)
        if salt is None or len(salt) != SALT_BYTES:
            raise self._unreadable(f"its {self.salt_path.name} is gone or damaged")
        try:
            content: Any = json.loads(open_seal(data, self._key(salt)))
        except BrokenSeal as broken:
            raise self._unreadable(str(broken)) from None
        return cast(_Entries, content)

    def _write(self, entries: _Entries) -> None:
        salt = _bytes_of(self.salt_path)
        # A file that needs the salt has been read by now: a bad one belongs to nothing.
        if salt is None or len(salt) != SALT_BYTES:
            salt = secrets.token_bytes(SALT_BYTES)
            write_atomically(self.salt_path, salt)
        write_atomically(self.path, seal(canonical_json(entries).encode(), self._key(salt)))

    def _key(self, salt: bytes) -> bytes:
        if self._made is None or self._made[0] != salt:
            self._made = salt, derive_key(self._machine(), self._user(), salt)
        return self._made[1]

    def _unreadable(self, reason: str) -> CredentialsUnreadable:
        return CredentialsUnreadable(
            f"The stored keys in {self.path} cannot be opened: {reason}.",
            fix=f"Restore it from a backup of this machine, or delete {self.path.name} there and "
            "store your keys again with `callboard auth PROVIDER`.",
            path=str(self.path),
        )


def _bytes_of(path: Path) -> bytes | None:
    try:
        return read_bounded(path, limit_bytes=_LARGEST_BYTES)
    except FileNotFoundError:
        return None
    except FileRefused as refused:
        raise CredentialsUnreadable(
            refused.message,
            fix="Make yourself the owner of the file, with mode 0600.",
            path=str(path),
        ) from refused
