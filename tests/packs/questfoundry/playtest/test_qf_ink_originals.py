"""A story of Ink, read as a book, plays like its source in an engine that is not ours."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, example, given, settings

from callboard.packs.questfoundry.book.model import Book
from callboard.packs.questfoundry.formats.reading.cells import ONWARD
from callboard.packs.questfoundry.formats.reading.ink import read_ink
from callboard.packs.questfoundry.playtest.transcript import ModelPlayer, Sight
from ink_compiler import InkJs, open_inkjs
from quest_story_files import woven_ink

# Stories drawn by `woven_ink`, and what inkjs 2.4.0 said of each.
WRITTEN_DOWN = Path(__file__).parent / "ink_originals.json"


@pytest.fixture(scope="module")
def inkjs() -> Iterator[InkJs]:
    with open_inkjs() as opened:
        yield opened


class _Flow:
    """Plays a book as Ink tells it: where only one way leads on, it is gone at once."""

    def __init__(self, book: Book) -> None:
        self.player = ModelPlayer(book)

    def after(self, moves: list[int]) -> tuple[str, list[str]]:
        told = self.onward(self.player.begin())
        for move in moves:
            told = self.onward(self.player.choose(move))
        return told

    def onward(self, sight: Sight) -> tuple[str, list[str]]:
        lines = [*sight.lines]
        while sight.labels == (ONWARD,):
            sight = self.player.choose(0)
            lines += sight.lines
        return " ".join(lines), list(sight.labels)


def _compare(book: Book, sights: list[Any]) -> None:
    flow, offered = _Flow(book), dict[tuple[int, ...], list[str]]()
    for moves, words, labels in sights:
        offered[tuple(moves)] = labels
        told, own = flow.after(moves)
        # Ink tells the words of a choice again; a book shows them once.
        taken = offered[tuple(moves[:-1])][moves[-1]] if moves else ""
        assert own == labels, moves
        assert _without(taken, told) == _without(taken, words), moves


def _without(taken: str, told: str) -> str:
    return f"{told} ".removeprefix(f"{taken} ").strip()


def _is_read(book: Book) -> bool:
    return not any(each.section and not each.is_form for each in book.verbatim)


@settings(
    max_examples=int(os.environ.get("INK_STORIES", "100")),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@example(source="-> DONE\n\n=== cave\nRain.\n")
@example(source="Hello, world!\n")
@given(source=woven_ink())
def test_a_story_of_ink_plays_like_its_source(source: str, inkjs: InkJs) -> None:
    book = read_ink(source).book
    assume(_is_read(book))
    sights = inkjs.sights(source)
    assume(not isinstance(sights, str))
    _compare(book, list(sights))


@pytest.mark.parametrize("each", json.loads(WRITTEN_DOWN.read_text("utf-8")))
def test_a_story_plays_as_it_was_written_down(each: dict[str, Any]) -> None:
    book = read_ink(each["source"]).book
    assert _is_read(book)
    _compare(book, each["sights"])
