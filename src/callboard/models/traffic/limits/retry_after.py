"""How long a provider asks us to wait, read from its headers. Refuses what makes no sense."""

import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

LONGEST_PAUSE_SECONDS: Final = 31 * 86_400.0
"""No allowance is refilled more rarely than once a month; a larger number is a mistake."""

_NUMBER: Final = re.compile(r"\d{1,15}(\.\d{1,9})?")


def retry_after_seconds(headers: Mapping[str, str], now_ms: int) -> float | None:
    """Return the wait the headers name; zero, the past and nonsense count as nothing said."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    text = headers.get("retry-after", "").strip()
    seconds = milliseconds / 1000 if milliseconds else _number(text)
    if seconds is None and text:
        seconds = _until_date(text, now_ms)
    if not seconds or seconds <= 0:
        return None
    return min(seconds, LONGEST_PAUSE_SECONDS)


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text.strip()) else None


def _until_date(text: str, now_ms: int) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.timestamp() - now_ms / 1000
    except (ValueError, OverflowError):
        return None
