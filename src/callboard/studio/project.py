"""Project: a folder the user owns. Everything Callboard adds lives in its `.callboard/`."""

import contextlib
import fcntl
import logging
import os
import secrets
import shutil
from collections.abc import Generator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Final

from callboard.core.clock import Clock, SystemClock
from callboard.core.errors import InvalidInput, NotFound
from callboard.store.files import write_atomically
from callboard.studio.trust import FOLDER, KEY_FILE, FolderStanding, TrustRegistry
from callboard.studio.trust_survey import names_brought
from callboard.tools.audit import Signer, Trail

_log: Final = logging.getLogger(__name__)
_FOLDERS: Final = ("runs", "audit", "prompts", "recipes", "local")
_MAKING: Final = ".callboard-making-"
_CONFIG: Final = """\
# Callboard settings of this project; `callboard doctor` reports what is wrong with them.
# models:
#   default: local
"""
_PACK_LINE: Final = "pack: {pack}\n"
_IGNORE: Final = """\
# What Callboard derives or keeps for itself; config.yaml, recipes/ and prompts/ are yours.
callboard.db*
kitchen.db*
runs/
audit/
sessions/
issues/
backups/
locks/
local/
"""


@dataclass(frozen=True)
class Project:
    """The paths of a project, as far as the user trusts its folder."""

    root: Path

    @cached_property
    def standing(self) -> FolderStanding:
        """How the folder stands with the user, when it was first asked."""
        return TrustRegistry().standing(self.root)

    @property
    def folder(self) -> Path:
        """Where Callboard keeps what it adds: in the project only if its folder is trusted."""
        return self.standing.kept

    @property
    def brought(self) -> Path:
        """The `.callboard/` that lies in the folder, whoever put it there."""
        return self.root / FOLDER

    @property
    def key(self) -> Path:
        """The signing key: among the user's own data, out of reach of the folder."""
        return self.standing.identity / KEY_FILE

    @property
    def head(self) -> Path:
        """Where the end of the ledger is countersigned, out of reach of the folder."""
        return self.standing.identity / "head"

    @property
    def database(self) -> Path:
        """The journal and everything else that must not be lost."""
        return self.folder / "callboard.db"

    @property
    def runs(self) -> Path:
        """The readable mirror of runs."""
        return self.folder / "runs"

    @property
    def audit(self) -> Path:
        """Receipts and agent responses, for reading."""
        return self.folder / "audit"

    @property
    def trail(self) -> Trail:
        """The audit trail, with the keys that sign it."""
        adopted = self.standing.identity / "adopted.key"
        return Trail(self.audit, self.key, adopted if adopted.exists() else None)

    @property
    def issues(self) -> Path:
        """The readable copy of the issues."""
        return self.folder / "issues" / "issues.json"

    @property
    def sessions(self) -> Path:
        """Readable copies of plans, one folder each."""
        return self.folder / "sessions"

    @property
    def prompts(self) -> Path:
        """The project's own prompt templates."""
        return self.folder / "prompts"

    @property
    def recipes(self) -> Path:
        """The project's own recipes."""
        return self.folder / "recipes"

    @property
    def agents(self) -> Path:
        """The project's own words on agents."""
        return self.folder / "agents.yaml"

    @property
    def local(self) -> Path:
        """What belongs to this machine and is never shared: settings and keys."""
        return self.folder / "local"

    @property
    def logs(self) -> Path:
        """What runs in the background wrote to their terminal that is not there."""
        return self.local / "logs"

    @property
    def locks(self) -> Path:
        """One locked file per process that has the project open."""
        return self.folder / "locks"

    def make_key(self) -> None:
        """Make the signing key if there is none; a database beside it then counts as made here."""
        Signer(self.trail).make()

    def told(self, path: Path) -> str:
        """Return a path as the user should read it: within the project where it lies there."""
        inside = path.is_relative_to(self.root)
        return path.relative_to(self.root).as_posix() if inside else str(path)

    @property
    def exists(self) -> bool:
        """Whether the folder has been made a project."""
        return self.brought.is_dir()

    @classmethod
    def find(cls, start: Path) -> "Project":
        """Return the project at or above a folder, and say once if nobody trusts it."""
        found = cls.locate(start)
        if not found.standing.is_trusted:
            _tell_untrusted(found)
        return found

    @classmethod
    def locate(cls, start: Path) -> "Project":
        """Return the project at or above a folder; none is an error that says how to make one."""
        here = start.resolve()
        if not here.is_dir():
            raise NotFound(f"There is no folder {start}", fix="Name a folder.", path=str(start))
        for folder in (here, *here.parents):
            if (folder / FOLDER).is_dir():
                return cls(folder)
        raise NotFound(
            f"{start} is not a Callboard project, nor is any folder above it",
            fix="Run `callboard init` in the folder that holds your work.",
            path=str(start),
        )

    @classmethod
    def init(cls, root: Path, *, pack: str | None = None, clock: Clock | None = None) -> "Project":
        """Make a folder a project, for a pack if one is named; doing it again changes nothing.

        Who makes a project trusts it. What is a project already stays as trusted as it was.
        """
        if root.exists() and not root.is_dir():
            raise InvalidInput(f"{root} is a file, not a folder", fix="Name a folder.")
        project = cls(root.resolve())
        try:
            project.root.mkdir(parents=True, exist_ok=True)
            if not project.exists:
                _make(project, pack, (clock or SystemClock()).now_ms())
            elif project.standing.is_trusted:
                _mend(project)
            _sweep(project.root)
        except PermissionError as error:
            raise InvalidInput(
                f"Cannot write to {project.brought}: {error.strerror}",
                fix="Give yourself write permission, or choose another folder.",
                path=str(project.brought),
            ) from error
        return project


@cache
def _tell_untrusted(project: Project) -> None:
    ignored = ", ".join(names_brought(project.brought)) or "nothing so far"
    _log.warning(
        "%s is not trusted (%s): only its text is used. Ignored: %s. `callboard trust` asks.",
        project.root,
        project.standing.reason,
        ignored,
    )


def _make(project: Project, pack: str | None, now_ms: int) -> None:
    """Put a complete `.callboard/` in place in one motion: a kill leaves none, or a whole one."""
    making = project.root / f"{_MAKING}{secrets.token_hex(8)}"
    making.mkdir()
    with _held(making):
        for name in _FOLDERS:
            (making / name).mkdir()
        for name, text in _files(pack):
            write_atomically(making / name, text.encode())
        TrustRegistry().enroll(project.root, making, now_ms, trust=True)
        # Somebody else may have made it meanwhile: then theirs stays.
        with contextlib.suppress(OSError):
            making.rename(project.brought)
    if not project.exists:
        raise InvalidInput(
            f"{project.brought} cannot be made", fix="See what lies there, and move it away."
        )


def _mend(project: Project) -> None:
    """Bring back what a project of the user's own lacks; what is there stays as it is."""
    for name in _FOLDERS:
        (project.brought / name).mkdir(exist_ok=True)
    for name, text in _files(None):
        path = project.brought / name
        if not os.path.lexists(path) or path.lstat().st_size == 0:
            write_atomically(path, text.encode(), within=project.brought)


def _files(pack: str | None) -> tuple[tuple[str, str], ...]:
    config = _CONFIG + (_PACK_LINE.format(pack=pack) if pack else "")
    return ("config.yaml", config), (".gitignore", _IGNORE)


def _sweep(root: Path) -> None:
    """Remove what a killed `init` left half-made, but nothing another one is making now."""
    for left in root.glob(f"{_MAKING}*"):
        with contextlib.suppress(OSError), _held(left):
            shutil.rmtree(left)


@contextlib.contextmanager
def _held(folder: Path) -> Generator[None]:
    """Hold a folder for as long as it is being made; one that is held is an OSError."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(opened)
