"""Confinement: a path given by anyone becomes a place inside the project, or is refused.

So are names that Callboard writes no file under.

Links are followed while resolving and never afterwards: a file is opened folder by folder from
the root, and a link that appears in between stops the walk instead of leading it astray.
Callboard's own folder and the version control's are not the project's files.

Other programs run, obey or are steered by some files merely because they lie there: an editor by
its folder of tasks, a shell by `.envrc`, a coding agent by `AGENTS.md`. A model that may write such
a file may do whatever those programs may. What a person starts by a command of their own, such as
a `Makefile`, is an ordinary file.
"""

import errno
import os
import re
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from callboard.core.canonical import composed
from callboard.store import reading
from callboard.store.reading import FileRefused, Refusal, open_folder
from callboard.tools.errors import (
    FileMissing,
    NameRefused,
    PathOutsideProject,
    ToolError,
    Unreadable,
)

_EXECUTED: Final = frozenset(
    {
        # Python runs these at its start, pytest at its own.
        "sitecustomize.py",
        "usercustomize.py",
        "conftest.py",
        # Services that build whatever is pushed.
        "jenkinsfile",
        "azure-pipelines.yml",
        "azure-pipelines.yaml",
        "bitbucket-pipelines.yml",
        "appveyor.yml",
        # Run on entering a folder, or as hooks once somebody installed them.
        "mise.toml",
        "mise.local.toml",
        "lefthook.yml",
        "lefthook.yaml",
        # File managers, on showing a folder.
        "autorun.inf",
        "desktop.ini",
        # Coding agents take these for their user's own words.
        "agents.md",
        "agents.override.md",
        "claude.md",
        "claude.local.md",
        "gemini.md",
        "warp.md",
        # With it a folder passes for a repository whose settings git executes.
        "head",
    }
)
_EXECUTED_SUFFIXES: Final = (
    ".pth",
    ".desktop",
    ".code-workspace",
    ".lnk",
    ".scf",
    ".url",
    ".webloc",
)
# Control characters, line ends of Unicode, and what changes the direction of text.
_UNSHOWN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
)


def why_not_written(parts: tuple[str, ...]) -> str | None:
    """Return why no file is written at a path, or None if it may be."""
    for part in parts:
        if _UNSHOWN.search(part):
            return "its name holds control characters"
        if "\\" in part:
            return "its name holds a backslash, which leads elsewhere on other systems"
        if _as_compared(part).startswith("."):
            return "it is hidden, and hidden files steer other programs"
    name = _as_compared(parts[-1]) if parts else ""
    if name in _EXECUTED or name.endswith(_EXECUTED_SUFFIXES):
        return "other programs execute or obey a file of that name"
    return None


def _as_compared(part: str) -> str:
    """Return a name as the most generous file system would compare it."""
    plain = composed(composed(part).casefold())
    shown = "".join(each for each in plain if unicodedata.category(each) != "Cf")
    return shown.strip().rstrip(". ")


RESERVED_FOLDERS: Final = frozenset({".callboard", ".git"})


@dataclass(frozen=True, slots=True)
class ProjectPlace:
    """A place in the project: the path as people write it, and the link-free way there."""

    path: str
    parts: tuple[str, ...]


class Confinement:
    """Everything below one folder, and nothing else."""

    def __init__(self, root: Path) -> None:
        """Take the project folder; it may itself be reached through links."""
        self._given_root = os.path.abspath(root)
        self.root = Path(os.path.realpath(root))

    def resolve(self, path: str) -> ProjectPlace:
        """Return where a path leads, or refuse it."""
        relative = self._relative(path)
        real = Path(os.path.realpath(self.root.joinpath(*relative.parts)))
        if not real.is_relative_to(self.root):
            raise _outside(path, "a link on the way leads out of the project")
        parts = real.relative_to(self.root).parts
        if any(_folded(part) in RESERVED_FOLDERS for part in (*relative.parts, *parts)):
            raise _outside(path, "it lies in a folder that is not open to tools")
        return ProjectPlace("/".join(relative.parts) or ".", parts)

    def resolve_for_writing(self, path: str) -> ProjectPlace:
        """Return where a path leads if a file may be written there, or refuse it."""
        place = self.resolve(path)
        for parts in (PurePosixPath(place.path).parts, place.parts):
            reason = why_not_written(parts)
            if reason is not None:
                raise NameRefused(
                    f"{_shown(path)!r} is not written: {reason}",
                    fix="Choose another name, or write the file yourself.",
                    path=_shown(path),
                )
        return place

    def open_folder(self, parts: tuple[str, ...], *, create: bool = False) -> int:
        """Open a folder below the root without following a link; the caller closes it."""
        try:
            return open_folder(self.root, parts, create=create)
        except OSError as error:
            raise _told(error, "/".join(parts)) from error

    def open_file(self, place: ProjectPlace) -> int:
        """Open a regular file for reading; the caller closes it."""
        if not place.parts:
            raise not_a_file(place.path)
        folder = self.open_folder(place.parts[:-1])
        try:
            return open_regular(place.parts[-1], folder, place.path)
        finally:
            os.close(folder)

    def _relative(self, path: str) -> PurePosixPath:
        try:
            os.fsencode(path)
            path.encode("utf-8")
        except UnicodeEncodeError:
            raise _outside(path, "it is not valid text") from None
        if "\0" in path:
            raise _outside(path, "it contains a null character")
        pure = PurePosixPath(path)
        if ".." in pure.parts:
            raise _outside(path, "it contains '..'")
        if not pure.is_absolute():
            return pure
        for root in (self._given_root, str(self.root)):
            with suppress(ValueError):
                return pure.relative_to(root)
        raise _outside(path, "it is absolute and lies elsewhere")


def open_regular(name: str, folder: int, shown: str) -> int:
    """Open a regular file in an open folder; refuse devices, pipes, sockets and folders."""
    try:
        return reading.open_regular(name, folder, shown)
    except OSError as error:
        raise _told(error, shown) from error
    except FileRefused as refused:
        raise told_refusal(refused, shown) from refused


def told_refusal(refused: FileRefused, shown: str) -> ToolError:
    """Return a refusal to read a file as tools tell it."""
    match refused.why:
        case Refusal.LINK:
            return _outside(shown, "a link appeared on the way")
        case Refusal.NOT_REGULAR:
            return not_a_file(shown)
        case Refusal.TOO_LARGE:
            return Unreadable(f"{shown} {refused.reason}", fix="Split the file.", path=shown)
        case Refusal.CLOSED:
            return Unreadable(f"{shown} {refused.reason}", path=shown)


def not_a_file(path: str) -> Unreadable:
    """Return the error for a folder, device or pipe where a file was expected."""
    return Unreadable(
        f"{path} is not a regular file", fix="Name a file, not a folder or device.", path=path
    )


def _told(error: OSError, shown: str) -> ToolError:
    if error.errno == errno.ELOOP:
        return _outside(shown, "a link appeared on the way")
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return FileMissing(f"There is no {shown} in the project", path=shown)
    reason = os.strerror(error.errno or 0)
    return Unreadable(f"{shown} cannot be opened: {reason}", path=shown)


def _folded(part: str) -> str:
    # Some file systems ignore case and trailing dots or spaces.
    return part.casefold().rstrip(". ")


def _outside(path: str, why: str) -> PathOutsideProject:
    shown = _shown(path)
    return PathOutsideProject(
        f"{shown!r} is not a path in this project: {why}",
        fix="Give a path relative to the project folder, such as Story/one.md.",
        path=shown,
    )


def _shown(path: str) -> str:
    return path.encode("utf-8", "replace").decode()[:200].replace("\0", "\\0")
