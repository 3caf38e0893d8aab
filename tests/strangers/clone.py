"""A project that somebody else made, with whatever they put into it, and the user's commands."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import callboard
import callboard.packs.examples as examples
from callboard.studio.project import Project
from warm_process import call_warm

SOURCES = Path(callboard.__file__).parents[1]
SAMPLE = Path(examples.__file__).parent / "sample"
REPLIES = """\
replies:
  - text: >-
      The lighthouse keeper climbs the hundred and twelve steps every evening and looks at the sea,
      while the lamp of the lighthouse turns above the village that cannot sleep.
    times: always
"""


@dataclass(frozen=True)
class Told:
    """How a command of the user's ended."""

    code: int
    out: str
    err: str

    @property
    def all(self) -> str:
        return self.out + self.err


@dataclass(frozen=True)
class Clone:
    """A cloned project in the home of a user who owns keys and files."""

    home: Path
    environment: dict[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def make(cls, folder: Path, pack: str | None = None) -> "Clone":
        home = folder / "home"
        (home / "work").mkdir(parents=True)
        here = cls(home, {"HOME": str(home), "PYTHONPATH": str(SOURCES)})
        shutil.copytree(SAMPLE, here.root)
        Project.init(here.root, pack=pack)
        (home / ".profile").write_text("export EDITOR=vi\nalias ll='ls -l'")
        # Even a folder the user trusts decides nothing of what these tests are about.
        trusted = here.call("trust", "--yes")
        assert trusted.code == 0, trusted.err
        return here

    @property
    def root(self) -> Path:
        return self.home / "work" / "manuscript"

    @property
    def profile(self) -> Path:
        """A file of the user's that a shell executes; its last line has no end."""
        return self.home / ".profile"

    @property
    def user_config(self) -> Path:
        return self.home / "config" / "config.yaml"

    def ship(self, name: str, text: str) -> Path:
        """Put a file into the clone."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def own(self, text: str) -> None:
        """Write the user's own settings."""
        self.user_config.parent.mkdir(parents=True, exist_ok=True)
        self.user_config.write_text(text)

    def variables(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return {
            **kept,
            "CALLBOARD_CONFIG_DIR": str(self.user_config.parent),
            "CALLBOARD_CACHE_DIR": str(self.home / "cache"),
            "CALLBOARD_DATA_DIR": str(self.home / "data"),
            "CALLBOARD_ERRORS_RETRY_TRANSIENT_MAX_ATTEMPTS": "1",
            "CALLBOARD_ERRORS_RETRY_EXTERNAL_DEGRADING_MAX_ATTEMPTS": "1",
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
            # The embedded model's weights are fetched when they are needed; here they cannot be.
            "PIP_NO_INDEX": "1",
            **self.environment,
            **(more or {}),
        }

    def call(self, *words: str, **more: str) -> Told:
        """Call the command line as its own process, in the clone."""
        done = call_warm(*words, cwd=self.root, env=self.variables(more))
        return Told(done.returncode, done.stdout, done.stderr)

    def chat(self, *words: str, **more: str) -> Told:
        """Ask whatever model the project and the user have agreed on."""
        return self.call("run", "examples/recipe", *words, **more)
