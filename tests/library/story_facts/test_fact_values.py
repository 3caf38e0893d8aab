"""Values are brought to one form before they are compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.library.story.facts.ages import age_value
from callboard.library.story.facts.values import (
    StoryDate,
    centimetres,
    date_in,
    days_later,
    families_of,
    has_clock,
    number_of,
    weekday_in,
)

pytestmark = pytest.mark.req("CR-63")

ONES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


@given(st.integers(20, 99), st.sampled_from(["-", " "]))
def test_every_number_word_below_a_hundred_is_read(number: int, joint: str) -> None:
    tens, ones = divmod(number, 10)
    text = TENS[tens - 2] + (joint + ONES[ones - 1] if ones else "")
    assert number_of(text) == number
    assert number_of(str(number)) == number
    assert number_of(text.title()) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("nineteen", 19),
        ("a hundred and two", 102),
        ("three hundred", 300),
        ("twenty-first", 21),
        ("fortieth", 40),
        ("3rd", 3),
        ("mill", None),
        ("forty mills", None),
        ("", None),
    ],
)
def test_numbers_in_words(text: str, number: int | None) -> None:
    assert number_of(text) == number


@pytest.mark.parametrize(
    ("text", "height"),
    [
        ("six feet two", 188),
        ("6'2\"", 188),
        ("6’2”", 188),
        ("six foot", 183),
        ("six-foot-two", 188),
        ("5 ft 10 in", 178),
        ("five feet and a half", 168),
        ("1.88 m", 188),
        ("1,7 m", 170),
        ("188 cm", 188),
        ("sixty feet", None),
        ("tall", None),
    ],
)
def test_heights_become_centimetres(text: str, height: int | None) -> None:
    assert centimetres(text) == height


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("1204-01-10", StoryDate(1204, 1, 10)),
        ("12 March 1892", StoryDate(1892, 3, 12)),
        ("March 12th, 1892", StoryDate(1892, 3, 12)),
        ("the fourth of May", StoryDate(None, 5, 4)),
        ("Saturday, 4 May 1889, dawn", StoryDate(1889, 5, 4)),
        ("Day 3", StoryDate(None, None, None, 3)),
        ("day twelve", StoryDate(None, None, None, 12)),
        ("1892", StoryDate(1892, None, None)),
        ("March 1892", StoryDate(1892, 3, None)),
        ("2024-13-40", None),
        ("he may have three of them", None),
        ("the morning after", None),
    ],
)
def test_dates_as_authors_write_them(text: str, date: StoryDate | None) -> None:
    assert date_in(text) == date


def test_dates_compare_only_where_their_parts_meet() -> None:
    full, month, day = StoryDate(1892, 3, 12), StoryDate(1892, 3, None), StoryDate(None, 3, 12)
    assert full.compared_with(StoryDate(1892, 3, 10)) == 2
    assert full.compared_with(month) is None
    assert full.compared_with(day) is None
    assert StoryDate(None, None, None, 3).compared_with(full) is None
    assert StoryDate(2023, 2, 30).as_date() is None
    assert StoryDate(1204, 1, 10).weekday() is None
    assert StoryDate(1892, 3, 12).weekday() == "saturday"


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Three days later, he came", 3),
        ("The next morning it snowed", 1),
        ("A week later", 7),
        ("two weeks afterwards", 14),
        ("Some days later", None),
        ("three miles later", None),
    ],
)
def test_spans_of_days(text: str, days: int | None) -> None:
    found = days_later(text)
    assert (found[0] if found else None) == days


def test_clock_and_weekday() -> None:
    assert weekday_in("on a wet Tuesday") == "tuesday"
    assert weekday_in("the day before") is None
    assert has_clock("1204-01-10 dawn") and has_clock("12 May, 14:30") and has_clock("9 pm")
    assert not has_clock("1204-01-10")


@pytest.mark.parametrize(
    ("part", "one", "other", "agree"),
    [
        ("eye", "grey", "gray", True),
        ("eye", "steel-grey", "silver", True),
        ("eye", "hazel", "brown", True),
        ("eye", "hazel", "green", True),
        ("eye", "black", "brown", True),
        ("eye", "blue-green", "green", True),
        ("eye", "grey", "green", False),
        ("eye", "blue", "brown", False),
        ("hair", "blonde", "golden", True),
        ("hair", "auburn", "red", True),
        ("hair", "dark", "black", True),
        ("hair", "dark", "blond", False),
        ("hair", "dark red", "black", False),
        ("hair", "white", "grey", True),
    ],
)
def test_colours_agree_within_a_family(part: str, one: str, other: str, agree: bool) -> None:
    assert bool(families_of(part, one) & families_of(part, other)) is agree


@pytest.mark.parametrize("word", ["bright", "dark", "red", "piercing", "wet", "light"])
def test_words_of_light_and_mood_are_no_eye_colour(word: str) -> None:
    assert not families_of("eye", word)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("34", 34, 34), ("thirty-four", 34, 34), ("early thirties", 30, 34), ("about 60", 56, 64)],
)
def test_ages_of_cards(text: str, low: int, high: int) -> None:
    value = age_value(text)
    assert value is not None and (value.low, value.high) == (low, high)
