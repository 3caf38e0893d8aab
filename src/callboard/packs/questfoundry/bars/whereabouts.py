"""Whereabouts of a section: the ways in and out, what each asks for, and who can come to it."""

from collections.abc import Sequence
from typing import Any

from callboard.core.errors import NotFound
from callboard.packs.questfoundry.bars.brackets import BracketProof, bracket
from callboard.packs.questfoundry.bars.playthroughs import NOWHERE
from callboard.packs.questfoundry.bars.ways import Effort, net_of
from callboard.packs.questfoundry.book.model import Book, KeyChange, KeyTest, StoryChoice
from callboard.packs.questfoundry.book.playing import is_end, needs

Shape = dict[str, Any]


def list_sections(book: Book) -> list[Shape]:
    """Return every section in the book's order: its kind, its ways in and out, its end."""
    ways_in: dict[str, int] = {}
    for each in book.sections:
        for choice in each.choices:
            ways_in[choice.to] = ways_in.get(choice.to, 0) + 1
    endings = {each.section: each.title for each in book.endings}
    return [
        {
            "id": each.id,
            "title": each.title,
            "kind": "start" if each.id == book.start else each.kind.value,
            "is_end": is_end(each),
            "ending": endings.get(each.id, ""),
            "ways_in": ways_in.get(each.id, 0),
            "ways_out": len(each.choices),
            "words": len(each.text.split()),
        }
        for each in book.sections
    ]


def whereabouts(book: Book, section_id: str) -> Shape:
    """Return a section with its ways in and out, and a playthrough that comes to it."""
    section = book.by_id.get(section_id)
    if section is None:
        close = [each.id for each in book.sections if each.title == section_id]
        raise NotFound(
            f"There is no section {section_id!r}",
            fix=f"Did you mean {close[0]}?" if close else "`callboard quest sections` lists them.",
        )
    (row,) = [each for each in list_sections(book) if each["id"] == section.id][:1]
    reach = _reach(book)
    number = None if reach is None else reach.net.ids.index(section.id)
    return {
        **row,
        "text": section.text,
        "gives": _changes(section.effects),
        "out": [{**_way(book, each), "to": each.to} for each in section.choices],
        "in": [
            {**_way(book, choice), "from": each.id}
            for each in book.sections
            for choice in each.choices
            if choice.to == section.id
        ],
        **_proved(book, reach, number),
    }


def _reach(book: Book) -> BracketProof | None:
    net = net_of(book)
    return None if net is None else bracket(net, Effort().begin())


def _proved(book: Book, reach: BracketProof | None, number: int | None) -> Shape:
    if reach is None or number is None:
        return {"reached": "unknown", "playthrough": []}
    if reach.played.first[number] == NOWHERE:
        return {"reached": "never" if number in reach.never else "undecided", "playthrough": []}
    steps: list[Shape] = []
    at = book.start
    for name in reach.witness(number):
        choice = next(each for each in book.by_id[at].choices if each.id == name)
        steps.append({"section": at, "choice": name, "label": choice.label})
        at = choice.to
    return {"reached": "reachable", "playthrough": steps}


def _way(book: Book, choice: StoryChoice) -> Shape:
    gateway = book.gateway_by_id.get(choice.gateway) if choice.gateway else None
    return {
        "choice": choice.id,
        "label": choice.label,
        "asks_for": [_asked(each) for each in needs(book, choice)],
        "gives": _changes(choice.effects),
        "phrase": "" if gateway is None else gateway.phrase,
        "refusal": "" if gateway is None else gateway.refusal,
    }


def _asked(test: KeyTest) -> str:
    return f"not {test.key}" if test.negated else test.key


def _changes(effects: Sequence[KeyChange]) -> list[str]:
    return [each.key if each.op == "set" else f"not {each.key}" for each in effects]
