"""Covers: an image of the project that is what it says it is, or one set in type by code."""

import struct
import textwrap
from typing import Final
from xml.sax.saxutils import escape

from callboard.core.errors import InvalidInput
from callboard.library.binding.volume import Cover
from callboard.tools import ProjectFiles

MOST_BYTES: Final = 4_000_000
MOST_PIXELS: Final = 10_000
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_JPEG: Final = b"\xff\xd8\xff"
_WIDTH, _HEIGHT = 1600, 2560
_TITLE_LINE: Final = 14
_AUTHOR_LINE: Final = 26


class CoverRefused(InvalidInput):
    """A file cannot be a cover."""

    code = "cover_refused"


def read_cover(files: ProjectFiles, path: str) -> Cover:
    """Return the image a project holds, told by its bytes and not by its name."""
    size = (files.root / files.resolve(path)).stat().st_size if files.sha256(path) else 0
    data = files.read_bytes(path) if size <= MOST_BYTES else b""
    if not data:
        raise CoverRefused(
            f"{path} has {size} bytes", fix=f"A cover has 1 to {MOST_BYTES} bytes.", path=path
        )
    if data.startswith(_PNG) and data[12:16] == b"IHDR" and len(data) > 24:
        suffix, sides = "png", struct.unpack(">II", data[16:24])
    elif data.startswith(_JPEG) and (found := _jpeg_size(data)) is not None:
        suffix, sides = "jpg", found
    else:
        raise CoverRefused(
            f"{path} is neither a PNG nor a JPEG image", fix="Name an image file.", path=path
        )
    if not all(0 < side <= MOST_PIXELS for side in sides):
        raise CoverRefused(
            f"{path} is {sides[0]} by {sides[1]} pixels",
            fix=f"Sides have 1 to {MOST_PIXELS} pixels; 1600 by 2560 is usual.",
            path=path,
        )
    return Cover(data, suffix)


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    """Return width and height from the frame header; None if there is none."""
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        kind, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4])
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + max(length, 2)
    return None


def typographic_cover(title: str, author: str) -> Cover:
    """Return a cover of nothing but words."""
    lines = textwrap.wrap(title, _TITLE_LINE)[:7] or [title]
    longest = max(len(line) for line in lines)
    size = min(200, int(2000 / max(longest, 1)))
    first = 900 - size * len(lines) // 2
    parts = [_words(line, first + row * int(size * 1.25), size) for row, line in enumerate(lines)]
    below = textwrap.wrap(author, _AUTHOR_LINE)[:3]
    parts += [_words(line, 2150 + row * 110, 84) for row, line in enumerate(below)]
    drawn = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}"'
        f' viewBox="0 0 {_WIDTH} {_HEIGHT}"><rect width="100%" height="100%" fill="#f6f2e8"/>'
        '<rect x="80" y="80" width="1440" height="2400" fill="none" stroke="#23303a"'
        f' stroke-width="6"/>{"".join(parts)}</svg>\n'
    )
    return Cover(drawn.encode(), "svg")


def _words(text: str, y: int, size: int) -> str:
    return (
        f'<text x="{_WIDTH // 2}" y="{y}" font-family="Georgia, serif" font-size="{size}"'
        f' text-anchor="middle" fill="#23303a">{escape(text)}</text>'
    )
