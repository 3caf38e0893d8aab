"""The tiny decisions of a template in parts: whether there is anything to say, and how it ends."""

import re
from typing import Any, Final, cast

from callboard.choreography.answers import one_of, schema_of
from callboard.core.canonical import Json

TRIAGE: Final = "triage"
VERDICT: Final = "verdict"
FAIL: Final = "FAIL"

_CHOICES: Final = {TRIAGE: ["yes", "no"], VERDICT: ["PASS", FAIL]}
_FIRST_WORD: Final = re.compile(r"[A-Za-z]+")
_PASS_OR_FAIL: Final = re.compile(r"\b(PASS|FAIL)\b", re.IGNORECASE)
_VERDICT_LINE: Final = re.compile(
    r"^[ \t>*_#-]*verdict[ \t*_]*:.*$\n?", re.IGNORECASE | re.MULTILINE
)


def choice_schema(part: str) -> dict[str, Json] | None:
    """Return what a model may answer to a part, or None if it may say anything."""
    options = _CHOICES.get(part)
    return None if options is None else schema_of(one_of(options))


def choice_of(output: Json) -> str:
    """Return what was chosen; a human may have put a bare word in its place."""
    data: Any = cast(Any, output).get("data") if isinstance(output, dict) else output
    return str(cast(Any, data)["choice"] if isinstance(data, dict) else data)


def declines(triage: str) -> bool:
    """Say whether an agent finds nothing to do."""
    first = _FIRST_WORD.search(triage)
    return first is not None and first[0].upper() in ("NO", "ABSTAIN")


def with_verdict(text: str, said: str) -> str:
    """Return a text that ends in the verdict that was given; what is not clear is left out."""
    found = {word.upper() for word in _PASS_OR_FAIL.findall(said)}
    if len(found) != 1:
        return text
    return f"{_VERDICT_LINE.sub('', text).rstrip()}\n\nVerdict: {found.pop()}"
