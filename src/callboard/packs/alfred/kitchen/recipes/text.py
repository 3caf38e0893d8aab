"""Text of strangers made plain: one line or a few paragraphs, without markup or control characters.

Nothing here follows a link, runs a script or reads a file.
"""

import re
import unicodedata
from typing import Final

_BLANKS: Final = re.compile(r"[ \t]+")
# Every repeat is bounded: whatever a stranger writes, a line costs its length and no more.
_LINK: Final = re.compile(
    r"!?\[([^\[\]]{0,300})\]\((?:[^()]{0,500}|[^()]{0,200}\([^()]{0,200}\)[^()]{0,200})\)"
)
_WIKI: Final = re.compile(r"\[\[([^\[\]|]{0,300})(?:\|([^\[\]]{0,300}))?\]\]")
_IMAGE: Final = re.compile(r"!\[[^\[\]]{0,300}\]\([^()]{0,500}\)")
_OPENED: Final = re.compile(r"<(script|style)\b", re.IGNORECASE)
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]{0,400}>|<!--[^<>]{0,400}-->")
# Marks around what holds none of their kind, so from the inside out; an opened one that is not
# closed is read to the next mark and no further.
_STRONG: Final = re.compile(
    r"(?P<mark>\*{1,3})(?=\S)([^*]{1,300}+)(?<=\S)(?P=mark)"
    r"|``(?=\S)((?:[^`]|`(?!`)){1,300}+)(?<=\S)``|`(?=\S)([^`]{1,300}+)(?<=\S)`"
    r"|__(?=\S)((?:[^_]|_(?!_)){1,300}+)(?<=\S)__"
    r"|~~(?=\S)((?:[^~]|~(?!~)){1,300}+)(?<=\S)~~"
)
_UNDERLINED: Final = re.compile(r"(?<![\w_])_(?=\S)([^_]{1,300}+)(?<=\S)_(?![\w_])")
_ENTITY: Final = re.compile(r"&(amp|lt|gt|quot|nbsp|#39|#x27|frac12|frac14|frac34|deg);")
_ENTITIES: Final = {
    "amp": "&",
    "lt": "<",
    "gt": ">",
    "quot": '"',
    "nbsp": " ",
    "#39": "'",
    "#x27": "'",
    "frac12": "½",
    "frac14": "¼",
    "frac34": "¾",
    "deg": "°",
}
_SPECIAL: Final = re.compile(r"[\\*_`~\[\]<>&:#]")
_OPENING: Final = re.compile(r"^(\d*)([-+=|.)])")
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
# Where escaped characters wait while markup is stripped; `one_line` lets none of these in.
_HIDDEN: Final = 0xE000
# Left-to-right and right-to-left marks are needed to write some names; the ones that override the
# direction of what follows only ever serve to mislead.
_KEPT_FORMATS: Final = frozenset("\u200c\u200d\u200e\u200f")


def one_line(text: str) -> str:
    """Return a text as one line without control characters."""
    return " ".join(_printable(text).split())


def paragraphs(text: str) -> str:
    """Return a text without control characters, its paragraphs one blank line apart."""
    lines = [" ".join(_printable(line).split()) for line in text.splitlines()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def without_markup(text: str) -> str:
    """Return one line of Markdown as a reader sees it: links by their words, nothing bold."""
    plain = without_tags(text)
    plain = _IMAGE.sub(" ", plain)
    plain = _WIKI.sub(lambda found: found[2] or found[1], plain)
    plain = _LINK.sub(r"\1", plain)
    for _ in range(3):
        plain = _STRONG.sub(_unmarked, plain)
    plain = _UNDERLINED.sub(r"\1", plain)
    plain = _ENTITY.sub(lambda found: _ENTITIES[found[1]], plain)
    return " ".join(plain.replace("\\", "").split())


def _unmarked(found: re.Match[str]) -> str:
    return next(inner for inner in found.groups()[1:] if inner)


def without_tags(text: str) -> str:
    """Return a text without HTML: scripts go with what is in them."""
    return _TAG.sub(" ", _without_scripts(text))


def _without_scripts(text: str) -> str:
    kept: list[str] = []
    start = 0
    folded = text.lower() if len(text.lower()) == len(text) else text
    for opened in _OPENED.finditer(text):
        if opened.start() < start:
            continue
        closed = folded.find(f"</{opened[1].lower()}", opened.end())
        end = folded.find(">", closed) if closed >= 0 else -1
        if end < 0:
            break
        kept.append(text[start : opened.start()])
        start = end + 1
    return " ".join([*kept, text[start:]]) if kept or start else text


def escaped(text: str) -> str:
    """Return one line written so that Markdown reads it as plain text."""
    marked = _SPECIAL.sub(r"\\\g<0>", text)
    return _OPENING.sub(lambda found: f"{found[1]}\\{found[2]}", marked)


def plain_text(text: str) -> str:
    """Return one line of Markdown as plain text; what was escaped is text, never markup."""
    return _shown_again(without_markup(guarded(text)))


def guarded(text: str) -> str:
    """Return one line with its escaped characters out of reach of any pattern."""
    return _ESCAPED.sub(lambda found: chr(_HIDDEN + ord(found[1])), one_line(text))


def _shown_again(text: str) -> str:
    return "".join(
        chr(ord(char) - _HIDDEN) if _HIDDEN < ord(char) < _HIDDEN + 128 else char for char in text
    )


def without_emoji(text: str) -> str:
    """Return a text without pictographs and what joins them."""
    if text.isascii():
        return _BLANKS.sub(" ", text).strip()
    kept = (
        char
        for char in text
        if not (unicodedata.category(char) == "So" and char not in "°©®")
        and char not in "\ufe0f\u20e3"
        and not 0x1F3FB <= ord(char) <= 0x1F3FF
    )
    return _BLANKS.sub(" ", "".join(kept)).strip()


def _printable(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(char) for char in text)


def _shown(char: str) -> str:
    if char in "\t\n\r\u2028\u2029":
        return " "
    if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn") and char not in _KEPT_FORMATS:
        return ""
    return char
