"""The page about the bars says of every check what the check says of itself."""

import re
from pathlib import Path
from typing import Any

from callboard.packs.questfoundry.bars.checks import bar_checks

PAGE = Path(__file__).parents[4] / "docs" / "questfoundry-bars.md"


def test_the_page_has_a_row_for_every_check_and_no_other() -> None:
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    told = {
        f"| `{each.name}` | {each.status.value} | {each.proves} | {each.cannot or '–'} |"
        f" {each.owner}, `{each.step}` |"
        for each in bar_checks().values()
    }
    assert told == {row for row in rows if row.count("|") == 6}


def test_the_example_of_the_page_runs() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    scope: dict[str, Any] = {}
    exec(compile(example, str(PAGE), "exec"), scope)  # noqa: S102 - our own page
    assert scope["report"].findings
