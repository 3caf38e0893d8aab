"""The manner of a message, checked by rules alone: what the Foreman must not sound like."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from callboard.core.bundled import bundled_yaml

MISSING_NEXT_STEP: Final = "missing_next_step"
_PACKAGE: Final = "callboard.packs.writers_factory"
_LEADING: Final = re.compile(r"^[\s*_#>\"“'(]+")
_QUOTED: Final = re.compile(r"^[ \t]*>.*$|\"[^\"\n]*+\"|“[^“”\n]*+”", re.MULTILINE)
_PARAGRAPH: Final = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True, slots=True)
class _Rules:
    openers: tuple[tuple[str, re.Pattern[str]], ...]
    anywhere: tuple[tuple[str, re.Pattern[str]], ...]
    next_step: tuple[re.Pattern[str], ...]


def style_lint(message: str) -> tuple[str, ...]:
    """Return the ids of the rules a message breaks, each once; the same text, the same ids."""
    rules = _rules()
    # What is quoted is somebody else's manner.
    own = _QUOTED.sub(" ", message)
    opening = _LEADING.sub("", own)
    found = [name for name, pattern in rules.openers if pattern.match(opening)]
    found += [name for name, pattern in rules.anywhere if pattern.search(own)]
    if not has_next_step(message):
        found.append(MISSING_NEXT_STEP)
    return tuple(dict.fromkeys(found))


def has_next_step(message: str) -> bool:
    """Say whether the last paragraph asks, proposes, or says what happens now."""
    paragraphs = [part for part in _PARAGRAPH.split(message.strip()) if part.strip()]
    if not paragraphs:
        return False
    return any(pattern.search(paragraphs[-1]) for pattern in _rules().next_step)


@cache
def _rules() -> _Rules:
    loaded: dict[str, Any] = bundled_yaml(_PACKAGE, "prompts/style.yaml")
    return _Rules(
        _compiled(loaded["openers"]),
        _compiled(loaded["anywhere"]),
        tuple(re.compile(each, re.IGNORECASE | re.MULTILINE) for each in loaded["next_step"]),
    )


def _compiled(rules: dict[str, list[str]]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (name, re.compile(each, re.IGNORECASE)) for name, listed in rules.items() for each in listed
    )
