"""Durations and sizes as people write them. Refuses anything that is not clearly one."""

import math
import re
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, WithJsonSchema

_SECONDS_PER_UNIT: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_BYTES_PER_UNIT: Final = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
}
_DURATION_PART: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*")
_DURATION: Final = re.compile(rf"(?:{_DURATION_PART.pattern})+")
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?i?b|)", re.IGNORECASE)


def parse_seconds(value: Any) -> float:
    """Read `500ms`, `90s`, `1h30m`, `7d` or a plain number of seconds."""
    text = value.strip().lower() if isinstance(value, str) else ""
    if _NUMBER.fullmatch(text):
        seconds = float(text)
    elif _DURATION.fullmatch(text):
        parts = _DURATION_PART.findall(text)
        seconds = sum(float(number) * _SECONDS_PER_UNIT[unit] for number, unit in parts)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        seconds = float(value)
    else:
        raise ValueError("write a duration like 500ms, 90s, 1h30m, or a number of seconds")
    if not math.isfinite(seconds) or seconds < 0:
        raise ValueError("a duration is a number of seconds, zero or more")
    return seconds


def parse_bytes(value: Any) -> int:
    """Read `10MB`, `512KiB`, `1.5GB` or a plain number of bytes."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    match = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise ValueError("write a size like 10MB, 512KiB, or a number of bytes")
    return round(float(match[1]) * _BYTES_PER_UNIT[match[2].lower()])


def format_seconds(seconds: float) -> str:
    """Render seconds so that `parse_seconds` reads them back."""
    for unit in ("d", "h", "m"):
        count = seconds / _SECONDS_PER_UNIT[unit]
        if count >= 2 and count.is_integer():
            return f"{count:.0f}{unit}"
    if 0 < seconds < 1:
        return f"{seconds * 1000:g}ms"
    return f"{seconds:.3f}".rstrip("0").rstrip(".") + "s"


def format_bytes(size: int) -> str:
    """Render a size so that `parse_bytes` reads it back."""
    for unit in ("TB", "GB", "MB", "KB"):
        factor = _BYTES_PER_UNIT[unit.lower()]
        if size >= factor and size % factor == 0:
            return f"{size // factor}{unit}"
    return f"{size}B"


Seconds = Annotated[
    float,
    BeforeValidator(parse_seconds),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": 0},
                {"type": "string", "pattern": r"^\s*(\d+(\.\d+)?\s*(ms|s|m|h|d)\s*)+$"},
            ]
        }
    ),
]
"""A duration in seconds, written as a number or like `500ms`."""

Bytes = Annotated[
    int,
    BeforeValidator(parse_bytes),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0},
                {"type": "string", "pattern": r"^\s*\d+(\.\d+)?\s*[KMGTkmgt]?[Ii]?[Bb]\s*$"},
            ]
        }
    ),
]
"""A size in bytes, written as a number or like `10MB`."""
