"""Quote matching: whether a text holds a quote, however its quotes, spaces and emphasis are set.

Both sides are brought to one form. What is dropped at the edge of a quote only makes it shorter,
so a true quote stays a part of its text.
"""

import re
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
