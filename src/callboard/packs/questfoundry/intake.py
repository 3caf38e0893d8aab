"""Intake: a story from elsewhere becomes a unit that waits for its gatecheck."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from callboard.operations import operation
from callboard.packs.questfoundry.assembly.taking_apart import difference, take_apart
from callboard.packs.questfoundry.beginning import BookPlan, new_ifid
from callboard.packs.questfoundry.book.model import Book
from callboard.packs.questfoundry.foundry import Foundry
from callboard.packs.questfoundry.shelf.shelf import Shelving
from callboard.packs.questfoundry.units.ledger import UnitOpening
from callboard.packs.questfoundry.units.unit import WorkUnit
from callboard.store.connection import Connection

Shape = dict[str, Any]
_MOST_TOLD: Final = 50
_FEW_TOLD: Final = 12
_LONGEST_TOLD: Final = 80


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_FEW_TOLD])
    return shown if len(names) <= _FEW_TOLD else f"{shown} and {len(names) - _FEW_TOLD} more"


def _brought(made: Shape) -> str:
    """Say what an import changes, what it kept as it was, and what comes next."""
    changed = [f"{name} ({', '.join(parts)})" for name, parts in made["changed"].items()]
    rows = [("new", made["added"]), ("changed", changed), ("gone", made["removed"])]
    lines = [f"{made['tu_id']}: {made['sections']} sections"]
    lines += [f"  {name}: {_listed(names)}" for name, names in rows if names]
    if len(lines) == 1:
        lines.append("  no section differs from the book")
    if made["kept_verbatim"]:
        lines.append(f"  kept as it was: {made['kept_verbatim']}")
        lines += [f"    {row['in']}: {row['text']} ({row['why']})" for row in made["kept"]]
    if made["kept_verbatim"] > len(made["kept"]):
        lines.append(f"    and {made['kept_verbatim'] - len(made['kept'])} more")
    lines += [f"  note: {each}" for each in made["notes"]]
    return "\n".join([*lines, f"Next: callboard quest gate --code {made['tu_id']}"])


@operation(tell=_brought)
async def import_book(foundry: Foundry, book: Shape, source: str, notes: tuple[str, ...]) -> Shape:
    """Bring a story in as a unit that waits for its gatecheck; tell what it changes."""
    arrived = Book.from_json(book)
    known = await _title_page(foundry, arrived, source)
    changed = difference(known, arrived)
    name = foundry.studio.ids.make("session")
    opening = UnitOpening(f"import/{name}", "import", "BB", f"Import of {source}"[:200])
    parts = take_apart(arrived)

    def act(connection: Connection) -> WorkUnit:
        unit = foundry.units.add(connection, opening)
        made: dict[str, dict[str, Any]] = {}
        for number, (kind, content) in enumerate(parts.items(), start=1):
            wanted = Shelving(kind, content, unit.id, "import", "", "book_binder")
            entry = foundry.shelf.put(connection, wanted)
            made[kind] = {"ref": entry.ref, "sha256": entry.sha256, "order": number}
        now = foundry.studio.clock.now_ms()
        done = replace(
            unit, made=made, outcome="success", ready_for_gate=True, closed_at=now, brief=source
        )
        return foundry.units.save(connection, done)

    stored = await foundry.studio.database.write(act)
    kept = [each for each in arrived.verbatim if not each.is_form]
    return {
        "tu_id": stored.id,
        "sections": len(arrived.sections),
        "added": list(changed.added),
        "changed": {name: list(parts) for name, parts in changed.changed.items()},
        "removed": list(changed.removed),
        "elsewhere": list(changed.elsewhere),
        "kept_verbatim": len(kept),
        "kept": [
            {"in": each.section or each.name, "text": _clipped(each.text), "why": each.why}
            for each in kept[:_MOST_TOLD]
        ],
        "notes": [*notes, *_another_story(known, arrived)],
    }


async def _title_page(foundry: Foundry, arrived: Book, source: str) -> Book:
    """Let a story keep its own name, number and manner in a book that is nobody's yet."""
    if foundry.cold.tip() is not None:
        known = foundry.cold_book(foundry.snapshot_named(None))
        if known.sections:
            return known
    plan = await foundry.begin(
        BookPlan(
            title=arrived.title or Path(source).stem,
            author=arrived.author,
            language=arrived.language,
            pov="",
            tense="",
            target_sections=len(arrived.sections),
            ifid=arrived.ifid or new_ifid(foundry.studio),
        )
    )
    if arrived.ifid and arrived.ifid != plan.ifid:
        await foundry.describe(lambda plan: replace(plan, ifid=arrived.ifid))
    return foundry.cold_book(foundry.snapshot_named(None))


def _another_story(known: Book, arrived: Book) -> list[str]:
    if not known.sections or not arrived.ifid or arrived.ifid == known.ifid:
        return []
    return [
        f"This is another story than {known.title!r}: its IFID is {arrived.ifid}, that of the book "
        f"{known.ifid}. Merged, it takes the place of the {len(known.sections)} sections there are."
    ]


def _clipped(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_TOLD else f"{line[: _LONGEST_TOLD - 1]}…"
