"""What is written and where: results to standard output, progress and remarks to standard error.

Tables here are plain text, so that listing does not load a rendering library.
"""

import json
import logging
import os
import re
import sys
from collections.abc import Sequence
from shutil import get_terminal_size
from typing import Final, TextIO

from callboard.core.canonical import Json, compact_json
from callboard.core.words import shorten

# Marks of direction too: they make a line read other than it is.
_CONTROL: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
_GAP: Final = "  "
_LEAST_LAST_COLUMN: Final = 12


def echo(text: str = "") -> None:
    """Write a line of the result; on a terminal, without what could steer it."""
    put(sys.stdout, f"{text}\n")


def remark(text: str = "") -> None:
    """Write a line for whoever watches, beside the result."""
    put(sys.stderr, f"{text}\n")


def put(stream: TextIO, text: str) -> None:
    """Write text at once; on a terminal, without what could steer it.

    Whatever is shown may hold what a stranger wrote: a name, a setting, an error's words.
    """
    stream.write(clean(text) if stream.isatty() else text)
    stream.flush()


def echo_json(value: Json) -> None:
    """Write the result for a program: JSON a person can read as well."""
    echo(json.dumps(value, ensure_ascii=False, indent=2))


def echo_json_line(value: Json) -> None:
    """Write one line of a stream of JSON values."""
    echo(compact_json(value))


def clean(text: str) -> str:
    """Return text without the control characters that could steer a terminal."""
    return _CONTROL.sub("\ufffd", text)


class _Cleaned(logging.Formatter):
    """Writes the message; a stranger's words in it are only ever text."""

    def format(self, record: logging.LogRecord) -> str:
        """Return what is written."""
        return clean(super().format(record))


def clean_log() -> None:
    """Have what nobody else handles written cleanly; the server brings its own handlers."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(_Cleaned("%(message)s"))


def one_line(text: str, most_chars: int | None = None) -> str:
    """Return text as one line without control characters, shortened if need be."""
    flat = clean(" ".join(text.split()))
    return flat if most_chars is None else shorten(flat, most_chars)


def echo_text(text: str) -> None:
    """Write a text as it is; on a terminal, without what could steer it."""
    echo(text.removesuffix("\n"))


def echo_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write aligned columns; on a terminal the last one is cut to the width there is."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(len(line[n]) for line in (headers, *cells)) for n in range(len(headers))]
    is_terminal = sys.stdout.isatty()
    room = None
    if is_terminal:
        used = sum(widths[:-1]) + len(_GAP) * (len(widths) - 1)
        room = max(_LEAST_LAST_COLUMN, get_terminal_size().columns - used)
    heading = _row(headers, widths, None)
    if is_terminal and "NO_COLOR" not in os.environ:
        # Our own words, and the only ones that may steer the terminal.
        sys.stdout.write(f"\x1b[1m{clean(heading)}\x1b[0m\n")
    else:
        echo(heading)
    for line in cells:
        echo(_row(line, widths, room))


def echo_facts(facts: Sequence[tuple[str, str]]) -> None:
    """Write names and values under each other; what has no value is left out."""
    shown = [(name, value) for name, value in facts if value]
    width = max((len(name) for name, _ in shown), default=0)
    for name, value in shown:
        first, *rest = clean(value).splitlines()
        echo(f"{name:<{width}}  {first}")
        for line in rest:
            echo(f"{'':<{width}}  {line}")


def seconds(milliseconds: int | float) -> str:
    """Return a duration as people say it."""
    value = milliseconds / 1000
    if value < 10:
        return f"{value:.1f} s"
    if value < 120:
        return f"{value:.0f} s"
    return f"{value / 60:.0f} min"


def moment(at_ms: int | None) -> str:
    """Return a stored time in the user's own time zone."""
    if not at_ms:
        return ""
    from datetime import datetime

    return datetime.fromtimestamp(at_ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def number(value: int) -> str:
    """Return a number with its thousands apart."""
    return f"{value:,}"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, `1 run` or `3 runs`."""
    return f"{number(count)} {noun}{'' if count == 1 else 's'}"


def _row(cells: Sequence[str], widths: Sequence[int], room: int | None) -> str:
    last = cells[-1] if room is None else one_line(cells[-1], room)
    padded = [f"{cell:<{width}}" for cell, width in zip(cells[:-1], widths, strict=False)]
    return _GAP.join([*padded, last]).rstrip()
