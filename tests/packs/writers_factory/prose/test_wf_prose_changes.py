"""Tracked changes: nothing is lost, whatever is accepted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.packs.writers_factory.prose import (
    ChangesStale,
    TextChange,
    apply_changes,
    track_changes,
)

OLD = "He came in. He sat down with care.  “Well?” she said.\r\n\r\nNobody answered. The clock ran."
NEW = "He came in. He sat.  “Well?” she said.\r\n\r\nNobody spoke. The clock ran. It was late."

sentences = st.lists(
    st.sampled_from(
        [
            "He ran. ",
            "She stayed.",
            " “No!” ",
            "\n\n",
            "\r\n",
            "It rained… ",
            "é ",
            "Dr. Who? ",
            "x",
        ]
    ),
    max_size=12,
).map("".join)
texts = st.one_of(sentences, st.text(max_size=80))


@pytest.mark.req("WF-G81")
def test_changes_are_sentences() -> None:
    changes = track_changes(OLD, NEW, revision_pass="prose", reason="tighter")  # noqa: S106
    assert [(change.old, change.new) for change in changes] == [
        ("He sat down with care.", "He sat."),
        ("Nobody answered.", "Nobody spoke."),
        ("", " It was late."),
    ]
    assert {(c.revision_pass, c.reason, c.status) for c in changes} == {
        ("prose", "tighter", "proposed")
    }
    assert [TextChange.from_json(change.to_json()) for change in changes] == list(changes)


@pytest.mark.req("WF-G81")
def test_rejecting_one_restores_its_sentence_byte_for_byte() -> None:
    changes = track_changes(OLD, NEW)
    kept = apply_changes(OLD, changes, {change.id for change in changes} - {"c1"})
    assert kept == NEW.replace("He sat.", "He sat down with care.")


@pytest.mark.req("WF-G81")
@given(texts, texts)
def test_all_is_the_new_text_and_none_is_the_old_one(old: str, new: str) -> None:
    changes = track_changes(old, new)
    assert apply_changes(old, changes) == new
    assert apply_changes(old, changes, {change.id for change in changes}) == new
    assert apply_changes(old, changes, ()) == old
    assert bool(changes) == (old != new)


@pytest.mark.req("WF-G81")
@given(texts, texts, st.randoms(use_true_random=False))
def test_what_is_rejected_stands_as_it_was(old: str, new: str, random: object) -> None:
    changes = track_changes(old, new)
    accepted = {c.id for c in changes if random.random() < 0.5}  # type: ignore[attr-defined]
    expected: list[str] = []
    at = 0
    for change in changes:
        assert change.start >= at
        expected += [old[at : change.start], change.new if change.id in accepted else change.old]
        at = change.end
    assert apply_changes(old, changes, accepted) == "".join([*expected, old[at:]])


def test_changes_to_another_text_are_refused() -> None:
    changes = track_changes(OLD, NEW)
    with pytest.raises(ChangesStale):
        apply_changes(f"New first line. {OLD}", changes)
