"""What a folder brings in its `.callboard/`: looked at from outside, without doing any of it."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.core.canonical import Json
from callboard.core.parsing import FileProblem
from callboard.core.settings.layers import leaves, show, with_text_names
from callboard.core.settings.schema import find, key_text
from callboard.studio.settings_files import parse_settings_file, read_settings_file

_MEANINGS: Final = {
    "agents.yaml": "changes who is on the staff, what they are told and which model they ask",
    "recipes": "recipes of its own",
    "loops": "loops of its own",
    "prompts": "prompt texts in place of Callboard's own",
    "callboard.db": "a database: runs, receipts, answers in your name",
    "kitchen.db": "a kitchen's database",
    "audit": "receipts, and perhaps the key that signed them",
    "runs": "readable copies of runs",
    "sessions": "readable copies of plans",
    "issues": "a readable copy of issues",
    "backups": "copies of older files",
    "locks": "locks of processes",
    "knowledge": "an exported graph",
}
_UNSAID: Final = frozenset((".gitignore", "config.yaml", "local"))
_MOST_ENTRIES: Final = 200
_MOST_SETTINGS: Final = 20


@dataclass(frozen=True, slots=True)
class Brought:
    """One thing a folder brings, and what trusting the folder would let it do."""

    name: str
    told: str

    def shape(self) -> dict[str, Json]:
        """Return it as JSON."""
        return {"name": self.name, "told": self.told}


def names_brought(own: Path) -> list[str]:
    """Return the names of what would count if the folder were trusted."""
    said = ["config.yaml"] if any(_settings(own, "config.yaml")) else []
    unsaid = (".gitignore", "config.yaml")
    return said + [
        name for name in _entries(own) if name not in unsaid and not _is_empty(own / name)
    ]


def survey(own: Path) -> tuple[Brought, ...]:
    """Return everything a folder brings, the most telling first."""
    found = [*_settings(own, "config.yaml"), *_settings(own, "local/config.yaml")]
    found += [
        Brought(f"local/{name}", "for this machine only: should not have come with a folder")
        for name in _entries(own / "local")
        if name not in ("config.yaml", "project-id")
    ]
    for name in _entries(own):
        if name not in _UNSAID and not _is_empty(own / name):
            found.append(_thing(own, name))
    return tuple(found)


def _thing(own: Path, name: str) -> Brought:
    path = own / name
    if path.is_symlink():
        return Brought(name, "a link that leads somewhere else: refused")
    told = _MEANINGS.get(name) or _MEANINGS.get(name.split("-")[0], "")
    if not told:
        told = "settings of a pack" if name.endswith(".yaml") else "unknown to Callboard"
    if path.is_dir():
        told = f"{told} ({', '.join(_entries(path)[:5])})"
    return Brought(name, told)


def _settings(own: Path, name: str) -> Iterator[Brought]:
    path = own / name
    if (own / name.partition("/")[0]).is_symlink() or path.is_symlink():
        yield Brought(name, "a link that leads somewhere else: refused")
        return
    try:
        data = parse_settings_file(read_settings_file(path, own))
    except FileProblem as problem:
        yield Brought(name, problem.message)
        return
    said = [
        f"{key_text(key)} = {show(key, value)}"
        for key, value in leaves(with_text_names(data))
        if (node := find(key)) is None or not node.is_harmless
    ]
    if said:
        more = f", and {len(said) - _MOST_SETTINGS} more" if len(said) > _MOST_SETTINGS else ""
        yield Brought(name, f"sets {', '.join(said[:_MOST_SETTINGS])}{more}")


def _entries(folder: Path) -> list[str]:
    if folder.is_symlink():
        return []
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry, _ in zip(entries, range(_MOST_ENTRIES)))  # noqa: B905 - the range ends it
    except OSError:
        return []


def _is_empty(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and not _entries(path)
