"""Built books before two judges from outside: epubcheck for EPUBs, axe for pages.

`make standards` fetches both and has them look; elsewhere whichever is not there is left out.
"""

import asyncio
import io
import os
import shutil
import subprocess
import zipfile
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from callboard.core.parsing import parse_json
from callboard.packs.questfoundry.book.model import Book
from callboard.packs.questfoundry.formats.edition import LocaleEdition, edition_of, pieces_of
from callboard.packs.questfoundry.formats.export import ExportOptions, build
from callboard.packs.questfoundry.growing.shapes import GrowthPlan, grow
from page_browser import open_browser

BOOKS = ("sample", "sample.de", "sample.he", "grown")
LOOK = "axe.run(document, {resultTypes: ['violations']}).then(found => found.violations)"


def _missing(told: str) -> None:
    (pytest.fail if os.environ.get("STANDARDS") == "required" else pytest.skip)(told)


@cache
def book_files(name: str) -> dict[str, bytes]:
    held = files("callboard.packs.questfoundry").joinpath("sample/the-salt-bell.json")
    sample = Book.from_json(parse_json(held.read_text("utf-8")))
    edition = LocaleEdition(sample)
    if name == "grown":
        edition = LocaleEdition(grow(GrowthPlan(sections=200, gateways=8, choices=600, seed=3)))
    elif "." in name:
        rows = [{**each, "target": f"§{each['source']}"} for each in pieces_of(sample)]
        edition = edition_of(sample, name.partition(".")[2], rows)
    options = ExportOptions(words=edition.words)
    made = asyncio.run(build(edition.book, ["epub", "html"], options))
    return {Path(path).suffix: data for path, data in made.items()}


@pytest.mark.parametrize("name", BOOKS)
def test_epubcheck_finds_nothing(name: str, tmp_path: Path) -> None:
    checker, java = shutil.which("epubcheck"), shutil.which("java")
    if checker is None or java is None:
        return _missing("epubcheck is not there: apt-get install epubcheck")
    path = tmp_path / "book.epub"
    path.write_bytes(book_files(name)[".epub"])
    words = [java, "-jar", checker, "--failonwarnings", str(path)]
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "No errors or warnings detected" in ended.stdout


def _told(found: list[dict[str, Any]]) -> list[str]:
    return [f"{each['id']}: {each['help']}: {each['nodes'][0]['html'][:200]}" for each in found]


@pytest.mark.parametrize("width", [360, 1200])
@pytest.mark.parametrize("name", BOOKS)
def test_axe_finds_nothing(name: str, width: int, tmp_path: Path) -> None:
    axe = os.environ.get("AXE_CORE", "")
    if not Path(axe).is_file():
        return _missing("axe-core is not there: `make standards` fetches it")
    made = book_files(name)
    (tmp_path / "book.html").write_bytes(made[".html"])
    with zipfile.ZipFile(io.BytesIO(made[".epub"])) as archive:
        archive.extractall(tmp_path)
    pages = [tmp_path / "book.html", tmp_path / "EPUB/nav.xhtml"]
    pages += sorted((tmp_path / "EPUB" / "text").glob("*.xhtml"))[:4]
    with open_browser() as browser:
        tab = browser.new_page(viewport={"width": width, "height": 720})
        for page in pages:
            tab.goto(page.as_uri())
            # As text: a page that is no document of ours refuses foreign files.
            tab.evaluate(Path(axe).read_text("utf-8"))
            assert _told(tab.evaluate(LOOK)) == [], page.name
            too_wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            assert tab.evaluate(too_wide) <= 0, page.name
        tab.goto(pages[0].as_uri())
        tab.evaluate(Path(axe).read_text("utf-8"))
        for _ in range(4):
            choices = tab.locator("main button, main a, [data-choice]")
            if not choices.count():
                break
            choices.first.click()
            assert _told(tab.evaluate(LOOK)) == []
