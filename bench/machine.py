"""What was measured, and on what."""

import os
import platform
import sqlite3
from importlib.metadata import version

import psutil

from bench.workspace import ROOT, file_system

PACKAGES = ("callboard", "langgraph", "langgraph-checkpoint-sqlite", "dbos")


def facts() -> dict[str, str]:
    """Return the machine and the versions in words."""
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    memory = psutil.virtual_memory().total / 2**30
    return {
        "machine": f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}"
        f" {platform.machine()}, {file_system(ROOT.parent)}",
        "load before": f"{load} (1, 5, 15 minutes)",
        "Python": f"{platform.python_version()}, SQLite {sqlite3.sqlite_version}",
        "versions": ", ".join(f"{name} {version(name)}" for name in PACKAGES),
    }
