"""Names that Callboard writes no file under. Looks at names only, never at the disk.

Other programs run, obey or are steered by some files merely because they lie there: an editor by
its folder of tasks, a shell by `.envrc`, a coding agent by `AGENTS.md`. A model that may write such
a file may do whatever those programs may. What a person starts by a command of their own, such as
a `Makefile`, is an ordinary file.
"""

import re
import unicodedata
from typing import Final

from callboard.core.canonical import composed

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
        if _folded(part).startswith("."):
            return "it is hidden, and hidden files steer other programs"
    name = _folded(parts[-1]) if parts else ""
    if name in _EXECUTED or name.endswith(_EXECUTED_SUFFIXES):
        return "other programs execute or obey a file of that name"
    return None


def _folded(part: str) -> str:
    """Return a name as the most generous file system would compare it."""
    plain = composed(composed(part).casefold())
    shown = "".join(each for each in plain if unicodedata.category(each) != "Cf")
    return shown.strip().rstrip(". ")
