"""One JSON text per value, and its hash: what input hashes, receipts and blobs are made of."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

Json = Any
"""Any value JSON can hold; `Any` because a recursive alias helps no reader at this edge."""

_encoder: Final = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
)
_plain_encoder: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def canonical_json(value: Any) -> str:
    """Render a JSON value with sorted keys and no spaces; refuse NaN and unknown types."""
    return _encoder.encode(value)


def compact_json(value: Any) -> str:
    """Render a JSON value without spaces, keys in their own order."""
    return _plain_encoder.encode(value)


def digest_bytes(data: bytes) -> str:
    """Return the lower-case SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def digest(value: Any) -> str:
    """Return the SHA-256 of a JSON value's canonical text."""
    return digest_bytes(_encoder.encode(value).encode("utf-8", "surrogatepass"))


def plain(value: Any) -> Json:
    """Return the nearest JSON value, naming by `str` what JSON cannot hold; never fails."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {str(key): plain(each) for key, each in items}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in cast("Iterable[Any]", value)]
    return str(value)
