"""The guide's examples run and print what it says they print."""

import re
import subprocess
import sys
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "tools.md"


def test_the_examples_of_the_guide_run(tmp_path: Path) -> None:
    text = GUIDE.read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    printed = re.search(r"prints\n\n```text\n(.*?)```", text, re.DOTALL)
    assert printed is not None
    script = tmp_path / "guide.py"
    script.write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stderr == ""
    assert done.stdout == printed.group(1)
