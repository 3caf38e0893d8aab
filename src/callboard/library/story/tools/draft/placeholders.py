"""Placeholders: what a writer, or a model, left where text should be."""

import re
from typing import Final

from callboard.library.story.model import Quote
from callboard.library.story.text import Document
from callboard.library.story.text.blocks import mask_comments

_SIGNS: Final = re.compile(
    r"\b(?:TODO|TBD|TBC|FIXME|XXX|TKTK?)\b"
    r"|\[(?:\.{2,}|…|(?:insert|todo|tbd|placeholder|describe|description|add|fill in|to come"
    r"|to be (?:written|added|decided)|name(?: here)?|scene (?:missing|continues)|continue[sd]?"
    r"|more here|rest of)\b[^\]\n]*)\](?!\()"
    r"|\blorem ipsum\b"
    r"|\bas an ai(?: language)?(?: model| assistant)|\bas an ai, i (?:am|can|cannot|do|don|will)"
    r"|\bi(?:['’]m| am) (?:sorry|unable),? (?:but )?(?:i )?(?:can(?:no|['’])t|to) "
    r"(?:write|assist|help|fulfil|continue|generate)\b",
    re.IGNORECASE,
)
# In small letters these are words or names.
_CAPITALS: Final = frozenset({"todo", "tbd", "tbc", "fixme", "xxx", "tk", "tkt"})


def find_placeholders(document: Document) -> list[tuple[str, Quote]]:
    """Return each placeholder of the body with the line it stands in; comments are the author's."""
    lines = mask_comments(document.text).split("\n")
    found: list[tuple[str, Quote]] = []
    for number, line in enumerate(lines, start=1):
        if number <= document.front_line_count:
            continue
        for hit in _SIGNS.finditer(line):
            if hit[0].lower() in _CAPITALS and not hit[0].isupper():
                continue
            found.append((hit[0], document.quote(number)))
    return found
