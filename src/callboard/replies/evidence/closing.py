"""Where a quotation in an evidence line ends: agents quote people who quote people."""

import re
from collections.abc import Iterator
from typing import Final

_CLOSERS: Final = {'"': '"', "“": '”"', "„": '“”"', "«": '»"', "'": "'\u2019", "\u2018": "\u2019'"}
_DOUBLE: Final = '"“”„«»'
_SINGLE: Final = "'\u2018"
_QUOTE_OR_SEPARATOR: Final = re.compile(f"[;{_DOUBLE}]")
_NOTHING_MORE: Final = re.compile(r"[\s.;*_`]*$")
_ENDS_SOURCE: Final = re.compile(r"[\s.,*_`)\]]*(?:;|$)")
_KEYWORD: Final = re.compile(
    r"[\s`*_]*(?:receipt|rcpt_|slot\s*:|scope\s*:|issue\s*[:#])", re.IGNORECASE
)
_PLACE: Final = re.compile(r"[\"“„«§]|\s['\u2018]|(?<=[\s#])L[0-9]+(?![\w/\\]|[.-][^\W0-9])")

OPENERS: Final = "".join(_CLOSERS)
QUOTED_PATH: Final = re.compile(
    r"\s*[\"“„«]([^\"“”„«»]+)[\"”“»][\s:,—\u2013-]*(?=[\"“„«§]|#?L[0-9])"
)


def read_quote(line: str, start: int) -> tuple[str, int] | None:
    """Return the text of the quotation that opens at `start`, and where the rest begins."""
    for closers in (_CLOSERS[line[start]], _DOUBLE):
        ends = _possible_ends(line, start, closers)
        end = _choose(line, ends, is_single=line[start] in _SINGLE)
        if end is not None:
            return _unescape(line[start + 1 : end]), end + 1
        if line[start] in _SINGLE:
            break
    return None


def looks_like_source(line: str, start: int) -> bool:
    """Say whether a source seems to begin here: a keyword, or a path and a place in it."""
    if _KEYWORD.match(line, start) or QUOTED_PATH.match(line, start):
        return True
    place = _PLACE.search(line, start)
    path = line[start : place.start()] if place else ""
    return ";" not in path and ("." in path or "/" in path or "\\" in path)


def _possible_ends(line: str, start: int, closers: str) -> Iterator[int]:
    place = start + 1
    while place < len(line):
        if line[place] == "\\":
            place += 2
            continue
        if line[place] in closers:
            yield place
        place += 1


def _choose(line: str, ends: Iterator[int], *, is_single: bool) -> int | None:
    """Take the first end after which another source, or nothing of weight, follows."""
    if is_single:
        # An apostrophe looks the same; only the last thing of a source can be the end.
        return next((end for end in ends if _ENDS_SOURCE.match(line, end + 1)), None)
    fallback: int | None = None
    for end in ends:
        after = _QUOTE_OR_SEPARATOR.search(line, end + 1)
        if line[end + 1 : end + 2].isalnum() or (after is not None and after[0] != ";"):
            continue
        is_last = after is None or _NOTHING_MORE.match(line, after.end()) is not None
        if is_last or looks_like_source(line, after.end() if after is not None else end):
            return end
        fallback = end if fallback is None else fallback
    return fallback


def _unescape(text: str) -> str:
    return re.sub(r'\\(["\\])', r"\1", text)
