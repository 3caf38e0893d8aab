"""Seal: the key a ledger is signed with, and where its countersigned end lies.

Both belong to the user, outside of the project: whoever can only write into the project can
neither sign an entry nor take back what the head says.
"""

import hashlib
import hmac
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

MAC_BYTES: Final = 16
ENTRY_PURPOSE: Final = b"callboard entry"
HEAD_PURPOSE: Final = b"callboard head"


@dataclass(frozen=True, slots=True)
class Seal:
    """What a database's ledger is sealed with; `key_id` names the key without telling it."""

    key: bytes = field(repr=False)
    key_id: str
    head: Path

    def mac(self, purpose: bytes, data: bytes) -> bytes:
        """Return what only the holder of the key can make; worthless for another purpose."""
        # The purpose stands in its own field of the hash, at most 16 bytes.
        return hashlib.blake2b(data, digest_size=MAC_BYTES, key=self.key, person=purpose).digest()

    def is_valid(self, purpose: bytes, data: bytes, mac: bytes) -> bool:
        """Say whether this key made exactly this mark."""
        return hmac.compare_digest(self.mac(purpose, data), mac)
