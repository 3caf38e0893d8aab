"""Glob patterns over project paths: `*` within a folder, `**` across folders, `?` and `[…]`.

Agents and strangers write them; many stars in one of them must not make a path take for ever.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from callboard.core.errors import InvalidInput
from callboard.core.patterns import MOST_CHARS, LinearPattern, UnusablePattern

# Matches nothing.
_NEVER: Final = r"[^\x00-\U0010FFFF]"


@lru_cache(maxsize=256)
def compile_glob(pattern: str) -> Callable[[str], bool]:
    """Return what says whether a project-relative path matches as a whole."""
    if pattern == "**":
        return _anything
    pieces: list[str] = []
    rest = pattern.removeprefix("./")
    while rest:
        piece, rest = _next_piece(rest)
        pieces.append(piece)
    try:
        return LinearPattern("(?s)" + "".join(pieces)).fullmatch
    except UnusablePattern as error:
        raise InvalidInput(
            f"The path pattern {pattern[:80]!r} cannot be used: it is too long",
            fix=f"Write at most {MOST_CHARS // 4} characters, e.g. Story/**/*.md.",
        ) from error


def _anything(path: str) -> bool:
    return True


def _next_piece(rest: str) -> tuple[str, str]:
    if rest.startswith("**/"):
        return "(?:[^/]+/)*", rest[3:]
    if rest.startswith("**"):
        return ".*", rest[2:]
    if rest[0] == "*":
        return "[^/]*", rest[1:]
    if rest[0] == "?":
        return "[^/]", rest[1:]
    closing = rest.find("]", 2)
    if rest[0] == "[" and closing > 0:
        return _character_class(rest[1:closing]), rest[closing + 1 :]
    return _character(rest[0]), rest[1:]


def _character_class(inside: str) -> str:
    negated = inside[0] == "!"
    ranges = list(_ranges(inside[1:] if negated else inside))
    # A range the wrong way round matches nothing instead of being an error.
    if not ranges or any(first > last for first, last in ranges):
        return _NEVER
    if negated:
        return f"[^/{''.join(_range(*each) for each in ranges)}]"
    # A folder ends a name, whatever a range reaches over.
    kept = "".join(
        _range(*part)
        for first, last in ranges
        for part in ((first, min(last, ".")), (max(first, "0"), last))
        if part[0] <= part[1]
    )
    return f"[{kept}]" if kept else _NEVER


def _ranges(body: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(body):
        if body[at + 1 : at + 2] == "-" and at + 2 < len(body):
            found.append((body[at], body[at + 2]))
            at += 3
        else:
            found.append((body[at], body[at]))
            at += 1
    return found


def _range(first: str, last: str) -> str:
    return _character(first) if first == last else f"{_character(first)}-{_character(last)}"


def _character(char: str) -> str:
    if char.isalnum() or char in "/_ ":
        return char
    return f"\\{char}" if char.isascii() and char.isprintable() else f"\\U{ord(char):08x}"
