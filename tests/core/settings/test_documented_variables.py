"""Every variable a page of the documentation names is known: none gives a warning."""

import re
from pathlib import Path

from callboard.core.settings.environment import environment_layer, named_files

DOCS = Path(__file__).parents[3] / "docs"


def test_no_documented_variable_is_unknown() -> None:
    pages = [*DOCS.rglob("*.md"), DOCS.parent / "README.md"]
    found = {
        name
        for page in pages
        for name in re.findall(r"\bCALLBOARD_[A-Z_]*[A-Z]\b", page.read_text("utf-8"))
    }
    assert {"CALLBOARD_API_TOKEN", "CALLBOARD_PROFILE", "CALLBOARD_DATA_DIR"} <= found
    environment = dict.fromkeys(found, "x")
    _, warnings = environment_layer(environment, named_files(environment))
    assert [each.message for each in warnings] == []
