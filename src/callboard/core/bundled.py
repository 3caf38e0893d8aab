"""Data that ships beside our own code, read the way code is: once per process.

Only for files of installed packages. What a project or a user wrote is `core.parsing`'s.
"""

from functools import cache
from importlib.resources import files
from typing import Any

from callboard.core.parsing import load_yaml


@cache
def bundled_yaml(package: str, name: str) -> Any:
    """Return what a YAML file of a package holds. All callers share it: change a copy only."""
    return load_yaml(bundled_text(package, name))


@cache
def bundled_text(package: str, name: str) -> str:
    """Return the text of a file of a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")
