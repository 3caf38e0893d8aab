"""Playing at the terminal, and reading somebody's story from a file."""

import sys
from pathlib import Path

from callboard.cli.output import clean, echo, echo_json, remark
from callboard.core.errors import NotFound
from callboard.packs.questfoundry.book.model import Book
from callboard.packs.questfoundry.book.playing import (
    Offered,
    ReaderPosition,
    begin,
    is_end,
    offers,
    take,
)
from callboard.packs.questfoundry.formats.arrival import kind_of_file, merge, read_story, text_of
from callboard.packs.questfoundry.formats.prose import WORDS
from callboard.packs.questfoundry.foundry import Foundry
from callboard.store.reading import read_bounded

_MOST_BYTES = 50_000_000


def arrived(foundry: Foundry, file: Path) -> tuple[Book, tuple[str, ...]]:
    """Read a story file: as a new book, or as an edited export of the one there is."""
    try:
        data = read_bounded(file, limit_bytes=_MOST_BYTES)
    except FileNotFoundError:
        raise NotFound(
            f"There is no file {str(file)!r}", fix="Name the file of a story.", path=str(file)
        ) from None
    kind = kind_of_file(text_of(data)[0], file.name)
    story = read_story(data, kind)
    tip = foundry.cold.tip()
    known = None if tip is None else foundry.cold_book(tip)
    is_edited = kind != "book" and story.book.ifid in ("", None if known is None else known.ifid)
    if known is not None and known.sections and is_edited:
        merged, _ = merge(known, story, kind)
        return merged, story.notes
    return story.book, (*story.notes, *story.shown)


def play_at_terminal(book: Book, taken: list[str], *, as_json: bool) -> int:
    """Play a book: first what was chosen beforehand, then by hand if somebody is there."""
    here = begin(book)
    way: list[dict[str, str]] = []
    for named in taken:
        held = {each.choice.id: each for each in _choices(book, here)}
        choice = _by_number(named, list(held))
        way.append({"section": here.section, "choice": choice})
        if choice in held and not held[choice].is_open:
            way[-1]["refusal"] = held[choice].refusal
            continue
        here = take(book, here, choice)
    if as_json:
        section = book.by_id[here.section]
        shown = _choices(book, here)
        echo_json(
            {"way": way, "section": section.id, "title": section.title, "text": section.text}
            | {"choices": [each.choice.id for each in shown if each.is_open]}
            | {"offers": [_offer(number, each) for number, each in enumerate(shown, start=1)]}
            | {"is_end": is_end(section), "ending": _ending(book, section.id)}
        )
        return 0
    for each in way:
        if "refusal" in each:
            echo(clean(each["refusal"]))
    while True:
        choices = _show(book, here)
        going = _asked(book, here, choices) if choices else None
        if going is None:
            return 0
        here = going


def _by_number(named: str, held: list[str]) -> str:
    """Return the choice somebody means: by its id, or by the number it is shown with."""
    is_number = named not in held and named.isdecimal() and 1 <= int(named) <= len(held)
    return held[int(named) - 1] if is_number else named


def _offer(number: int, offered: Offered) -> dict[str, str | int | bool]:
    told = {"id": offered.choice.id, "label": offered.choice.label, "refusal": offered.refusal}
    return {"number": number, **told, "is_open": offered.is_open}


def _ending(book: Book, section: str) -> str:
    return next((each.title for each in book.endings if each.section == section), "")


def _choices(book: Book, here: ReaderPosition) -> list[Offered]:
    return [] if is_end(book.by_id[here.section]) else offers(book, here)


def _show(book: Book, here: ReaderPosition) -> list[Offered]:
    section = book.by_id[here.section]
    echo(clean(f"\n{section.title}\n\n{section.text}\n"))
    choices = _choices(book, here)
    for number, each in enumerate(choices, start=1):
        echo(clean(f"  {number}. {each.choice.label}"))
    if not choices and not is_end(section):
        echo(WORDS.left_open)
    elif not choices:
        ending = _ending(book, section.id)
        echo(clean(f"The end: {ending}." if ending else "The end."))
    return choices


def _asked(book: Book, here: ReaderPosition, choices: list[Offered]) -> ReaderPosition | None:
    """Return where the reader goes, or None if they leave."""
    is_person = sys.stdin.isatty()
    while True:
        if is_person:
            sys.stderr.write("> ")
            sys.stderr.flush()
        typed = sys.stdin.readline()
        if not typed or typed.strip() == "/quit":
            return None
        if typed.strip().isdecimal() and 1 <= int(typed) <= len(choices):
            chosen = choices[int(typed) - 1]
            if chosen.is_open:
                return take(book, here, chosen.choice.id)
            remark(clean(chosen.refusal))
        else:
            remark(f"A number from 1 to {len(choices)}, please; /quit leaves.")
