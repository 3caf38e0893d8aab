"""Distributions with packs as strangers ship them: built into a wheel, or written as installed."""

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warm_process import call_warm

SCRIPT = Path(sys.executable).with_name("callboard")


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def install(source: Path, target: Path) -> Path:
    """Build a wheel of a distribution and install it into a folder, both without a network."""
    wheels = target.parent / "wheels"
    _pip("wheel", "--no-build-isolation", "--wheel-dir", str(wheels), str(source))
    (wheel,) = wheels.iterdir()
    _pip("install", "--target", str(target), str(wheel))
    return wheel


def pretend_installed(site: Path, name: str, files: Mapping[str, str]) -> None:
    """Write a package with a pack as an installer would, with its entry point."""
    write_files(site / name, {"__init__.py": "", **files})
    write_files(
        site / f"{name}-1.0.dist-info",
        {
            "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
            "entry_points.txt": f"[callboard.packs]\n{name} = {name}\n",
        },
    )


def put_first(site: str) -> None:
    """Have what is installed in a folder be found, as `PYTHONPATH` has at the start."""
    sys.path.insert(0, site)
    importlib.invalidate_caches()


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Home:
    """A user's surroundings in which some packs are installed besides Callboard's own."""

    def __init__(self, folder: Path, site: Path) -> None:
        self.folder = folder
        (folder / "home").mkdir(parents=True)
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(site),
            "CALLBOARD_CACHE_DIR": str(folder / "home" / "cache"),
            "CALLBOARD_DATA_DIR": str(folder / "home" / "data"),
            "CALLBOARD_CONFIG_DIR": str(folder / "home" / "config"),
        }

    def call(self, *words: str) -> Ended:
        # A forked process has its Python's path already.
        first = (__file__, "put_first", self.environment["PYTHONPATH"])
        done = call_warm(*words, cwd=self.folder, env=self.environment, first=first)
        return Ended(done.returncode, done.stdout, done.stderr)

    def serve(self, *words: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [str(SCRIPT), "serve", "--port", "0", "--json", *words],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def _pip(command: str, *words: str) -> None:
    quiet = ["--no-deps", "--no-index", "--disable-pip-version-check", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", command, *quiet, *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
