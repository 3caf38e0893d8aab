"""Replies of the writer: the one text that counts, and nothing else of what was said."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from callboard.replies import parse_reply

_TAG: Final = re.compile(
    r"</?(?:content_update|message|thinking|action|data|untrusted|response|reply)\b[^<>\n]*+>",
    re.IGNORECASE,
)
_FENCE: Final = re.compile(r"^(?:```|~~~)\w*[ \t]*\n(.*?)\n(?:```|~~~)[ \t]*$", re.DOTALL)
_HEADING: Final = re.compile(r"\A\s*+#{1,6}[ \t]++[^\n]*+\n+")
_NUMBERED: Final = re.compile(
    r"^[ \t]*+(\d{1,3})[.):][ \t]++(\S(?:.*[^ \t\n])?)[ \t]*$", re.MULTILINE
)
_BLANK: Final = re.compile(r"\n[ \t]*\n\s*")


def prose_of(raw: str) -> str:
    """Return the prose of a reply: its first content update, else whatever was said as text."""
    reply = parse_reply(raw)
    if reply.content_updates:
        text = reply.content_updates[0].content
    else:
        text = reply.message if not reply.actions or reply.message else ""
    return clean_prose(text)


def clean_prose(text: str) -> str:
    """Return prose without tags, fences, a heading of its own, and uneven gaps."""
    bare = text.replace("\r\n", "\n").strip()
    fenced = _FENCE.fullmatch(bare)
    bare = _TAG.sub("", fenced[1] if fenced else bare)
    return _BLANK.sub("\n\n", _HEADING.sub("", bare.strip())).strip()


def numbered_lines(raw: str, count: int) -> Mapping[int, str]:
    """Return the lines of a reply by the number they begin with, of those that were asked for."""
    found = _NUMBERED.findall(prose_of(raw))
    return {int(number): line.strip() for number, line in found if 1 <= int(number) <= count}


def replaced(text: str, sentences: Sequence[str], lines: Mapping[int, str]) -> str:
    """Return a text with some of its sentences said anew; each is replaced where it stands."""
    for number, sentence in enumerate(sentences, start=1):
        line = lines.get(number, "")
        if line:
            text = text.replace(sentence, line, 1)
    return text


def last_words(text: str, count: int) -> str:
    """Return the end of a text, beginning with a whole word."""
    words = list(re.finditer(r"\S+", text))
    return text[words[-count].start() :].strip() if len(words) > count else text.strip()
