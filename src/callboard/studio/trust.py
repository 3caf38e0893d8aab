"""Trust by folder: which folders the user trusts, and what follows for what a project brings.

Kept among the user's own data and never in a project.

A folder is known by a random id that lies in its `.callboard/local/`, by its path, its owner and
the inode of its `.callboard/`: a copy, another clone put in its place or a new owner is not it.
"""

import json
import os
import re
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from callboard.core.canonical import digest
from callboard.core.errors import InvalidInput
from callboard.core.places import data_dir
from callboard.store.files import write_atomically
from callboard.store.reading import FileRefused, read_bounded


class StandingKind(StrEnum):
    """Why a folder is trusted or not."""

    TRUSTED = "trusted"
    ONCE = "once"
    STRANGER = "stranger"
    MOVED = "moved"
    OTHER_OWNER = "other_owner"
    REPLACED = "replaced"
    REVOKED = "revoked"


_REASONS: Final = {
    StandingKind.TRUSTED: "you trust this folder",
    StandingKind.ONCE: "you trust this folder for this one command",
    StandingKind.STRANGER: "nobody has trusted this folder on this machine",
    StandingKind.MOVED: "this folder was trusted at another place",
    StandingKind.OTHER_OWNER: "this folder has had another owner since you trusted it",
    StandingKind.REPLACED: "another folder has taken the place of the one you trusted",
    StandingKind.REVOKED: "this folder is not trusted",
}


@dataclass(frozen=True, slots=True)
class FolderStanding:
    """How a folder stands.

    `identity` is the folder among the user's own data that holds this project's signing key and
    the countersigned head of its ledger. `is_made_here` says that what lies there belongs to just
    this folder: a database beside it may be opened. `kept` is where everything goes that
    Callboard adds: the project's own `.callboard/`, or for a folder nobody trusts a place of the
    user's own, so that nothing a stranger sent is read, and nothing is written through it.
    """

    kind: StandingKind
    identity: Path
    kept: Path
    is_made_here: bool

    @property
    def is_trusted(self) -> bool:
        """Whether what the folder brings is in force."""
        return self.kind in (StandingKind.TRUSTED, StandingKind.ONCE)

    @property
    def reason(self) -> str:
        """Say why, as the end of a sentence."""
        return _REASONS[self.kind]


FOLDER: Final = ".callboard"
ONCE_VARIABLE: Final = "CALLBOARD_TRUST"
ONCE: Final = "once"
KEY_FILE: Final = "key"
ADOPTING_FILE: Final = "adopting"
ID_FILE: Final = Path("local") / "project-id"

_ID: Final = re.compile(r"[0-9a-f]{32}")
_RECORD: Final = "project.json"
_MOST_BYTES: Final = 65_536


@dataclass(frozen=True, slots=True)
class Enrolled:
    """What is remembered of a folder; `trusted_at` is None if it was only ever visited."""

    id: str
    path: str
    owner: int
    inode: int
    enrolled_at: int
    trusted_at: int | None = None

    @property
    def is_trusted(self) -> bool:
        """Whether the user has trusted it and not taken that back."""
        return self.trusted_at is not None


class TrustRegistry:
    """What the user's data folder knows of projects."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        """Take the environment, which may name the data folder and grant trust for once."""
        chosen = os.environ if environment is None else environment
        self._data = data_dir(chosen)
        self._is_once = chosen.get(ONCE_VARIABLE) == ONCE

    def standing(self, root: Path) -> FolderStanding:
        """Say how a project's folder stands; `root` holds a `.callboard/`."""
        own = root / FOLDER
        project_id = _read_id(own)
        enrolled = None if project_id is None else self._find(project_id)
        kind = _compare(enrolled, root)
        is_made_here = kind in (StandingKind.TRUSTED, StandingKind.REVOKED)
        if kind is not StandingKind.TRUSTED and self._is_once:
            kind = StandingKind.ONCE
        visit = self._visit(root)
        if kind not in (StandingKind.TRUSTED, StandingKind.ONCE):
            # What is kept elsewhere is signed with a key of its own.
            return FolderStanding(kind, visit, visit / "kept", is_made_here)
        identity = self.identity(enrolled.id) if enrolled is not None and is_made_here else visit
        return FolderStanding(kind, identity, own, is_made_here)

    def enroll(self, root: Path, own: Path, now_ms: int, *, trust: bool) -> FolderStanding:
        """Give a folder an id of its own and remember it; `own` is its `.callboard/`, or will be.

        The record is written first: an id that nobody knows would make a stranger of the folder.
        """
        project_id = secrets.token_hex(16)
        enrolled = Enrolled(
            project_id,
            str(root),
            _owner(root),
            own.stat().st_ino,
            now_ms,
            now_ms if trust else None,
        )
        self._save(enrolled)
        _write_id(own, project_id)
        kind = StandingKind.TRUSTED if trust else StandingKind.REVOKED
        return FolderStanding(kind, self.identity(project_id), root / FOLDER, is_made_here=True)

    def trust(self, root: Path, now_ms: int, *, for_good: bool = True) -> FolderStanding:
        """Trust a folder, or only remember it.

        One that was moved or restored is known again by its id, with its key. That is no gift to
        a forger who knows the id: what lies in the folder must still agree with the key and the
        head that are kept here.
        """
        own = root / FOLDER
        project_id = _read_id(own)
        known = None if project_id is None else self._find(project_id)
        if known is None:
            return self.enroll(root, own, now_ms, trust=for_good)
        if known.path != str(root) and _read_id(Path(known.path) / FOLDER) == known.id:
            return self._enroll_copy(known, root, now_ms, for_good)
        here = replace(known, path=str(root), owner=_owner(root), inode=own.lstat().st_ino)
        self._save(replace(here, trusted_at=now_ms if for_good else None))
        return self.standing(root)

    def _enroll_copy(
        self, original: Enrolled, root: Path, now_ms: int, for_good: bool
    ) -> FolderStanding:
        """Enroll a copy of a folder whose original is still there: same key, an id of its own."""
        standing = self.enroll(root, root / FOLDER, now_ms, trust=for_good)
        for kept in self.identity(original.id).iterdir():
            if kept.is_file() and kept.name != _RECORD:
                shutil.copyfile(kept, standing.identity / kept.name)
                shutil.copymode(kept, standing.identity / kept.name)
        return standing

    def revoke(self, root: Path) -> bool:
        """Stop trusting a folder; say whether it was trusted. What was made here stays so."""
        enrolled = self.enrolled(root)
        if enrolled is None or not enrolled.is_trusted:
            return False
        self._save(replace(enrolled, trusted_at=None))
        return True

    def enrolled(self, root: Path) -> Enrolled | None:
        """Return what is remembered of just this folder, if it is the one that was enrolled."""
        project_id = _read_id(root / FOLDER)
        found = None if project_id is None else self._find(project_id)
        is_it = _compare(found, root) in (StandingKind.TRUSTED, StandingKind.REVOKED)
        return found if is_it else None

    def has_key_for(self, root: Path) -> bool:
        """Say whether the id that lies in a folder is one whose key was made here.

        A key that was made to adopt a stranger's database counts once that is done.
        """
        project_id = _read_id(root / FOLDER)
        known = None if project_id is None else self._find(project_id)
        if known is None or (self.identity(known.id) / ADOPTING_FILE).exists():
            return False
        return (self.identity(known.id) / KEY_FILE).exists()

    def all(self) -> tuple[Enrolled, ...]:
        """Return every folder that is remembered, the oldest first."""
        try:
            names = sorted(os.listdir(self._data / "projects"))
        except FileNotFoundError:
            return ()
        found = (self._find(name) for name in names if _ID.fullmatch(name))
        return tuple(
            sorted((each for each in found if each is not None), key=lambda each: each.enrolled_at)
        )

    def has_declined(self, root: Path) -> bool:
        """Say whether the user was asked about a folder and said no."""
        return (self._visit(root) / "declined").exists()

    def decline(self, root: Path) -> None:
        """Remember that the user does not want to be asked about a folder again."""
        write_atomically(self._visit(root) / "declined", b"")

    def identity(self, project_id: str) -> Path:
        """Return the folder that holds a project's key and head."""
        return self._data / "projects" / project_id

    def _visit(self, root: Path) -> Path:
        return self._data / "visits" / digest(str(root))[:24]

    def _find(self, project_id: str) -> Enrolled | None:
        try:
            raw = read_bounded(self.identity(project_id) / _RECORD, limit_bytes=_MOST_BYTES)
            return Enrolled(**json.loads(raw))
        except FileNotFoundError:
            return None
        except (FileRefused, ValueError, RecursionError, TypeError):
            # A record that cannot be read grants nothing.
            return None

    def _save(self, enrolled: Enrolled) -> None:
        path = self.identity(enrolled.id) / _RECORD
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomically(path, json.dumps(asdict(enrolled), indent=1).encode())
        except OSError as error:
            raise InvalidInput(
                f"Cannot remember this project in {path.parent}: {error.strerror}",
                fix="Give yourself write permission there, or name another folder with "
                "CALLBOARD_DATA_DIR.",
                path=str(path),
            ) from error


def _compare(enrolled: Enrolled | None, root: Path) -> StandingKind:
    if enrolled is None:
        return StandingKind.STRANGER
    if enrolled.path != str(root):
        return StandingKind.MOVED
    if enrolled.owner != _owner(root):
        return StandingKind.OTHER_OWNER
    if enrolled.inode != (root / FOLDER).lstat().st_ino:
        return StandingKind.REPLACED
    return StandingKind.TRUSTED if enrolled.is_trusted else StandingKind.REVOKED


def _owner(root: Path) -> int:
    return root.stat().st_uid


def _read_id(own: Path) -> str | None:
    """Return the id that lies in a folder, as far as it can be one."""
    try:
        data = read_bounded(own / ID_FILE, limit_bytes=_MOST_BYTES, within=own, follow_links=False)
    except (FileNotFoundError, FileRefused):
        return None
    text = data.decode("ascii", "replace").strip()
    return text if _ID.fullmatch(text) else None


def _write_id(own: Path, project_id: str) -> None:
    write_atomically(own / ID_FILE, project_id.encode("ascii") + b"\n", within=own)
