"""The pages on evidence and issues tell the truth: their code runs, their tables are complete."""

import re
from pathlib import Path

import pytest

from callboard.replies.evidence import EvidenceCode, EvidenceRules

DOCS = Path(__file__).resolve().parents[3] / "docs"


@pytest.mark.parametrize("page", ["evidence.md", "issues.md"])
def test_the_code_of_the_page_runs(page: str) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", (DOCS / page).read_text(), re.M | re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, page, "exec"), {})  # noqa: S102 - our own page


def test_every_code_is_explained() -> None:
    text = (DOCS / "evidence.md").read_text()
    table = text[text.index("## Reasons") : text.index("## In a choreography")]
    assert {each.value for each in EvidenceCode} == set(
        re.findall(r"`([a-z]+_[a-z_]+)`", table)
    ) - {"receipt_id"}


def test_the_rules_of_the_page_can_be_read() -> None:
    import yaml

    text = (DOCS / "evidence.md").read_text()
    (block,) = re.findall(r"^```yaml\n(.*?)^```$", text, re.M | re.S)
    rules = EvidenceRules.from_data(yaml.safe_load(block))
    assert len(rules.alternatives("continuity")) == 3
