"""Beats of an outline, told in the past."""

import pytest

from callboard.packs.control_room.tense import in_past


@pytest.mark.parametrize(
    ("present", "past"),
    [
        ("Ines and Jun carry the wheel.", "Ines and Jun carried the wheel."),
        (
            "The clock will not start, so Jun swings it.",
            "The clock would not start, so Jun swung it.",
        ),
        ("Ada rings the bell and nobody answers", "Ada rang the bell and nobody answered"),
        ("Tom offers his boat and names a price", "Tom offered his boat and named a price"),
        ("Kael refuses without raising his voice", "Kael refused without raising his voice"),
        ("Tobias finds Jun and tells him to stop.", "Tobias found Jun and told him to stop."),
        ("The boats strike the bar.", "The boats struck the bar."),
        ("It has to be done by hand.", "It had to be done by hand."),
        # Nouns, speech, infinitives and what is past already stay.
        ("The answers lay in his hands.", "The answers lay in his hands."),
        ("She said “nobody answers” and left.", "She said “nobody answers” and left."),
        ("Nobody wanted to answer.", "Nobody wanted to answer."),
        ("A flurgle flurgles.", "A flurgle flurgles."),
    ],
)
def test_verbs_and_nothing_else_are_told_in_the_past(present: str, past: str) -> None:
    assert in_past(present) == past
