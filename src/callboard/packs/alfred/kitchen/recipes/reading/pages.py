"""The JSON-LD inside a web page.

No script is run and nothing is fetched: only the text of `application/ld+json` blocks is kept. The
page is searched for scripts in one pass, and the parser sees only their opening tags: a page that
is made to be slow to parse is not parsed.
"""

import re
from html.parser import HTMLParser
from typing import Final

MOST_BLOCKS: Final = 20
_LONGEST_TAG: Final = 2_000
_OPENED: Final = re.compile(r"<script\b", re.IGNORECASE)
_CLOSED: Final = re.compile(r"</script\b", re.IGNORECASE)


def json_blocks(page: str) -> list[str]:
    """Return the JSON-LD texts of a page, in order; one more than are read, if there are more."""
    found: list[str] = []
    start = 0
    while len(found) <= MOST_BLOCKS:
        opened = _OPENED.search(page, start)
        if opened is None:
            break
        end = page.find(">", opened.end(), opened.end() + _LONGEST_TAG)
        closed = _CLOSED.search(page, opened.end())
        if closed is None:
            break
        start = closed.end()
        if end < 0:
            continue
        held = page[end + 1 : closed.start()].strip()
        if held and _kind_of(page[opened.start() : end + 1]) == "application/ld+json":
            found.append(held)
    return found


def _kind_of(tag: str) -> str:
    reader = _TagReader()
    reader.feed(tag)
    return reader.kind.partition(";")[0].strip().casefold()


class _TagReader(HTMLParser):
    """Reads the type of one opening tag."""

    kind = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the type of the tag."""
        self.kind = next((value for name, value in attrs if name == "type"), None) or ""
