"""How tests call the command line: the console script as a user does, or in this process."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warm_process import call_warm

SCRIPT = Path(sys.executable).with_name("callboard")

GOOD_REPLIES = """\
replies:
  - text: >-
      The lighthouse keeper climbs the hundred and twelve steps every evening and looks at the sea,
      while the lamp of the lighthouse turns above the village that cannot sleep.
    times: always
"""
BELL = (
    "Ines and Jun carried the mended wheel up the tower in the dark. The clock would not start, so"
    " Jun swung the pendulum by hand. Ines rings the long bell and the first boat answers from the"
    " fog."
)


def staff_replies(verdict: str = "PASS") -> str:
    """Return a script in which the staff of Control Room drafts and checks the sample novel."""
    told = f"The dates were compared with canon.\n\nVerdict: {verdict}"
    checked = f"{told}\n\nEvidence: scope: checked scenes 1-5"
    replies = {
        "refine_brief": f'{BELL}\n\nEvidence: Story/SCN-outline.md "Ines rings the long bell"',
        "draft_scene": f'{BELL}\n\nEvidence: slot:scene_brief "Ines rings the long bell"',
        "polish_draft": f'{BELL}\n\nEvidence: slot:draft "Ines rings the long bell"',
        "check_continuity": checked,
        "evaluate_reader_experience": "Loud, this long bell.\n\n"
        'Evidence: slot:edited_draft "Ines rings the long bell"',
        "report_inconsistencies": checked,
        "propose_fixes": "Compared with canon, one of the dates is to be mended.\n\n"
        'Evidence: slot:continuity_report "dates were compared with canon."',
    }
    lines = [{"prompt_type": kind, "text": text} for kind, text in replies.items()]
    return json.dumps({"replies": [{**line, "times": "always"} for line in lines]})


HANGING_REPLIES = """\
replies:
  - {agent: planner, text: A brief about the lighthouse.}
  - {agent: writer, hang: true}
"""
ASKING_REPLIES = """\
replies:
  - {agent: chief, text: Short.}
  - {agent: chief, text: A longer answer at last.}
  - {text: A thought., times: always}
"""


@dataclass(frozen=True)
class Ended:
    """How a call of the command line ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Here = Callable[..., Ended]


def call(*words: str, cwd: Path, stdin: str = "") -> Ended:
    """Call the command line in a process of its own and wait for its end."""
    done = call_warm(*words, cwd=cwd, stdin=stdin)
    return Ended(done.returncode, done.stdout, done.stderr)


class Background:
    """A console script that goes on while the test does something else; `--json` is added."""

    def __init__(self, *words: str, cwd: Path) -> None:
        command = [str(SCRIPT), *words, "--json"]
        self.process = subprocess.Popen(
            command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def __enter__(self) -> "Background":
        return self

    def __exit__(self, *_error: object) -> None:
        self.process.kill()
        self.process.communicate()

    def wait_for(self, event_type: str, step_key: str | None = None) -> dict[str, Any]:
        """Read events until one of a type, about a step if one is named."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            event = json.loads(line)
            if event.get("type") == event_type and step_key in (None, event["step_key"]):
                return event
        raise AssertionError(f"ended without {event_type}")

    def end(self) -> Ended:
        out, err = self.process.communicate(timeout=30)
        return Ended(self.process.returncode, out, err)
