"""Growing a book with a small model: code grows the shape, the model picks and finishes sentences.

Whatever the model says is held against the bars: a sentence that makes one worse is left out.
"""

from dataclasses import replace
from typing import Any, Final

from callboard.choreography import Stage, choreography
from callboard.choreography.operating import carry_out
from callboard.choreography.small_models.forms import Form
from callboard.core.bundled import bundled_yaml
from callboard.core.canonical import Json
from callboard.core.words import shorten
from callboard.engine.errors import StepFailed
from callboard.packs.questfoundry.bars.judging import judge
from callboard.packs.questfoundry.book.model import Book, Section, SectionKind
from callboard.packs.questfoundry.by_code import bind_by_code, gate_by_code
from callboard.packs.questfoundry.growing.garden import plain_wording
from callboard.packs.questfoundry.growing.shapes import GrowthPlan, StoryShape
from callboard.packs.questfoundry.growing.shapes import grow as grow_book
from callboard.packs.questfoundry.intake import import_book
from callboard.packs.questfoundry.operations import operations_on
from callboard.packs.questfoundry.verdict import BarStatus

_ROLE: Final = "plotwright"
_WRITER: Final = "scene_smith"
_MOST_SENTENCES: Final = 4
_MOST_CHARS: Final = 140
_TOKENS: Final = 40
# A model that cannot be trusted with a sentence is held to plain words after these.
_BEGUN: Final = Form("You notice ", "")
_BAD: Final = (BarStatus.YELLOW, BarStatus.RED, BarStatus.UNKNOWN)


async def _picked(stage: Stage, key: str, question: str, options: list[str]) -> str:
    return await stage.choose(key, _ROLE, options, prompt="grow/pick", question=question)


def _blemishes(book: Book) -> int:
    report = judge(book)
    return sum(each.status in _BAD for verdict in report.bars for each in verdict.findings)


def with_sentence(book: Book, section_id: str, said: str) -> Book:
    """Return a book with one more sentence, if no bar gets worse by it."""
    line = " ".join(said.split())
    line = line[: line.find(".") + 1] if "." in line else f"{line.rstrip('!?,;: ')}."
    if len(line) < 8 or len(line) > _MOST_CHARS:
        return book
    sections = tuple(
        replace(each, text=f"{each.text} {line}") if each.id == section_id else each
        for each in book.sections
    )
    told = replace(book, sections=sections)
    return told if _blemishes(told) <= _blemishes(book) else book


async def _finished(stage: Stage, section: Section) -> str:
    """Have the model finish a sentence in plain words; nothing if what it says cannot stand."""
    try:
        reply = await stage.ask(
            f"finish/{section.id}",
            _WRITER,
            prompt="grow/finish",
            schema=_BEGUN.schema(section.text),
            max_tokens=_TOKENS,
            before=shorten(section.text, 300),
            begin=_BEGUN.before,
        )
    except StepFailed:
        # The book has text without it.
        return ""
    said = _BEGUN.chosen({"data": reply.data})
    return _BEGUN.filled(said, section.text, stage.studio.counter.count)


@choreography
async def grow(stage: Stage, seed: int = 7, sections: int = 24) -> Json:
    """Grow a small book, have a model name it and finish sentences, judge it and bind it."""
    lists: Any = bundled_yaml("callboard.packs.questfoundry", "growth.yaml")
    title = await _picked(stage, "title", "Which title makes you open the book?", lists["titles"])
    first = await _picked(
        stage,
        "shape",
        "Which shape shall the story begin with?",
        [each.value for each in StoryShape],
    )
    stakes = await _picked(stage, "stakes", "What is at stake?", lists["stakes"])
    mood = await _picked(stage, "mood", "How does the place feel?", list(lists["moods"]))
    shapes = (StoryShape(first), *(each for each in StoryShape if each.value != first))
    wording = replace(plain_wording(), title=title, seeing=tuple(lists["moods"][mood]))
    book = grow_book(GrowthPlan(shapes=shapes, sections=sections, seed=seed), wording)
    book = with_sentence(book, book.start, stakes)
    spoken = 0
    for section in [each for each in book.sections if each.keystone][:_MOST_SENTENCES]:
        if section.kind is SectionKind.TERMINAL:
            continue
        after = with_sentence(book, section.id, await _finished(stage, section))
        spoken += after is not book
        book = after
    operations = operations_on(stage.studio)
    arrived = await carry_out(
        stage, "arrive", operations, import_book, book.to_json(), "a grown story", ()
    )
    gate = await carry_out(stage, "gate", operations, gate_by_code, (arrived["tu_id"],))
    made = await carry_out(stage, "bind", operations, bind_by_code, str(gate["snapshot"] or ""))
    return {
        "title": title,
        "sections": len(book.sections),
        "sentences_kept": spoken,
        "decision": gate["decision"],
        "bars": {row["bar"]: row["status"] for row in gate["bars"]},
        "files": [row["path"] for row in made["files"]],
    }
