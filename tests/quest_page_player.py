"""A browser that plays the exported page, asked as every player is."""

from pathlib import Path

from playwright.sync_api import Page

from callboard.packs.questfoundry.playtest.transcript import Sight, sight

_LINES = """() => Array.from(document.querySelectorAll('.prose p'))
    .flatMap(each => Array.from(each.childNodes).filter(n => n.nodeType === 3).map(n => n.data))"""
_LABELS = "() => Array.from(document.querySelectorAll('#choices button')).map(b => b.textContent)"
_PRESS = """number => { document.querySelectorAll('#choices button')[number].click();
    return document.getElementById('told').textContent }"""


class PagePlayer:
    """Presses the buttons of the page."""

    def __init__(self, page: Page, html: bytes, folder: Path) -> None:
        """Open the page from a file, as a reader does; what it should never do is written down."""
        self.page = page
        self.trouble: list[str] = []
        self.path = folder / "book.html"
        self.path.write_bytes(html)
        page.on("pageerror", lambda error: self.trouble.append(str(error)))
        page.on("dialog", lambda dialog: self.trouble.append(dialog.message))
        page.on("console", lambda told: self.trouble.append(told.text))
        page.on("request", lambda sent: self._asked(sent.url))
        page.goto(self.path.as_uri())

    def _asked(self, url: str) -> None:
        if not url.startswith(self.path.as_uri()):
            self.trouble.append(url)

    def begin(self) -> Sight:
        """Press the button that starts again."""
        self.page.evaluate("() => document.getElementById('restart').click()")
        return sight(self.page.evaluate(_LINES), self.page.evaluate(_LABELS))

    def choose(self, number: int) -> Sight:
        """Press a choice."""
        told = self.page.evaluate(_PRESS, number)
        lines = [told] if told else self.page.evaluate(_LINES)
        return sight(lines, self.page.evaluate(_LABELS))
