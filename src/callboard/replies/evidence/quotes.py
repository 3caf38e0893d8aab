"""Quotes: where one ends, and whether a text holds it, however quotes and spaces are set.

Both sides are brought to one form. What is dropped at the edge of a quote only makes it shorter,
so a true quote stays a part of its text.
"""

import re
from collections.abc import Iterator
from typing import Final

from callboard.core.canonical import composed

MIN_QUOTE_WORDS: Final = 2
MIN_QUOTE_CHARS: Final = 8

_STRAIGHT: Final = str.maketrans(
    {
        **dict.fromkeys("“”„‟", '"'),
        # The acute accent is a quote mark to those who type it; NFKC would make it a space.
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u00b4", "'"),
        # Invisible: soft hyphens, zero-width characters, byte order marks.
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff"),
        "`": None,
    }
)
_ESCAPES: Final = re.compile(r"\\(?=[!-/:-@\[-`{-~\s]|$)")
_MARKS: Final = re.compile(r"[*_~]+")
_ELLIPSIS: Final = re.compile(r"(?:(?<!\s)\s++)?+\[?+\(?+\.{3,}+\)?+\]?+\s*+")
# Scripts that put no spaces between words.
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def normalise(text: str) -> str:
    """Return the one form in which quotes and texts are compared; case is kept."""
    straight = composed(text.translate(_STRAIGHT))
    # Once more: compatibility forms may turn into marks that were not there before.
    straight = straight.translate(_STRAIGHT)
    unescaped = _ESCAPES.sub("", straight)
    return " ".join(_MARKS.sub(_keep_or_drop, unescaped).split())


def holds_quote(text: str, quote: str) -> bool:
    """Say whether a text holds a quote; an ellipsis in it stands for anything left out."""
    return find_in(normalise(text), quote)


def find_in(normal_text: str, quote: str) -> bool:
    """Do the same for a text that is already in its normal form."""
    wanted = normalise(quote)
    if not wanted:
        return False
    if _find_words(normal_text, wanted, 0, open_start=False, open_end=False) >= 0:
        return True
    fragments = _ELLIPSIS.split(wanted)
    if len(fragments) == 1 or not any(_is_long_enough(each) for each in fragments):
        return False
    return _in_order(normal_text, fragments)


def is_quotable(quote: str) -> bool:
    """Say whether a quote is long enough to prove anything."""
    return _is_long_enough(normalise(quote))


def _in_order(text: str, fragments: list[str]) -> bool:
    position, last = 0, len(fragments) - 1
    for number, fragment in enumerate(fragments):
        if not fragment:
            continue
        # Where something was left out a word may be cut.
        position = _find_words(
            text, fragment, position, open_start=number > 0, open_end=number < last
        )
        if position < 0:
            return False
    return True


def _find_words(text: str, wanted: str, start: int, *, open_start: bool, open_end: bool) -> int:
    """Return where a hit that does not begin or end inside a word ends, or -1."""
    at = text.find(wanted, start)
    while at >= 0:
        end = at + len(wanted)
        cuts_start = not open_start and _is_inside_word(text, at)
        cuts_end = not open_end and _is_inside_word(text, end)
        if not cuts_start and not cuts_end:
            return end
        at = text.find(wanted, at + 1)
    return -1


def _is_inside_word(text: str, place: int) -> bool:
    if place <= 0 or place >= len(text):
        return False
    before, after = text[place - 1], text[place]
    if _UNSPACED.match(before) or _UNSPACED.match(after):
        return False
    return before.isalnum() and after.isalnum()


def _is_long_enough(normal: str) -> bool:
    words = sum(any(char.isalnum() for char in word) for word in normal.split())
    words += max(0, len(_UNSPACED.findall(normal)) - 1)
    return words >= MIN_QUOTE_WORDS and len(normal) >= MIN_QUOTE_CHARS


def _keep_or_drop(run: re.Match[str]) -> str:
    """Drop emphasis; keep `snake_case` and `2*3`, which are not."""
    text, start, end = run.string, run.start(), run.end()
    before = text[start - 1] if start else ""
    after = text[end] if end < len(text) else ""
    mark = run[0]
    is_name = mark.strip("_") == "" and before.isalnum() and after.isalnum()
    is_product = mark.strip("*") == "" and before.isdigit() and after.isdigit()
    is_about = mark == "~"
    return mark if is_name or is_product or is_about else ""


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
