"""The book, its page in a browser and its story in an Ink engine play the same."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from playwright.sync_api import Browser

from callboard.packs.questfoundry.book.model import (
    Book,
    Gateway,
    KeyChange,
    KeyTest,
    Section,
    SectionKind,
    StoryChoice,
)
from callboard.packs.questfoundry.formats.prose import WORDS
from callboard.packs.questfoundry.formats.reading.ink import read_ink
from callboard.packs.questfoundry.formats.writing.html import html_of
from callboard.packs.questfoundry.formats.writing.ink import ink_json_of, ink_of
from callboard.packs.questfoundry.playtest.bot import PlaytestBot
from callboard.packs.questfoundry.playtest.transcript import InkPlayer, ModelPlayer, Player, play
from page_browser import open_browser
from quest_page_player import PagePlayer
from quest_random_books import books
from sizes import size

MOST = 15
FERRY = Book(
    "The Ferry",
    "quay",
    (
        Section(
            "quay",
            "The quay",
            "You wait.",
            choices=(
                StoryChoice("ask", "Ask the watchman", "watchman"),
                StoryChoice("board", "Board", "deck", gateway="plank"),
                StoryChoice("swim", "Swim", "deck", requires=(KeyTest("ticket", negated=True),)),
            ),
        ),
        Section(
            "watchman",
            text="He nods.",
            effects=(KeyChange("set", "ticket"),),
            choices=(StoryChoice("back", "Go back", "quay"),),
        ),
        Section("deck", "On deck", "You cross.", SectionKind.TERMINAL),
    ),
    gateways=(Gateway("plank", "quay", "ticket", refusal="He shakes his head."),),
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


def _agree(book: Book, player: Player) -> None:
    for moves in itertools.islice(PlaytestBot(book).playthroughs(), MOST):
        assert play(player, moves).text() == play(ModelPlayer(book), moves).text()


def test_a_transcript_reads_like_a_playthrough() -> None:
    told = play(ModelPlayer(FERRY), [1, 0, 0, 1]).text()
    assert told == (
        "You wait.\n  1. Ask the watchman\n  2. Board\n  3. Swim\n> 2\n"
        "He shakes his head.\n  1. Ask the watchman\n  2. Board\n  3. Swim\n> 1\n"
        "He nods.\n  1. Go back\n> 1\n"
        "You wait.\n  1. Ask the watchman\n  2. Board\n> 2\n"
        "You cross.\n"
    )


@given(books(are_written=False))
def test_an_ink_engine_plays_what_the_book_means(book: Book) -> None:
    pytest.importorskip("bink")
    _agree(book, InkPlayer(ink_json_of(book, WORDS)))


def test_an_ink_engine_plays_what_was_read_of_a_weave() -> None:
    pytest.importorskip("bink")
    book = read_ink(
        "VAR lamp = false\nOnce there was a lamp.\n* [Take it]\n  ~ lamp = true\n"
        "* [Wait] You wait.\n** [Wait longer] Still dark.\n** Sleep -> hall\n"
        "- Then you go. -> hall\n\n=== hall\nA hall.\n* [Look about] Dust. -> hall\n"
        "+ {lamp} [Light the lamp] Light! -> END\n+ {not lamp} [Go on] -> END\n"
    ).book
    assert all(each.is_form for each in book.verbatim) and len(book.sections) >= 6
    _agree(book, InkPlayer(ink_json_of(book, WORDS)))
    assert read_ink(ink_of(book, WORDS).decode()).book == book


@pytest.mark.chaos
@settings(
    max_examples=size(6, 100),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(book=books(are_written=False))
def test_a_browser_plays_what_the_book_means(book: Book, browser: Browser, tmp_path: Path) -> None:
    page = browser.new_page()
    try:
        player = PagePlayer(page, html_of(book, WORDS), tmp_path)
        _agree(book, player)
        assert not player.trouble
    finally:
        page.close()


def test_the_page_is_played_by_keyboard_and_heard(browser: Browser, tmp_path: Path) -> None:
    page = browser.new_page(viewport={"width": 320, "height": 640})
    player = PagePlayer(page, html_of(FERRY, WORDS), tmp_path)
    assert page.locator("h1").count() == 1
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Ask the watchman"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.get_by_role("status").text_content() == "He shakes his head."
    assert page.evaluate("document.activeElement.textContent") == "Board"
    page.get_by_role("button", name="Swim").press("Enter")
    assert page.evaluate("document.activeElement.tagName") == "H2"
    assert page.evaluate("document.activeElement.textContent") == "On deck"
    assert page.locator(".end").text_content() == "The end"
    # Nothing on a phone is wider than the phone, and nothing has to be hit with a needle.
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.get_by_role("button", name="Start again").click()
    for button in page.get_by_role("button").all():
        box = button.bounding_box()
        assert box is not None and box["height"] >= 44
        assert (button.text_content() or "").strip()
    assert not player.trouble
    page.close()


def test_a_place_is_kept_until_the_reader_starts_again(browser: Browser, tmp_path: Path) -> None:
    page = browser.new_page()
    PagePlayer(page, html_of(FERRY, WORDS), tmp_path)
    page.get_by_role("button", name="Ask the watchman").click()
    page.get_by_role("button", name="Go back").click()
    page.reload()
    assert page.get_by_role("button", name="Swim").count() == 0
    page.get_by_role("button", name="Board").click()
    page.reload()
    assert page.locator("h2").first.text_content() == "On deck"
    page.get_by_role("button", name="Start again").click()
    assert page.get_by_role("button", name="Swim").count() == 1
    page.close()
