"""Archives: the whole state of a book in one file, proven by hashes, and opened again elsewhere.

Packed in order and without times, so that the same state makes the same bytes.
"""

import gzip
import io
import json
import platform
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from callboard import __version__
from callboard.core.canonical import canonical_json, digest_bytes
from callboard.core.errors import CallboardError, Conflict, NotFound
from callboard.core.events import Emitted
from callboard.packs.questfoundry.artifacts import catalog
from callboard.packs.questfoundry.foundry import Foundry
from callboard.packs.questfoundry.settings import PROJECT_FILE
from callboard.store.blobs import get_blob, put_blob
from callboard.store.connection import Connection
from callboard.store.journal.events import read_events
from callboard.store.reading import read_bounded
from callboard.studio.settings_files import parse_settings_file

MANIFEST: Final = "manifest.json"
_GUIDE: Final = "RESTORE.md"
_RECORDS: Final = "records"
_BLOBS: Final = "blobs"
_SCHEMAS: Final = "schemas"
_LOGS: Final = "decisions"
_LOGGED: Final = frozenset({"loop.decision", "loop.checkpoint"})
_SETTINGS: Final = "settings.yaml"
_MOST_SETTINGS: Final = 1_000_000
PROMPTS: Final = Path(__file__).parent / "prompts"
_MOST_BYTES: Final = 4_000_000_000
_USUAL_BYTES: Final = 64_000_000
_MOST_RATIO: Final = 50
_UNREADABLE: Final = (
    OSError,
    EOFError,
    zlib.error,
    tarfile.TarError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
)
_TEXT: Final = (
    "# How to open this archive\n\n"
    "`callboard quest restore ARCHIVE FOLDER` unpacks it into an empty folder, after it has\n"
    "compared every file with `manifest.json`. `records/` holds units, story hooks, snapshots and\n"
    "artifacts by kind and name, `blobs/` their bodies by hash, `schemas/` their shapes,\n"
    "`decisions/` what was decided in each unit, to read. `settings.yaml` is put back, too,\n"
    "but not where copies of archives go: that is for its new owner to say.\n"
)


class ArchiveDamaged(CallboardError):
    """An archive does not hold what its manifest says."""

    code = "quest_archive_damaged"
    is_refusal = True


@dataclass(frozen=True, slots=True)
class Unpacked:
    """What was found in an archive."""

    files: Mapping[str, bytes]
    manifest: Mapping[str, Any]


def collected(foundry: Foundry) -> dict[str, bytes]:
    """Return every file of an archive, by path: records in order, bodies, schemas."""

    def act(connection: Connection) -> dict[str, bytes]:
        files: dict[str, bytes] = {}
        for number, (kind, name, body) in enumerate(foundry.records.everything(connection)):
            row = {"kind": kind, "id": name, "body": body}
            files[f"{_RECORDS}/{number:07d}.json"] = canonical_json(row).encode()
            for sha in _hashes(kind, body):
                files.setdefault(f"{_BLOBS}/{sha}", get_blob(connection, sha))
        return files

    files = foundry.studio.database.read(act)
    files |= _told(foundry)
    for kind in catalog.shapes():
        files[f"{_SCHEMAS}/{kind}.json"] = canonical_json(catalog.schema_of(kind)).encode()
    files[_GUIDE] = _TEXT.encode()
    return files


def _told(foundry: Foundry) -> dict[str, bytes]:
    """Return what is no record: decisions and checkpoints of units, settings, versions."""
    files: dict[str, bytes] = {}

    def act(connection: Connection) -> None:
        for unit in foundry.units.all():
            runs = dict.fromkeys(each.partition("/")[0] for each in unit.runs)
            rows = [
                {"name": body.name, **cast("dict[str, Any]", body.data)}
                for run_id in runs
                for each in read_events(connection, run_id=run_id)
                if isinstance(body := each.body, Emitted)
                and body.name in _LOGGED
                and cast("dict[str, Any]", body.data).get("unit") == unit.id
            ]
            lines = "".join(f"{canonical_json(row)}\n" for row in rows)
            if lines:
                files[f"{_LOGS}/{unit.id}.jsonl"] = lines.encode()

    foundry.studio.database.read(act)
    own = foundry.studio.project.root / PROJECT_FILE
    if own.is_file():
        files[_SETTINGS] = read_bounded(
            own, limit_bytes=_MOST_SETTINGS, within=foundry.studio.project.root
        )
    paths = sorted(PROMPTS.rglob("*.md"))
    texts = [read_bounded(each, limit_bytes=_MOST_SETTINGS) for each in paths]
    versions = {
        "callboard": __version__,
        "python": platform.python_version(),
        "prompts": digest_bytes(b"\0".join(texts)),
    }
    files["versions.json"] = canonical_json(versions).encode()
    return files


def _hashes(kind: str, body: Mapping[str, Any]) -> Iterator[str]:
    if kind.startswith("artifact:"):
        yield str(body["sha256"])
    elif kind == "snapshot":
        yield from (str(each["sha256"]) for each in body["files"].values())


def manifest_of(files: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """Return path, size and hash of each file."""
    return [
        {"path": path, "size": len(data), "sha256": digest_bytes(data)}
        for path, data in sorted(files.items())
    ]


def packed(files: Mapping[str, bytes], manifest: Mapping[str, Any]) -> bytes:
    """Return the archive: sorted, without times."""
    held = io.BytesIO()
    whole = {**files, MANIFEST: canonical_json(dict(manifest)).encode()}
    with (
        gzip.GzipFile(fileobj=held, mode="wb", mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for path in sorted(whole):
            info = tarfile.TarInfo(path)
            info.size = len(whole[path])
            info.mode = 0o644
            tar.addfile(info, io.BytesIO(whole[path]))
    return held.getvalue()


def unpacked(data: bytes) -> Unpacked:
    """Read an archive and compare every file with the manifest; what differs is named."""
    files: dict[str, bytes] = {}
    try:
        # Read to its very end first: the sum of the whole stands behind what tar reads.
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as zipped:
            plain = zipped.read(_most_plain(len(data)) + 1)
        if len(plain) > _most_plain(len(data)):
            raise ValueError(f"unpacked it is over {_most_plain(len(data)):,} bytes")
        with tarfile.open(fileobj=io.BytesIO(plain), mode="r:") as tar:
            for info in tar:
                held = tar.extractfile(info) if info.isfile() else None
                if held is None:
                    raise ValueError(f"{info.name} is a link or a device, and no file")
                files[info.name] = held.read()
        if MANIFEST not in files:
            raise ValueError(f"it holds no {MANIFEST}")
        manifest: Any = json.loads(files.pop(MANIFEST))
        rows = {str(row["path"]): row for row in manifest["files"]}
    except _UNREADABLE as error:
        raise ArchiveDamaged(
            f"The archive cannot be read: {error}", fix="Take another copy of it."
        ) from error
    wrong = mismatches(files, rows)
    if wrong:
        raise ArchiveDamaged(
            f"Not what was packed: {', '.join(wrong[:10])}",
            fix="Take another copy of the archive.",
            files=wrong[:100],
        )
    return Unpacked(files, manifest)


def _most_plain(packed_bytes: int) -> int:
    """Return what an archive may unpack to: names and hashes do not pack better than that."""
    return min(_MOST_BYTES, max(_USUAL_BYTES, _MOST_RATIO * packed_bytes))


def mismatches(files: Mapping[str, bytes], rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the paths that are missing, new or other than the manifest says."""
    wrong = sorted(files.keys() ^ rows.keys())
    wrong += [
        path
        for path, data in files.items()
        if path in rows and digest_bytes(data) != rows[path]["sha256"]
    ]
    return wrong


def read_archive(path: Path) -> Unpacked:
    """Read an archive from a file; one that is not what was packed is refused."""
    try:
        data = read_bounded(path, limit_bytes=_MOST_BYTES)
    except FileNotFoundError:
        raise NotFound(
            f"There is no file {str(path)!r}", fix="Name a file made by `callboard quest archive`."
        ) from None
    return unpacked(data)


def check_target(folder: Path) -> None:
    """Refuse to restore into a folder with something in it."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Conflict(f"{folder} is not empty", fix="Name a folder that does not exist yet.")


def settings_within(archive: Unpacked) -> bytes | None:
    """Return the settings of an archive without the folders outside that they name, if it has any.

    They come from somebody else: what they say of the book counts, where they write does not.
    """
    data = archive.files.get(_SETTINGS)
    if data is None:
        return None
    values = parse_settings_file(data)
    section: Any = values.get("archive")
    if not isinstance(section, dict) or not cast("dict[str, Any]", section).get("copies"):
        return data
    kept: dict[str, Any] = {**values, "archive": {**section, "copies": []}}
    import yaml

    return yaml.safe_dump(kept, sort_keys=False, allow_unicode=True).encode()


async def restored(foundry: Foundry, archive: Unpacked) -> int:
    """Put everything of an archive into an empty project; return how many records it has."""

    def act(connection: Connection) -> int:
        if next(iter(foundry.records.everything(connection)), None) is not None:
            raise Conflict("The project has a book already", fix="Restore into an empty one.")
        for path, data in archive.files.items():
            if path.startswith(f"{_BLOBS}/"):
                put_blob(connection, data)
        rows = sorted(path for path in archive.files if path.startswith(f"{_RECORDS}/"))
        for path in rows:
            row = json.loads(archive.files[path])
            foundry.records.store(connection, row["kind"], row["id"], row["body"])
            for sha in _hashes(row["kind"], row["body"]):
                if f"{_BLOBS}/{sha}" not in archive.files:
                    raise NotFound(f"The archive lacks the body {sha} of {row['id']}")
        tip = foundry.cold.load_tip(connection)
        if tip is not None:
            foundry.cold.canon.project(connection, tip)
        return len(rows)

    return await foundry.studio.database.write(act)
