"""What a reader sees and may do, place by place."""

import pytest

from callboard.packs.questfoundry.book.model import (
    Book,
    Gateway,
    KeyChange,
    KeyTest,
    Section,
    SectionKind,
    StoryChoice,
)
from callboard.packs.questfoundry.book.playing import CannotPlay, begin, needs, offers, take

BOOK = Book(
    "The Ferry",
    "quay",
    (
        Section(
            "quay",
            choices=(
                StoryChoice("ask", "Ask the watchman", "watchman"),
                StoryChoice("board", "Board the ferry", "deck", gateway="plank"),
                StoryChoice("swim", "Swim", "deck", requires=(KeyTest("cloak", negated=True),)),
                StoryChoice("nowhere", "Walk on", "missing"),
            ),
        ),
        Section(
            "watchman",
            effects=(KeyChange("set", "ticket"), KeyChange("set", "cloak")),
            choices=(StoryChoice("back", "Go back", "quay"),),
        ),
        Section("deck", kind=SectionKind.TERMINAL),
    ),
    gateways=(Gateway("plank", "quay", "ticket", refusal="The mate shakes his head."),),
)


def test_a_gateway_is_seen_and_refuses_in_its_own_words_until_its_key_is_held() -> None:
    position = begin(BOOK)
    seen = {each.choice.id: each for each in offers(BOOK, position)}
    assert not seen["board"].is_open and seen["board"].refusal == "The mate shakes his head."
    position = take(BOOK, take(BOOK, position, "ask"), "back")
    assert {each.choice.id for each in offers(BOOK, position) if each.is_open} == {
        "ask",
        "board",
        "nowhere",
    }
    assert take(BOOK, position, "board").section == "deck"


def test_a_choice_without_a_gateway_is_hidden_while_its_conditions_are_not_met() -> None:
    position = take(BOOK, take(BOOK, begin(BOOK), "ask"), "back")
    assert "swim" not in {each.choice.id for each in offers(BOOK, position)}


@pytest.mark.parametrize("move", ["board", "fly"])
def test_what_is_not_open_cannot_be_taken_and_what_is_open_is_named(move: str) -> None:
    with pytest.raises(CannotPlay) as refused:
        take(BOOK, begin(BOOK), move)
    assert move in str(refused.value) and "ask" in (refused.value.fix or "")


def test_a_choice_into_nothing_names_the_section_it_wants() -> None:
    with pytest.raises(CannotPlay, match="missing"):
        take(BOOK, begin(BOOK), "nowhere")


def test_a_gateway_adds_its_key_to_what_a_choice_needs_once() -> None:
    board = BOOK.by_id["quay"].choices[1]
    assert needs(BOOK, board) == (KeyTest("ticket"),)


def test_a_book_is_the_same_after_it_was_stored() -> None:
    assert Book.from_json(BOOK.to_json()) == BOOK
