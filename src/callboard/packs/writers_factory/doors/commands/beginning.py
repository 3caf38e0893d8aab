"""Beginning a book: a folder becomes a project of Writers Factory, and the book gets its facts."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from callboard.cli.handlers.initiating import Initiated, initiate
from callboard.cli.handlers.opening import Choices
from callboard.cli.output import clean, echo, echo_facts, echo_json, remark
from callboard.packs.writers_factory.bible.operations import describe_book
from callboard.packs.writers_factory.doors.command_line import enter
from callboard.packs.writers_factory.factory import Factory
from callboard.packs.writers_factory.model import PACK


@dataclass(frozen=True, slots=True)
class Beginning:
    """Where a book begins, and what is known of it."""

    folder: Path
    facts: Mapping[str, str]
    with_sample: bool = False


def begin_book(wanted: Beginning, *, as_json: bool) -> int:
    """Make the folder a project and keep what is known of the book."""
    made = initiate(Initiated(wanted.folder, PACK, with_sample=wanted.with_sample))

    async def act(factory: Factory) -> None:
        known = await factory.perform(describe_book, **wanted.facts)
        if as_json:
            shape = {"project": str(made.root), "is_new": made.is_new, "book": asdict(known)}
            echo_json(shape)
            return
        echo(f"{made.root} {'is now' if made.is_new else 'already is'} a book.")
        echo_facts(
            [
                ("title", known.title),
                ("genre", known.genre),
                ("tone", known.tone),
                ("protagonist", known.protagonist_name),
            ]
        )
        for name in made.copied:
            echo(clean(f"  {name}"))
        remark("Begin: callboard factory chat (or `callboard factory order` for what is missing)")

    return enter(Choices(made.root, as_json=as_json), act)
