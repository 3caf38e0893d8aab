"""Heights: feet and inches, metres and centimetres, all in centimetres."""

import re
from typing import Final

from callboard.library.story.facts.values.numbers import NUMBER, number_of

_CM_PER_INCH: Final = 2.54
_FEET: Final = re.compile(
    rf"({NUMBER})[ -]?(?:feet|foot|ft\.?|['\u2032’])"
    rf"(?:[ ,-]*(?:and )?({NUMBER})(?!\w)(?:[ -]?(?:inches|inch|in\.?|[\"\u2033”]))?"
    r"|( and a half))?",
    re.IGNORECASE,
)
_METRES: Final = re.compile(r"(\d)[.,](\d{1,2}) ?m(?:et(?:re|er)s?)?\b", re.IGNORECASE)
_CENTIMETRES: Final = re.compile(r"(\d{2,3}) ?(?:cm|centimet(?:re|er)s?)\b", re.IGNORECASE)
HEIGHT: Final = (
    rf"(?:\d[.,]\d{{1,2}} ?m(?:et(?:re|er)s?)?\b|\d{{2,3}} ?(?:cm|centimet(?:re|er)s?)\b"
    rf"|{NUMBER}[ -]?(?:feet|foot|ft\.?|['\u2032’])"
    rf"(?:[ ,-]*(?:and )?{NUMBER}(?!\w)(?:[ -]?(?:inches|inch|in\.?|[\"\u2033”]))?| and a half)?)"
)


def centimetres(text: str) -> int | None:
    """Return the height a text tells; None when it tells none or nobody is that tall."""
    found = _metric(text) or _imperial(text)
    return found if found and 30 <= found <= 400 else None


def _metric(text: str) -> int | None:
    if match := _METRES.search(text):
        return int(match[1]) * 100 + int(match[2].ljust(2, "0"))
    if match := _CENTIMETRES.search(text):
        return int(match[1])
    return None


def _imperial(text: str) -> int | None:
    match = _FEET.search(text)
    if not match:
        return None
    feet = number_of(match[1])
    inches = 6 if match[3] else number_of(match[2] or "0")
    if feet is None or inches is None or inches > 11:
        return None
    return round((feet * 12 + inches) * _CM_PER_INCH)
