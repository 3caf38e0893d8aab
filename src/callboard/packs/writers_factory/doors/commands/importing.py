"""Importing: a file from anywhere, or a file or folder of the project, shown or taken in."""

from dataclasses import dataclass
from pathlib import Path

from callboard.core.errors import NotFound
from callboard.operations import lending
from callboard.packs.writers_factory.doors.tell.exchange import import_report
from callboard.packs.writers_factory.exchange.arrival import (
    Arrival,
    arrival_in,
    preview_import,
    read_arrival,
)
from callboard.packs.writers_factory.exchange.operations import (
    Delivery,
    import_delivery,
    import_manuscript,
    undo_import,
)
from callboard.packs.writers_factory.exchange.pieces import MOST_BYTES
from callboard.packs.writers_factory.factory import Factory
from callboard.store.reading import read_bounded


@dataclass(frozen=True, slots=True)
class ImportWish:
    """What is to be imported, and how; without a source the last import is taken back."""

    source: Path | None
    is_written: bool = False
    replaces: bool = False
    appends: bool = False


async def take_in(factory: Factory, wish: ImportWish, *, as_json: bool) -> None:
    """Show an import, make it, or take the last one back."""
    if wish.source is None:
        import_report(await factory.perform(undo_import), as_json=as_json)
        return
    inside = _path_inside(factory, wish.source)
    arrival = _read(wish.source) if inside is None else arrival_in(factory.workspace, inside)
    how = (wish.replaces, wish.appends)
    if not wish.is_written:
        seen = preview_import(factory.workspace, arrival, replace=how[0], append=how[1])
        import_report(seen, as_json=as_json)
    elif inside is not None:
        made = await factory.perform(import_manuscript, inside, *how)
        import_report(made, as_json=as_json)
    else:
        with lending(Delivery(factory.workspace, arrival)):
            made = await factory.perform(import_delivery, arrival.name, arrival.sha256, *how)
        import_report(made, as_json=as_json)


def _path_inside(factory: Factory, source: Path) -> str | None:
    root, place = factory.workspace.files.root, source.resolve()
    return place.relative_to(root).as_posix() if place.is_relative_to(root) else None


def _read(source: Path) -> Arrival:
    try:
        data = read_bounded(source, limit_bytes=MOST_BYTES)
    except FileNotFoundError:
        raise NotFound(f"There is no file {source}", fix="Check its path.") from None
    return read_arrival(data, source.name)
