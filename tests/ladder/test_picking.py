"""Evidence by number: whatever a model picks, the citation is true."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from callboard.core.errors import InvalidInput
from callboard.core.vocabulary import Evidence, EvidenceKind, Trust
from callboard.models import line_candidates, pick_numbers
from callboard.models.ladder.picking import cite

TEXT = """# One

The harbour was dark that night. Kael waited.
He held a "lantern" in his left hand; it was cold.
No.
"""


def test_candidates_are_sentences_of_the_text_with_their_line() -> None:
    found = line_candidates("Story/one.md", TEXT)
    assert [(each.quote, each.lines) for each in found] == [
        ("The harbour was dark that night.", (3, 3)),
        ("Kael waited.", (3, 3)),
        ("in his left hand", (4, 4)),
    ]
    many = line_candidates("a.md", "\n".join(f"Sentence number {n} is here." for n in range(50)))
    assert len(many) == 12
    assert [each.lines for each in many][-1] == (46, 46)


def test_the_schema_allows_numbers_of_candidates_and_nothing_else() -> None:
    picking = pick_numbers(line_candidates("Story/one.md", TEXT), most=1)
    validator = Draft202012Validator(dict(picking.schema))
    assert validator.is_valid({"picks": [2]})
    for wrong in ({"picks": []}, {"picks": [4]}, {"picks": [0]}, {"picks": [1, 2]}, {"picks": "1"}):
        assert not validator.is_valid(wrong)
    assert picking.listing.trust is Trust.UNTRUSTED
    assert picking.listing.text.splitlines()[1] == "2. Story/one.md, line 3: Kael waited."


def test_the_line_is_rendered_by_code() -> None:
    candidates = [
        Evidence(EvidenceKind.FILE, "a.md", "two words here"),
        Evidence(EvidenceKind.SLOT, "draft", 'he said "no" to it', (4, 6)),
        Evidence(EvidenceKind.RECEIPT, "rcpt_1"),
        Evidence(EvidenceKind.SCOPE, "scenes 1-3"),
    ]
    picking = pick_numbers(candidates)
    assert picking.line({"picks": [4, 1, 2, 3, 1]}) == (
        'Evidence: a.md "two words here"; slot:draft L4-6; receipt_id: rcpt_1; '
        "scope: checked scenes 1-3"
    )
    assert picking.chosen({"picks": [3]}) == (candidates[2],)
    with pytest.raises(InvalidInput, match="neither by quote nor by lines"):
        cite(Evidence(EvidenceKind.FILE, "a.md", 'he said "no"'))


@pytest.mark.parametrize(("count", "limits"), [(0, {}), (2, {"least": 3}), (2, {"least": -1})])
def test_an_offer_nobody_can_take_is_refused(count: int, limits: dict[str, Any]) -> None:
    candidates = [Evidence(EvidenceKind.RECEIPT, f"rcpt_{n}") for n in range(count)]
    with pytest.raises(InvalidInput):
        pick_numbers(candidates, **limits)


@given(st.text(), st.data())
def test_every_citation_is_found_again_where_it_says(text: str, data: st.DataObject) -> None:
    candidates = line_candidates("a.md", text)
    if not candidates:
        return
    picking = pick_numbers(candidates)
    numbers = picking.schema["properties"]["picks"]["items"]["enum"]
    picks = data.draw(st.lists(st.sampled_from(numbers), min_size=1))
    line = picking.line({"picks": picks})
    cited = re.findall(r'a\.md "([^"]+)"', line)
    assert len(cited) == len(set(picks))
    for evidence in picking.chosen({"picks": picks}):
        assert evidence.lines is not None
        assert evidence.quote in text.splitlines()[evidence.lines[0] - 1]
        assert evidence.quote in cited
