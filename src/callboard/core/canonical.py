"""One text per value: canonical JSON with its hash, and composed Unicode.

Input hashes, receipts and blobs are made of it.

Python sorts the marks that stand on one letter by moving each past all others: sixty thousand of
them take half a minute. No script needs more than a few, and Unicode's own stream-safe form allows
thirty; here what comes after them is dropped first.
"""

import hashlib
import json
import json.encoder
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal, cast

Json = Any
"""Any value JSON can hold; `Any` because a recursive alias helps no reader at this edge."""


def _encoder(*, sort_keys: bool) -> Callable[[Any, int], Iterable[str]]:
    """Return the C encoder behind `json.dumps`, made once instead of once per value."""
    plain = json.JSONEncoder(
        ensure_ascii=False, sort_keys=sort_keys, separators=(",", ":"), allow_nan=False
    )
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return lambda value, _level: (plain.encode(value),)
    quote: Any = json.encoder.encode_basestring
    return make(None, plain.default, quote, None, ":", ",", sort_keys, False, False)


_ASCII: Final[dict[str, Any]] = {"ensure_ascii": True, "separators": (",", ":")}
_canonical: Final = _encoder(sort_keys=True)
_compact: Final = _encoder(sort_keys=False)


def canonical_json(value: Any) -> str:
    """Render a JSON value with sorted keys and no spaces; refuse NaN and unknown types."""
    text = "".join(_canonical(value, 0))
    return text if _is_unicode(text) else json.dumps(json.loads(text), **_ASCII, sort_keys=True)


def compact_json(value: Any) -> str:
    """Render a JSON value without spaces, keys in their own order."""
    text = "".join(_compact(value, 0))
    return text if _is_unicode(text) else json.dumps(json.loads(text), **_ASCII)


def _is_unicode(text: str) -> bool:
    """Say whether a text can be stored; half a surrogate pair must be written as an escape."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def digest_bytes(data: bytes) -> str:
    """Return the lower-case SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def digest(value: Any) -> str:
    """Return the SHA-256 of a JSON value's canonical text."""
    return digest_bytes(canonical_json(value).encode())


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


MOST_MARKS: Final = 30
# Marks are neither letters nor blanks; runs of signs are found as well, and left as they are.
_RUN: Final = re.compile(rf"[^\w\s\x00-\x7f]{{{MOST_MARKS + 1},}}+")


def composed(text: str, form: Literal["NFC", "NFD", "NFKC", "NFKD"] = "NFKC") -> str:
    """Return a text in a Unicode normal form."""
    if text.isascii():
        return text
    return unicodedata.normalize(form, _RUN.sub(_few_marks, text))


def _few_marks(run: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for char in run[0]:
        marks = marks + 1 if unicodedata.combining(char) else 0
        if marks <= MOST_MARKS:
            kept.append(char)
    return "".join(kept)
