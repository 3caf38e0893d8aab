"""A project somebody else made, and how a command in it ended."""

from dataclasses import dataclass
from pathlib import Path

from warm_process import call_warm

LIMITS = Path(__file__).with_name("clone_limits.py")


@dataclass(frozen=True)
class Clone:
    """A cloned project and how a command in it ended."""

    root: Path
    outside: Path

    @property
    def kept(self) -> Path:
        return self.root / ".callboard"

    def call(self, *words: str) -> tuple[int, str]:
        """Run a command in a process with little memory and time; return its code and its words."""
        ended = call_warm(*words, cwd=self.root, first=(str(LIMITS), "limit"))
        code, text = ended.returncode, ended.stdout + ended.stderr
        assert code >= 0, f"{words} was killed by signal {-code}: {text}"
        assert "Traceback" not in text, text
        assert "mistake in Callboard" not in text, text
        return code, text

    def become_a_stranger(self) -> None:
        """Forget that the user made the folder, as if it had just been cloned."""
        (self.kept / "local" / "project-id").unlink()

    def assert_nothing_left_the_project(self) -> None:
        found = {str(path.relative_to(self.outside)) for path in self.outside.rglob("*")}
        assert found == {"file.txt", "folder"}, found
        assert (self.outside / "file.txt").read_text() == "outside"
