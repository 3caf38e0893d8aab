"""Grown books: the shape that was asked for, the same each time, sound."""

import pytest

from callboard.packs.questfoundry.book.model import SectionKind
from callboard.packs.questfoundry.growing.garden import plain_wording
from callboard.packs.questfoundry.growing.shapes import CannotGrow, GrowthPlan, StoryShape, grow


@pytest.mark.parametrize("shape", StoryShape)
@pytest.mark.parametrize("sections", [40, 41, 77])
def test_a_book_has_the_size_that_was_asked_for(shape: StoryShape, sections: int) -> None:
    book = grow(GrowthPlan((shape,), sections, gateways=4, endings=5))
    assert len(book.sections) == sections
    assert len(book.gateways) == 4
    assert len(book.endings) == 5
    ends = [each for each in book.sections if each.kind is SectionKind.TERMINAL]
    assert len(ends) == 5


def test_the_same_plan_gives_the_same_book_and_another_seed_another() -> None:
    assert grow(GrowthPlan(seed=3)) == grow(GrowthPlan(seed=3))
    assert grow(GrowthPlan(seed=3)) != grow(GrowthPlan(seed=4))


def test_there_are_as_many_choices_as_asked_for() -> None:
    book = grow(GrowthPlan(sections=400, gateways=4, choices=1_200))
    assert sum(len(each.choices) for each in book.sections) == 1_200


def test_words_can_be_given() -> None:
    wording = plain_wording()
    mine = type(wording)(**{**vars(wording), "title": "Mine", "places": ("red door", "old wall")})
    book = grow(GrowthPlan(sections=20, gateways=1), mine)
    assert book.title == "Mine"
    assert {each.title for each in book.sections} == {"The red door", "The old wall"}


@pytest.mark.parametrize(
    "plan", [GrowthPlan(sections=9, gateways=4), GrowthPlan(endings=0), GrowthPlan(shapes=())]
)
def test_a_plan_that_no_book_fits_is_refused_with_a_way_out(plan: GrowthPlan) -> None:
    with pytest.raises(CannotGrow) as refused:
        grow(plan)
    assert "Ask for" in str(refused.value.fix)
