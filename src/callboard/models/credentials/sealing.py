"""Sealing: bytes that only this user on this machine can open again. No password is involved.

What the key is made of can be read by whoever can run programs as this user. It protects a copied
or published file, not an account somebody else has taken over.
"""

import base64
import json
import secrets
from typing import Any, Final, cast

from callboard.core.canonical import canonical_json

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
