"""Signing: the project's secret key, and signatures that say which key made them.

The key never leaves this module: not in errors, not in `repr`, not in a log.
"""

import hashlib
import hmac
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from callboard.tools.audit.folder import Trail, locked
from callboard.tools.errors import SecretUnusable

SIGNATURE_ALGORITHM: Final = "hmac-sha256"
_KEY_BYTES: Final = 32


class Signer:
    """Signs and checks texts for one project; the key is made when the first text is signed."""

    def __init__(self, trail: Trail) -> None:
        """Take where the keys lie."""
        self.path = trail.key
        self._loaded: bytes | None = None
        self._adopted = None if trail.adopted is None else _read_key(trail.adopted)

    def sign(self, purpose: str, text: str) -> str:
        """Return `algorithm:key id:hex`; a signature for one purpose is worthless for another."""
        return f"{SIGNATURE_ALGORITHM}:{_key_id(self._key)}:{_mac(self._key, purpose, text)}"

    def is_valid(self, purpose: str, text: str, signature: str) -> bool:
        """Say whether this project's key signed exactly this text."""
        return any(
            _is_made_with(key, purpose, text, signature)
            for key in (self._present_key, self._adopted)
            if key is not None
        )

    def is_adopted(self, signature: str) -> bool:
        """Say whether a signature names the key that came with the project."""
        key = self._adopted
        return key is not None and signature.split(":")[1:2] == [_key_id(key)]

    def make(self) -> None:
        """Make the key now if there is none."""
        _ = self._key

    def derive(self, purpose: str) -> bytes:
        """Return a key of its own for another use, made from this one; made now if need be."""
        return hmac.new(self._key, f"derive\n{purpose}".encode(), hashlib.sha256).digest()

    @property
    def key_id(self) -> str:
        """Which key this is, without telling it; made now if need be."""
        return _key_id(self._key)

    @property
    def has_key(self) -> bool:
        """Whether there is a key to check signatures with."""
        return self._present_key is not None

    def made_with_this_key(self, signature: str) -> bool:
        """Say whether a signature names the present key, valid or not."""
        key = self._present_key
        return key is not None and signature.split(":")[1:2] == [_key_id(key)]

    def is_private(self) -> bool:
        """Say whether nobody but the owner can read the key."""
        try:
            return not stat.S_IMODE(self.path.stat().st_mode) & 0o077
        except FileNotFoundError:
            return True

    @property
    def _key(self) -> bytes:
        if self._loaded is None:
            self._loaded = _read_key(self.path) or _make_key(self.path)
        return self._loaded

    @property
    def _present_key(self) -> bytes | None:
        # Checking must never make a key: a fresh one would hide that the old one is gone.
        if self._loaded is None:
            self._loaded = _read_key(self.path)
        return self._loaded


def _is_made_with(key: bytes, purpose: str, text: str, signature: str) -> bool:
    expected = f"{SIGNATURE_ALGORITHM}:{_key_id(key)}:{_mac(key, purpose, text)}"
    return hmac.compare_digest(expected.encode(), signature.encode("utf-8", "surrogatepass"))


def _mac(key: bytes, purpose: str, text: str) -> str:
    message = f"{purpose}\n{text}".encode("utf-8", "surrogatepass")
    return hmac.new(key, message, hashlib.sha256).hexdigest()


def _key_id(key: bytes) -> str:
    return hashlib.sha256(b"key id\n" + key).hexdigest()[:8]


def _read_key(path: Path) -> bytes | None:
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SecretUnusable(
            f"The signing key {path} cannot be read: {os.strerror(error.errno or 0)}",
            fix="Make yourself the owner of the file, with mode 0600.",
        ) from error
    with os.fdopen(opened, "rb") as stream:
        text = stream.read(4 * _KEY_BYTES).strip()
    try:
        key = bytes.fromhex(text.decode("ascii"))
    except ValueError:
        key = b""
    if len(key) != _KEY_BYTES:
        raise SecretUnusable(
            f"The signing key {path} is damaged",
            fix="Restore it from a backup; receipts signed so far cannot be checked without it.",
        )
    return key


def _make_key(path: Path) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with locked(folder):
            existing = _read_key(path)
            if existing is not None:
                return existing
            key = secrets.token_bytes(_KEY_BYTES)
            _publish(path.name, key.hex().encode("ascii") + b"\n", folder)
            return key
    except PermissionError as error:
        raise SecretUnusable(
            f"The signing key {path} cannot be made: {os.strerror(error.errno or 0)}",
            fix=f"Give yourself write permission for {path.parent}.",
        ) from error
    finally:
        os.close(folder)


def _publish(name: str, data: bytes, folder: int) -> None:
    # Renamed into place complete, so that no reader ever sees half a key.
    temporary = f".{name}.{secrets.token_hex(8)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with os.fdopen(os.open(temporary, flags, 0o600, dir_fd=folder), "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    os.fsync(folder)
