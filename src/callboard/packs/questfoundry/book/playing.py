"""Playing: what a reader sees and may do at a place of the book. The meaning of a book is here.

Every export and every proof must agree with it. It plays drafts too: a choice that leads nowhere
is refused by name.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from callboard.core.errors import CallboardError, Conflict
from callboard.packs.questfoundry.book.model import (
    Book,
    Gateway,
    KeyChange,
    KeyTest,
    Section,
    SectionKind,
    StoryChoice,
)


class CannotPlay(CallboardError):
    """A move that the book does not offer."""

    code = "quest_cannot_play"


@dataclass(frozen=True, slots=True)
class ReaderPosition:
    """Where a reader is, and what they hold."""

    section: str
    keys: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Offered:
    """A choice a reader sees; one that is not open shows the refusal of its gateway."""

    choice: StoryChoice
    is_open: bool
    refusal: str = ""


def nothing_written() -> Conflict:
    """Return how to say that a book has no section that readers may see."""
    return Conflict(
        "The book has no section yet: nothing has passed a gatecheck",
        fix="`callboard quest import FILE` or a loop makes something, `callboard quest gate` merges"
        " it.",
    )


def begin(book: Book) -> ReaderPosition:
    """Open the book at its start."""
    if not book.sections:
        raise nothing_written()
    return enter(book, book.start, frozenset())


def enter(book: Book, section: str, keys: frozenset[str]) -> ReaderPosition:
    """Come to a section: its own effects happen."""
    found = book.by_id.get(section)
    if found is None:
        raise CannotPlay(
            f"There is no section {section!r}",
            fix="Give the choice a section that exists, or write this one.",
        )
    return ReaderPosition(section, applied(keys, found.effects))


def offers(book: Book, position: ReaderPosition) -> list[Offered]:
    """Return what is offered here, in the book's order; hidden choices are left out."""
    return [
        offered
        for choice in book.by_id[position.section].choices
        if (offered := _offered(book, choice, position.keys)) is not None
    ]


def take(book: Book, position: ReaderPosition, choice: str) -> ReaderPosition:
    """Follow an open choice: its effects happen, then those of the section it leads to."""
    for offered in offers(book, position):
        if offered.choice.id == choice and offered.is_open:
            return enter(book, offered.choice.to, applied(position.keys, offered.choice.effects))
    open_ones = [each.choice.id for each in offers(book, position) if each.is_open]
    raise CannotPlay(
        f"Section {position.section!r} does not offer {choice!r} now",
        fix=f"Open here: {', '.join(open_ones) or 'nothing'}.",
    )


def is_end(section: Section) -> bool:
    """Say whether the story is over here: by its kind, whatever stands below it."""
    return section.kind is SectionKind.TERMINAL


def is_left_open(section: Section) -> bool:
    """Say whether nobody knows what comes next: no way on is written, and it is no end."""
    return not section.choices and not is_end(section)


def needs(book: Book, choice: StoryChoice) -> tuple[KeyTest, ...]:
    """Return everything a choice asks for, its gateway's key included, each once."""
    gateway = _gateway(book, choice)
    own = KeyTest(gateway.key, gateway.negated) if gateway else None
    if own is None or own in choice.requires:
        return choice.requires
    return (*choice.requires, own)


def applied(keys: frozenset[str], effects: Iterable[KeyChange]) -> frozenset[str]:
    """Return the keys after some effects, in their order."""
    held = set(keys)
    for effect in effects:
        (held.add if effect.op == "set" else held.discard)(effect.key)
    return frozenset(held)


def _offered(book: Book, choice: StoryChoice, keys: frozenset[str]) -> Offered | None:
    if all(condition.holds(keys) for condition in needs(book, choice)):
        return Offered(choice, is_open=True)
    gateway = _gateway(book, choice)
    return Offered(choice, is_open=False, refusal=gateway.refusal) if gateway else None


def _gateway(book: Book, choice: StoryChoice) -> Gateway | None:
    return book.gateway_by_id.get(choice.gateway) if choice.gateway else None
