"""Evidence rules are data, and read strictly."""

from pathlib import Path

import pytest

from callboard.replies.evidence import EvidenceRules, InvalidEvidenceRules


@pytest.mark.req("CR-24")
def test_a_pack_says_what_its_roles_rest_on(tmp_path: Path) -> None:
    file = tmp_path / "evidence.yaml"
    file.write_text(
        "critic:\n  - [scene_or_slot_quote]\n  - [{receipt: [prose_analyzer]}, scope]\n"
        "planner:\n  - [{place: [outline]}]\n  - [{quote: [canon]}, issue, receipt]\n"
    )
    rules = EvidenceRules.load(file)
    assert rules.wish("critic") == "scene or slot quote, or receipt of prose_analyzer with scope"
    assert rules.alternatives("planner")[0][0].names == {"outline"}
    assert rules.wish("somebody else") == "any source"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("- a list", "mapping"),
        ("critic: scope", "list of alternatives"),
        ("critic: []", "list of alternatives"),
        ("critic: [scope]", "list of sources"),
        ("critic: [[]]", "list of sources"),
        ("critic: [[{receipt: canon_checker}]]", "must list names"),
        ("critic: [[{rumour: [x]}]]", "rumour"),
        ("critic: [['not a name']]", "not a name"),
        ("critic: [[1]]", "mapping"),
        ("critic: [", "cannot be read"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, named: str) -> None:
    file = tmp_path / "evidence.yaml"
    file.write_text(text)
    with pytest.raises(InvalidEvidenceRules, match=named) as raised:
        EvidenceRules.load(file)
    assert "evidence.yaml" in raised.value.message


def test_a_missing_file_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidEvidenceRules, match=r"nowhere\.yaml"):
        EvidenceRules.load(tmp_path / "nowhere.yaml")
