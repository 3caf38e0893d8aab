"""Glob patterns over project paths: `*` within a folder, `**` across folders, `?` and `[…]`."""

import re


def compile_glob(pattern: str) -> re.Pattern[str]:
    """Return a regular expression that matches whole project-relative paths."""
    pieces: list[str] = []
    rest = pattern.removeprefix("./")
    while rest:
        piece, rest = _next_piece(rest)
        pieces.append(piece)
    return re.compile("".join(pieces) + r"\Z", re.DOTALL)


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
    return re.escape(rest[0]), rest[1:]


def _character_class(inside: str) -> str:
    negated = inside[0] == "!"
    body = "".join(
        char if char == "-" else re.escape(char) for char in (inside[1:] if negated else inside)
    )
    # A range the wrong way round matches nothing instead of being an error.
    try:
        re.compile(f"[{body}]")
    except re.error:
        return r"(?!)"
    return f"[^/{body}]" if negated else f"(?!/)[{body}]"
