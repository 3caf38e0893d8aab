"""consistency_checker: files against each other."""

from collections.abc import Callable
from typing import Any

import pytest
from fact_project import Project, assert_verbatim

from callboard.core.canonical import digest
from callboard.tools import InvalidArgs, TooManyFiles

pytestmark = pytest.mark.anyio
Fortress = Callable[[str], Project]
QUIET = "The rain went on and on over the roofs of the town. Nobody was in the street."


@pytest.fixture
def project(project: Project) -> Project:
    """A project that knows Kael and Mira by cards that claim nothing."""
    project.card("Kael", "Gender: male")
    project.card("Mira", "Gender: female")
    return project


def told(payload: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [finding for finding in payload["findings"] if finding["type"] == kind]


@pytest.mark.req("CR-66", "CR-67", "CR-46")
async def test_the_planted_death_and_the_planted_date_are_found(fortress: Fortress) -> None:
    project = fortress("project")
    payload = await project.consistency(*project.scenes())
    (death,) = told(payload, "Character")
    assert death["severity"] == "major"
    assert [quote["text"] for quote in death["quotes"]] == [
        "Mira died before the sun was up.",
        '"You should sleep," Mira said.',
    ]
    (date,) = told(payload, "Timeline")
    assert [quote["text"] for quote in date["quotes"]] == ["when: 1204-01-20", "when: 1204-01-17"]
    assert len(payload["findings"]) == 2
    assert assert_verbatim(project.root, payload) >= 4
    assert payload["cross_references"]["Mira"].keys() >= set(project.scenes()[:2])


@pytest.mark.req("CR-67", "CR-68")
async def test_the_clean_project_has_no_findings_and_says_what_was_checked(
    fortress: Fortress,
) -> None:
    project = fortress("clean")
    result = await project.run("consistency_checker", file_paths=project.scenes())
    assert result.payload["findings"] == []
    assert result.payload["files_checked"] == project.scenes()
    assert result.payload["focus"] == "general"
    assert all(path in result.summary for path in project.scenes())


@pytest.mark.req("CR-67")
@pytest.mark.parametrize(
    "later",
    [
        "Kael remembered how she stood by the door. Mira said that it was late.",
        "In his dream Mira took his hand and laughed.",
        "Mira had always said that winter was a wolf. Kael thought of it now.",
        "Kael looked at the portrait. Mira smiled at him out of the frame.",
        "Kael sat down on Mira's grave. Mira took her time, as always, he thought.",
        "Mira would have laughed at him. She would have taken the spear.",
        "Kael told Mira's story to the boys, and how Mira fought.",
        '"Mira walked here," said Kael. "Mira laughed at me."',
        "Years ago, Mira walked this road with him. Mira said nothing then.",
        "Mira's hand had left a mark on the door.",
    ],
)
async def test_the_dead_may_be_remembered(project: Project, later: str) -> None:
    project.scene(1, f"Mira fell on the stairs. Mira died before dawn. {QUIET}")
    project.scene(2, f"{QUIET}\n\n{later}")
    assert told(await project.consistency(*project.scenes()), "Character") == []


@pytest.mark.req("CR-67")
@pytest.mark.parametrize(
    ("death", "later", "severity"),
    [
        ("Mira died before dawn.", '"Come in," said Mira.', "major"),
        ("Mira died before dawn.", '"Come in," Mira whispered.', "major"),
        ("Mira was killed at dawn.", "Mira took the spear. Mira ran to the wall.", "major"),
        ("Mira died before dawn.", "Mira nodded to the boys at the gate.", "minor"),
        ('"Mira is dead," said the cook.', '"Come in," said Mira.', "minor"),
        ("Mira had died in the spring.", '"Come in," said Mira.', "minor"),
    ],
)
async def test_the_dead_do_not_act(project: Project, death: str, later: str, severity: str) -> None:
    project.scene(1, f"{QUIET} {death}")
    project.scene(2, f"{QUIET}\n\n{later}")
    (finding,) = told(await project.consistency(*project.scenes()), "Character")
    assert finding["severity"] == severity
    assert len({(quote["path"], quote["line_start"]) for quote in finding["quotes"]}) == 2


@pytest.mark.req("CR-67")
async def test_a_flashback_and_an_earlier_day_may_show_the_dead(project: Project) -> None:
    dies, acts = f"Mira died at dawn. {QUIET}", f'{QUIET}\n\n"Come in," said Mira.'
    project.scene(1, dies, when="1204-01-10")
    project.scene(2, acts, flashback="true")
    assert told(await project.consistency(*project.scenes()), "Character") == []
    project.scene(2, acts, when="1204-01-08")
    assert told(await project.consistency(*project.scenes()), "Character") == []
    project.scene(2, acts, when="1204-01-12")
    assert len(told(await project.consistency(*project.scenes()), "Character")) == 1


@pytest.mark.req("CR-67")
async def test_a_death_taken_back_in_its_own_scene_is_none(project: Project) -> None:
    project.scene(1, f'"Mira is dead," said the cook.\n\n"Not yet," said Mira. {QUIET}')
    project.scene(2, f'{QUIET}\n\n"Come in," said Mira.')
    assert told(await project.consistency(*project.scenes()), "Character") == []


async def test_a_name_that_is_a_word_may_open_a_sentence(project: Project) -> None:
    project.card("Hope", "Age: 19", "Gender: female")
    project.scene(1, f"Hope died in him with the last of the bread. {QUIET}")
    project.scene(2, f'{QUIET}\n\n"Come in," said Hope.')
    assert told(await project.consistency(*project.scenes()), "Character") == []


@pytest.mark.req("CR-68")
async def test_a_return_the_text_tells_of_is_only_worth_knowing(project: Project) -> None:
    project.scene(1, f"Mira died at dawn. {QUIET}")
    project.scene(2, f'{QUIET} Mira was alive, and the cook dropped the pan. "Eat," said Mira.')
    (finding,) = told(await project.consistency(*project.scenes()), "Character")
    assert finding["severity"] == "info"


@pytest.mark.req("CR-67")
async def test_facts_of_two_scenes_are_held_against_each_other(project: Project) -> None:
    project.scene(1, f"Kael's grey eyes were tired. {QUIET}")
    project.scene(2, f"The wind blew. {QUIET}")
    project.scene(3, f"Kael's brown eyes were tired. {QUIET}")
    (finding,) = told(await project.consistency(*project.scenes()), "Factual")
    assert finding["severity"] == "major"
    assert [quote["path"] for quote in finding["quotes"]] == [
        "Story/Scenes/SCN-01.md",
        "Story/Scenes/SCN-03.md",
    ]


@pytest.mark.req("CR-68")
async def test_a_told_change_is_information_and_the_new_value_holds(project: Project) -> None:
    project.scene(1, f"Mira's black hair was wet. {QUIET}")
    project.scene(2, f"Mira had dyed her hair. Mira's hair was red. {QUIET}")
    project.scene(3, f"Mira's red hair was dry. {QUIET}")
    (finding,) = told(await project.consistency(*project.scenes()), "Factual")
    assert finding["severity"] == "info"
    project.scene(4, f"Mira's black hair was wet again. {QUIET}")
    findings = told(await project.consistency(*project.scenes()), "Factual")
    assert [each["severity"] for each in findings] == ["major", "info"]


@pytest.mark.req("CR-67")
@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (("Kael was thirty-four.", "1204"), ("Kael was forty.", "1210"), []),
        (("Kael was thirty-four.", "1204"), ("Kael was forty.", "1205"), ["major"]),
        (("Kael was thirty-four.", ""), ("Kael was forty.", ""), ["minor"]),
        (("Kael was thirty-four.", ""), ("Kael was thirty-five.", ""), ["minor"]),
        (("Kael was forty.", ""), ("Kael was thirty-four.", ""), ["major"]),
        (("Kael was thirty-four.", ""), ("Kael was in his thirties.", ""), []),
    ],
)
async def test_people_grow_older(
    project: Project, first: tuple[str, str], second: tuple[str, str], expected: list[str]
) -> None:
    for number, (text, year) in enumerate((first, second), start=1):
        front = {"when": f"{year}-03-01"} if year else {}
        project.scene(number, f"{text} {QUIET}", **front)
    findings = told(await project.consistency(*project.scenes()), "Factual")
    assert [each["severity"] for each in findings] == expected


@pytest.mark.req("CR-67")
async def test_nobody_is_in_two_places_at_once(project: Project) -> None:
    project.card("Kael", "Eyes: grey")

    async def findings(place: str, when: str) -> list[str]:
        project.scene(1, QUIET, pov="Kael", location="Harbour", when=when)
        project.scene(2, QUIET, pov="Kael", location=place, when=when)
        payload = await project.consistency(*project.scenes())
        assert_verbatim(project.root, payload)
        return [each["severity"] for each in told(payload, "Character")]

    assert await findings("Mill", "1204-01-10 dawn") == ["major"]
    assert await findings("Mill", "1204-01-10") == ["info"]
    assert await findings("Harbour, east quay", "1204-01-10 dawn") == []


TERMS = [
    ("the star-gate stood. The star-gate glowed", "the stargate stood. The stargate glowed", 1),
    ("the drawing-room was cold. In the drawing-room", "a drawing room, and the drawing room.", 1),
    ("the Time Machine stood. He saw the Time Machine", "the time machine hummed in the time "
     "machine.", 1),
    ("a grey coat and a grey hat", "a gray coat and a gray hat", 1),
    ("He saw Kathrin and with Kathrin", "He saw Katrin and with Katrin", 1),
    # legitimate pairs
    ("a well-known man and a well-known wife", "He was well known, and she was well known", 0),
    ("his left-hand pocket and his left-hand glove", "his left hand. In his left hand", 0),
    ("Captain Kael and Captain Jon", "the captain and a captain", 0),
    ("He saw Anna and with Anna", "He saw Anne and with Anne", 0),
    ("one Morlock and a Morlock", "the Morlocks and some Morlocks", 0),
    ("she re-sent it and re-sent it", "they resent it and resent it", 0),
    ("the star-gate glowed", "the stargate glowed", 0),
    ("someone came, and someone left", "some one of them, and some one more", 0),
]  # fmt: skip


@pytest.mark.req("CR-67")
@pytest.mark.parametrize(("first", "second", "count"), TERMS)
async def test_one_term_two_ways(project: Project, first: str, second: str, count: int) -> None:
    project.scene(1, f"They say that {first} in the night. {QUIET}")
    project.scene(2, f"They say that {second} in the night. {QUIET}")
    findings = told(await project.consistency(*project.scenes()), "Terminology")
    assert len(findings) == count, findings
    for finding in findings:
        assert {quote["path"] for quote in finding["quotes"]} == set(project.scenes())


async def test_two_people_who_meet_are_not_one_name(project: Project) -> None:
    project.scene(1, f"He saw Kathrin and Katrin. With Kathrin came Katrin. {QUIET}")
    project.scene(2, QUIET)
    assert told(await project.consistency(*project.scenes()), "Terminology") == []


@pytest.mark.req("CR-67")
@pytest.mark.parametrize(
    ("first", "second", "count"),
    [
        ("1204-01-20", "1204-01-17", 1),
        ("1204-01-17", "1204-01-17", 0),
        ("20 January 1204", "January 17, 1204", 1),
        ("Day 4", "Day 3", 1),
        ("Day 4", "1204-01-01", 0),
        ("20 December", "3 January", 0),
        ("20 March", "3 March", 1),
        ("the morning", "the night before", 0),
    ],
)
async def test_dates_that_go_back(project: Project, first: str, second: str, count: int) -> None:
    project.scene(1, QUIET, when=first)
    project.scene(2, QUIET, when=second)
    payload = await project.consistency(*project.scenes())
    assert len(told(payload, "Timeline")) == count


async def test_a_story_told_in_turns_is_told_of_once(project: Project) -> None:
    for number in range(1, 9):
        project.scene(number, QUIET, when=f"{1204 - number % 2}-01-{number:02d}")
    (finding,) = told(await project.consistency(*project.scenes()), "Timeline")
    assert finding["severity"] == "info"


@pytest.mark.req("CR-67")
@pytest.mark.parametrize(
    ("text", "when", "count"),
    [
        ("It was Monday, 12 March 1892, and it rained.", "", 1),
        ("It was Saturday, 12 March 1892, and it rained.", "", 0),
        ("It was Monday, the 12th of March, and it rained.", "1892-03-12", 1),
        ("It was Monday, the 14th of March, and it rained.", "1891-03-12", 0),
        ("It was Monday, 12 March 1204, and it rained.", "", 0),
        ("It rained.", "Monday 12 March 1892", 1),
        ("On Monday they left, and in March 1892 they came back.", "", 0),
    ],
)
async def test_weekdays_and_dates(project: Project, text: str, when: str, count: int) -> None:
    project.scene(1, f"{text} {QUIET}", **({"when": when} if when else {}))
    assert len(told(await project.consistency(*project.scenes()), "Timeline")) == count


@pytest.mark.req("CR-67")
@pytest.mark.parametrize(
    ("opening", "count"),
    [
        ("Three days later the gate fell.", 1),
        ("Four days later the gate fell.", 0),
        ("The next morning the gate fell.", 1),
        ("The gate fell, and everybody knew that three days later the wall would follow.", 0),
        ('"Three days later," said the cook, "the gate fell."', 0),
    ],
)
async def test_spans_against_dates(project: Project, opening: str, count: int) -> None:
    project.scene(1, QUIET, when="1204-01-10")
    project.scene(2, f"{opening} {QUIET}", when="1204-01-14")
    assert len(told(await project.consistency(*project.scenes()), "Timeline")) == count


@pytest.mark.req("CR-67")
@pytest.mark.parametrize(("age", "count"), [("twenty", 1), ("thirty-four", 0), ("thirty-three", 0)])
async def test_ages_follow_from_the_year_of_birth(project: Project, age: str, count: int) -> None:
    project.card("Kael", "Born: 1170-05-01")
    project.scene(1, f"Kael was {age} years old. {QUIET}", when="1204-01-10")
    payload = await project.consistency(*project.scenes())
    assert len(told(payload, "Timeline")) == count
    assert_verbatim(project.root, payload)


@pytest.mark.req("CR-66")
async def test_a_focus_checks_only_its_own(fortress: Fortress) -> None:
    project = fortress("project")
    expected = {
        "characters": {"Character"},
        "terminology": set[str](),
        "events": {"Character", "Timeline"},
        "general": {"Character", "Timeline"},
    }
    for focus, types in expected.items():
        payload = await project.consistency(*project.scenes(), focus=focus)
        assert {finding["type"] for finding in payload["findings"]} == types


@pytest.mark.req("CR-66", "CR-48")
async def test_a_whole_book_is_checked_and_what_is_too_much_is_refused(project: Project) -> None:
    for number in range(1, 31):
        project.scene(number, QUIET)
    assert len((await project.consistency(*project.scenes()))["files_checked"]) == 30
    whole = await project.consistency()
    assert set(whole["files_checked"]) > set(project.scenes())
    assert whole["status"] == "CONSISTENT"
    project.write(".callboard/story.yaml", "consistency:\n  max_files: 20\n")
    limited = Project(project.root, project.root / ".callboard")
    with pytest.raises(TooManyFiles):
        await limited.consistency(*project.scenes())
    with pytest.raises(InvalidArgs):
        await project.consistency(project.scenes()[0], focus="weather")


@pytest.mark.req("CR-42")
async def test_another_language_is_left_to_its_dates(project: Project) -> None:
    text = (
        "Mira starb im Morgengrauen, und niemand sprach davon. Grey gray grey gray nannte man das "
        "Tier, das am Brunnen wartete, star-gate stargate star-gate stargate."
    )
    project.scene(1, text, when="1204-01-20")
    project.scene(2, text, when="1204-01-10")
    payload = await project.consistency(*project.scenes())
    assert payload["language_supported"] is False
    assert [finding["type"] for finding in payload["findings"]] == ["Timeline"]


@pytest.mark.req("CR-45")
async def test_the_order_of_the_paths_does_not_matter(fortress: Fortress) -> None:
    project = fortress("project")
    first = await project.consistency(*project.scenes())
    other = await project.consistency(*reversed(project.scenes()))
    assert digest(first) == digest(other)


@pytest.mark.req("CR-49")
async def test_pairs_are_counted_only_for_whoever_asks(project: Project) -> None:
    project.scene(1, f"{QUIET} Kael lived at Penrose. Then Kael nodded.")
    project.scene(2, f"{QUIET} Kael went home to his house in Quay Lane. There stood Kael.")
    told = await project.run("consistency_checker")
    assert told.payload["pairs_not_judged"] is None and "Only rules have looked." in told.summary
    asked = await project.run("consistency_checker", pairs=True)
    assert asked.payload["pairs_not_judged"] > 0 and "were not judged" in asked.summary


async def test_whoever_a_card_calls_the_narrator_says_i(project: Project) -> None:
    project.write("Characters/Hester.md", "# Hester\n\nAge: 39\n\nNarrator. Actress.\n")
    project.scene(1, f"{QUIET} I went in. I sat down. At forty-six I ought to have known better.")
    (found,) = told(await project.consistency(), "Factual")
    assert "Hester" in found["message"] and "39" in found["message"] and "46" in found["message"]


@pytest.mark.parametrize(
    "figure",
    [
        "An earlier Kael had died in debt at thirty.",
        "Another Kael had died in the siege.",
        "Kael was buried, to all appearances, in his work.",
    ],
)
async def test_a_namesake_or_a_figure_of_speech_dies_for_nobody(
    project: Project, figure: str
) -> None:
    project.scene(1, f"{QUIET} {figure}")
    project.scene(2, f'{QUIET} "Sit down," said Kael.')
    assert not told(await project.consistency(), "Character")
