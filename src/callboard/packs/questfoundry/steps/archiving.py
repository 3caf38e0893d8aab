"""Code of archiving: what is frozen, packed, unpacked to compare, and listed."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from callboard import __version__
from callboard.choreography.loop import CodeOutcome, StepView
from callboard.core.canonical import Json, digest_bytes
from callboard.core.clock import iso
from callboard.packs.questfoundry.archive import (
    ArchiveDamaged,
    collected,
    manifest_of,
    packed,
    unpacked,
)
from callboard.packs.questfoundry.foundry import Foundry
from callboard.packs.questfoundry.steps.reports import said_in
from callboard.packs.questfoundry.units.ledger import day_of
from callboard.store.files import telling_refusals, write_atomically
from callboard.store.reading import read_bounded

ARCHIVES: Final = "archives"
_MOST_BYTES: Final = 4_000_000_000


async def open_units(foundry: Foundry, view: StepView) -> Json:
    """Show what is under way."""
    units = foundry.studio.database.read(foundry.units.open_ones)
    return {"open": [{"id": each.id, "status": each.status.value} for each in units]}


async def frozen_now(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Write down when it was, and what was under way."""
    said = said_in(view, "freeze_record")
    units = foundry.studio.database.read(foundry.units.open_ones)
    said["at"] = iso(foundry.studio.clock.now_ms())
    said["active_tus"] = [f"{each.id} ({each.status.value})" for each in units]
    return CodeOutcome({"freeze_record": said})


async def collection(foundry: Foundry, view: StepView) -> Json:
    """Show how much goes into the archive."""
    files = await asyncio.to_thread(collected, foundry)
    return {"files": len(files), "bytes": sum(len(each) for each in files.values())}


async def whole_collection(foundry: Foundry, view: StepView) -> CodeOutcome:
    """List everything that goes into the archive."""
    files = await asyncio.to_thread(collected, foundry)
    return CodeOutcome({"collection_list": {"paths": sorted(files)}})


async def archive_manifest(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Write down size and hash of each file."""
    files = await asyncio.to_thread(collected, foundry)
    listed = {*view.content("collection_list")["paths"]}
    rows = manifest_of({path: data for path, data in files.items() if path in listed})
    manifest = {"files": rows, "versions": {"callboard": __version__, "prompts": "0.2.0"}}
    return CodeOutcome({"archive_manifest": manifest})


def _path(foundry: Foundry, label: str) -> Path:
    root = foundry.studio.project.root
    day = f"{day_of(foundry.studio.clock):%Y%m%d}"
    return root / ARCHIVES / f"{root.name}-{label}-{day}.tar.gz"


async def archive_package(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Pack what the manifest lists, as it is now, and copy it where the settings say."""
    listed = [str(row["path"]) for row in view.content("archive_manifest")["files"]]
    package = await pack(foundry, str(view.content("freeze_record")["label"]), listed)
    return CodeOutcome({"archive_package": package})


async def pack(foundry: Foundry, label: str, listed: list[str] | None = None) -> dict[str, Json]:
    """Write an archive and its copies: all there is, or what is listed; return where and what."""
    path = _path(foundry, label)
    root = foundry.studio.project.root

    def write() -> tuple[int, str]:
        files = collected(foundry)
        wanted = files.keys() if listed is None else frozenset(listed)
        chosen = {name: data for name, data in files.items() if name in wanted}
        manifest = {"files": manifest_of(chosen), "label": label, "callboard": __version__}
        data = packed(chosen, manifest)
        with telling_refusals(path):
            write_atomically(path, data, within=root, kept=foundry.studio.project.folder)
        for copy in (Path(folder) / path.name for folder in foundry.settings.archive.copies):
            with telling_refusals(copy):
                write_atomically(copy, data)
        return len(data), digest_bytes(data)

    size, sha = await asyncio.to_thread(write)
    return {"path": f"{ARCHIVES}/{path.name}", "size": size, "sha256": sha}


async def restore_test(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Unpack the archive, compare every file, and read every artifact in it."""
    wrong = await unpack_to_compare(foundry, view.content("archive_package"))
    return CodeOutcome({"restore_report": {"ok": not wrong, "mismatches": cast("Json", wrong)}})


async def unpack_to_compare(foundry: Foundry, package: Mapping[str, Any]) -> list[str]:
    """Return what of an archive on the disk is not what was packed."""
    root = foundry.studio.project.root
    data = await asyncio.to_thread(
        read_bounded, root / package["path"], limit_bytes=_MOST_BYTES, within=root
    )
    wrong = [] if digest_bytes(data) == package["sha256"] else [str(package["path"])]
    try:
        await asyncio.to_thread(unpacked, data)
    except ArchiveDamaged as damaged:
        wrong += [str(each) for each in damaged.context.get("files", [package["path"]])]
    return wrong


async def catalog_archive(foundry: Foundry, view: StepView) -> CodeOutcome:
    """List the archive."""
    package = view.content("archive_package")
    entry = {
        "label": str(view.content("freeze_record")["label"]),
        "path": package["path"],
        "sha256": package["sha256"],
        "snapshot_ids": [each.id for each in foundry.cold.all()],
        "restore_ok": bool(view.content("restore_report")["ok"]),
    }
    return CodeOutcome({"archive_index_entry": entry})
