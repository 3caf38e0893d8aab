"""Six contradictions in a book of Writers Factory, each told by `factory health`."""

from pathlib import Path

import pytest
from health_fixture import FILLER, Book, a_judge, check_health, open_book

from callboard.core.vocabulary import RunState
from callboard.packs.writers_factory.health import Health

pytestmark = pytest.mark.anyio

CAST = "Mara Quill, Corvin Ashe and Tilda Crane were of the party. "
PLANTED = {
    "Corvin dies": (
        "They buried Corvin Ashe on the hill above the harbour.",
        'Corvin Ashe shook his head. "I never liked the sea," said Corvin Ashe.',
    ),
    "Tilda Crane's age": (
        "Tilda Crane was a girl of nineteen.",
        "Tilda Crane set down the tray. She would be forty in the spring.",
    ),
    "eyes": (
        "Mara Quill looked round with her green eyes.",
        "Mara Quill laughed. Her brown eyes were bright with it.",
    ),
    "swim": (
        "Mara Quill had never learned to swim.",
        "Mara Quill went in off the rocks. She swam to the buoy.",
    ),
    "watch": (
        "Tilda Crane had dropped her silver watch down the well.",
        "Tilda Crane looked at her silver watch and frowned.",
    ),
    "children": (
        "Tilda Crane had three sons.",
        "Tilda Crane, who had never had a child, said nothing.",
    ),
}


def a_book(*, is_planted: bool) -> Book:
    """Return a book of two halves; the second takes back the first, if it is planted."""
    book = Book()
    halves = [[first for first, _ in PLANTED.values()], [last for _, last in PLANTED.values()]]
    for chapter, told in enumerate(halves[: 1 + is_planted], start=1):
        for scene, sentences in enumerate(told, start=1):
            book.add(chapter, scene, f"{CAST}{FILLER * 4}\n\n{sentences} {FILLER * 4}")
    return book


async def titles(root: Path, book: Book) -> list[str]:
    """Return what the timeline check says of a book."""
    confirms = {
        "verdict": "impossible",
        "title": "",
        "fix": "",
        "first_quote": "",
        "second_quote": "",
    }
    async with open_book(root, book, a_judge(pair=confirms)) as workspace:
        run = await check_health(workspace, checks=["A3"])
        assert run.state is RunState.DONE, run.error
        report = Health(workspace).latest()
        assert report is not None
        return [each.title for check in report.checks for each in check.findings]


async def test_six_planted_contradictions_are_all_reported(tmp_path: Path) -> None:
    told = await titles(tmp_path / "book", a_book(is_planted=True))
    for about in PLANTED:
        assert any(about in title for title in told), (about, told)


async def test_the_half_without_them_is_left_alone(tmp_path: Path) -> None:
    assert await titles(tmp_path / "book", a_book(is_planted=False)) == []
