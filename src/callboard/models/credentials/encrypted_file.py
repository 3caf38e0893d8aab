"""Keys in an encrypted file, for machines without a keyring, sealed for this user on this machine.

No password is involved. Never overwrites what it cannot read.

Beside `credentials.enc` lies `credentials.salt`, made once; both are readable by their owner only.

What the key is made of can be read by whoever can run programs as this user. It protects a copied
or published file, not an account somebody else has taken over.
"""

import base64
import json
import os
import re
import secrets
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, cast

from callboard.core.canonical import canonical_json
from callboard.models.credentials.secret import Secret
from callboard.models.credentials.source import CredentialsUnreadable, CredentialsUnusable
from callboard.store.files import locked_folder, write_atomically
from callboard.store.reading import FileRefused, read_bounded

_FORMAT: Final = "callboard-credentials"
_VERSION: Final = 1
_KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
SALT_BYTES: Final = 32
# Fixed by the version and never read from the file: a stranger's file must not choose how much
# memory opening it takes.
_ITERATIONS: Final = 1
_MEMORY_KIB: Final = 65_536
_LANES: Final = 4


class BrokenSeal(Exception):
    """The bytes are not ours, not for this machine, or no longer what was sealed."""


def derive_key(machine: str, user: str, salt: bytes) -> bytes:
    """Make the 256-bit key for this machine, this user and this installation (Argon2id)."""
    from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

    kdf = Argon2id(
        salt=salt,
        length=_KEY_BYTES,
        iterations=_ITERATIONS,
        lanes=_LANES,
        memory_cost=_MEMORY_KIB,
    )
    # As JSON, so that no other pair of machine and user makes the same text.
    return kdf.derive(canonical_json([machine, user]).encode())


def seal(content: bytes, key: bytes) -> bytes:
    """Encrypt and authenticate (AES-256-GCM)."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = secrets.token_bytes(_NONCE_BYTES)
    sealed = AESGCM(key).encrypt(nonce, content, _header(_VERSION))
    body = {
        "format": _FORMAT,
        "version": _VERSION,
        "cipher": "aes-256-gcm",
        "key": "argon2id over machine, user and credentials.salt",
        "nonce": base64.b64encode(nonce).decode(),
        "sealed": base64.b64encode(sealed).decode(),
    }
    return json.dumps(body, indent=1).encode() + b"\n"


def open_seal(data: bytes, key: bytes) -> bytes:
    """Return what was sealed; whatever is wrong with it is a `BrokenSeal`."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        body: Any = json.loads(data)
        fields = cast("dict[str, Any]", body)
        if fields["format"] != _FORMAT:
            raise BrokenSeal("it is not a file of Callboard's")
        if fields["version"] != _VERSION:
            raise BrokenSeal("it was written by another version of Callboard")
        nonce = base64.b64decode(fields["nonce"], validate=True)
        sealed = base64.b64decode(fields["sealed"], validate=True)
        return AESGCM(key).decrypt(nonce, sealed, _header(_VERSION))
    except InvalidTag:
        raise BrokenSeal("it was made on another machine or by another user, or altered") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BrokenSeal("it is damaged") from None


def _header(version: int) -> bytes:
    return f"{_FORMAT}/{version}".encode()


_LINUX_FILES: Final = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
_IOREG: Final = ("/usr/sbin/ioreg", "-rd1", "-c", "IOPlatformExpertDevice")


def machine_id(linux_files: tuple[Path, ...] = _LINUX_FILES) -> str:
    """Return the machine's own id; without one no key can be tied to it."""
    readers = {"darwin": _mac_id, "win32": _windows_id}
    found = readers.get(sys.platform, lambda: _linux_id(linux_files))()
    if not found:
        raise CredentialsUnusable(
            "This machine has no id, so a file of keys cannot be tied to it.",
            fix="Give the key in its environment variable, or run `systemd-machine-id-setup`.",
        )
    return found


def user_name() -> str:
    """Return who runs this process, by the system's account and not by a variable."""
    try:
        import pwd
    except ImportError:
        import getpass

        return getpass.getuser()
    user_id = os.getuid()
    try:
        return pwd.getpwuid(user_id).pw_name
    except KeyError:
        return str(user_id)


def _linux_id(files: tuple[Path, ...]) -> str:
    for file in files:
        try:
            found = file.read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            continue
        # Images that make their id at the first start hold this word until then.
        if found and found != "uninitialized":
            return found
    return ""


def _mac_id() -> str:
    try:
        done = subprocess.run(_IOREG, capture_output=True, text=True, check=True, timeout=10)  # noqa: S603 - a fixed command
    except (OSError, subprocess.SubprocessError):
        return ""
    match = re.search(r'"IOPlatformUUID"\s*=\s*"([^"]+)"', done.stdout)
    return match.group(1) if match else ""


def _windows_id() -> str:
    from importlib import import_module

    registry: Any = import_module("winreg")
    try:
        path = r"SOFTWARE\Microsoft\Cryptography"
        with registry.OpenKey(registry.HKEY_LOCAL_MACHINE, path) as folder:
            return str(registry.QueryValueEx(folder, "MachineGuid")[0])
    except OSError:
        return ""


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
