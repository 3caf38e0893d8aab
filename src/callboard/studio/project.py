"""Project: a folder the user owns. Everything Callboard adds lives in its `.callboard/`."""

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.core.errors import InvalidInput, NotFound

FOLDER: Final = ".callboard"

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


@dataclass(frozen=True, slots=True)
class Project:
    """The paths of a project."""

    root: Path

    @property
    def folder(self) -> Path:
        """Where Callboard keeps what it adds."""
        return self.root / FOLDER

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

    @property
    def exists(self) -> bool:
        """Whether the folder has been made a project."""
        return self.folder.is_dir()

    @classmethod
    def find(cls, start: Path) -> "Project":
        """Return the project at or above a folder; none is an error that says how to make one."""
        here = start.resolve()
        for folder in (here, *here.parents):
            if (folder / FOLDER).is_dir():
                return cls(folder)
        raise NotFound(
            f"{start} is not a Callboard project, nor is any folder above it",
            fix="Run `callboard init` in the folder that holds your work.",
            path=str(start),
        )

    @classmethod
    def init(cls, root: Path, *, pack: str | None = None) -> "Project":
        """Make a folder a project, for a pack if one is named; doing it again changes nothing."""
        project = cls(root.resolve())
        if root.exists() and not root.is_dir():
            raise InvalidInput(f"{root} is a file, not a folder", fix="Name a folder.")
        try:
            project.folder.mkdir(parents=True, exist_ok=True)
            for folder in (project.runs, project.audit, project.prompts, project.recipes):
                folder.mkdir(exist_ok=True)
            config = _CONFIG + (_PACK_LINE.format(pack=pack) if pack else "")
            for name, text in (("config.yaml", config), (".gitignore", _IGNORE)):
                _write_new(project.folder / name, text)
        except PermissionError as error:
            raise InvalidInput(
                f"Cannot write to {project.folder}: {error.strerror}",
                fix="Give yourself write permission, or choose another folder.",
                path=str(project.folder),
            ) from error
        return project


def _write_new(path: Path, text: str) -> None:
    """Write a file unless somebody has written it already."""
    with contextlib.suppress(FileExistsError), path.open("x", encoding="utf-8") as file:
        file.write(text)
