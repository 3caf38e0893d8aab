"""The continuity of a whole book: what is found in it, what is not, and what was not looked at."""

from pathlib import Path
from typing import Any

import pytest
from fact_project import Project, assert_verbatim

from callboard.library.story.tools.consistency.continuity import check_continuity
from callboard.tools import FileMissing

pytestmark = pytest.mark.anyio
QUIET = "The rain went on and on over the roofs of the town. Nobody was in the street."

PLANTED = [
    ("Lydia was a stout, well-grown girl of fifteen.", "Lydia had now entered her twentieth year."),
    ("Mr. Collins was a young man of five-and-twenty.", "At forty, Mr. Collins had no hope left."),
    ("Rose Harrow had drowned off the bar.", "Rose Harrow poured the tea for the girls."),
    ("Ivy had never learned to drive.", "It was Ivy who backed the car out of the yard."),
    ("Hugh could not swim.", "Hugh swam to the boat."),
    ("Mr. Bingley danced with his two sisters.", "Mr. Bingley's only sister had been kind."),
    ("Kitty had sold her garnet brooch.", "Kitty pinned on her garnet brooch."),
    ("The tin trumpet was crushed by a cow.", "Joe brought the tin trumpet and blew it."),
    ("The scar on Ivy's left wrist was white.", "The scar on Ivy's right wrist was white."),
    ("Nell was a nurse.", "Nell was a lawyer."),
    ("Nell was an only child.", "Nell's brother Hugh came in."),
    ("It was November.", "The July heat came off the stones."),
    ("The funeral was on Friday.", "They buried Walter on Monday."),
    ("The fire was nine years ago.", "It was five years since that fire."),
    ("Jane Fairfax sang. Jane Fairfax and Jane Fairfax.", "Poor Joan Fairfax had suffered enough."),
    ("Mrs. Harper wept. So Mrs. Harper, Mrs. Harper and Mrs. Harper.", "Mrs. Harker was crying."),
]
INNOCENT = [
    ("Lydia was a girl of fifteen.", "Lydia was fifteen, and she dreamed that Lydia was sixty."),
    ("Rose Harrow had drowned off the bar.", "Nell remembered how Rose Harrow poured the tea."),
    ("Ivy had never learned to drive.", "If Ivy drove the car, they would all be dead."),
    ("Ivy could not read the sign in the dark.", "Ivy read the letter."),
    ("Kitty had sold her garnet brooch.", "Kitty bought back her garnet brooch and put it on."),
    ("Kitty nearly lost her garnet brooch.", "Kitty pinned on her garnet brooch."),
    ("He hung the brass key on a cord, where it burned like ice.", "He took the brass key."),
    ("It was November.", "Three months later it was spring. The May sun was warm."),
    ("It was Monday.", "The next morning came. It was Tuesday."),
    ("Sir William Lucas and William Lucas bowed.", "His cousin, Walter Lucas, was a sailor."),
    ("Nell was an only child.", "Nell's sister-in-law Ruth came in."),
]


@pytest.fixture
def story(project: Project) -> Project:
    """A project that names its people often enough to be known."""
    names = ("Lydia", "Ivy", "Nell", "Hugh", "Kitty", "Joe", "Walter")
    known = " ".join(f"Then {name} nodded. There stood {name}." for name in names)
    project.scene(9, f"{known} There stood Mr. Collins and Mr. Bingley and Rose Harrow.")
    return project


async def told(project: Project, **args: Any) -> list[dict[str, Any]]:
    payload = await project.consistency(**args)
    assert_verbatim(project.root, payload)
    return [each for each in payload["findings"] if each["severity"] != "info"]


@pytest.mark.parametrize(("first", "second"), PLANTED)
async def test_a_contradiction_is_found_wherever_its_halves_stand(
    story: Project, first: str, second: str
) -> None:
    story.scene(1, f"{QUIET} {first}")
    story.scene(2, f"{QUIET} {second}")
    (finding,) = await told(story)
    quoted = " ".join(quote["text"] for quote in finding["quotes"])
    assert any(part in quoted for part in first.split(". "))
    assert second.split(". ")[-1] in quoted


@pytest.mark.parametrize(("first", "second"), INNOCENT)
async def test_what_only_looks_like_one_is_left_alone(
    story: Project, first: str, second: str
) -> None:
    story.scene(1, f"{QUIET} {first}")
    story.scene(2, f"{QUIET} {second}")
    assert await told(story) == []


async def test_a_card_is_held_against_the_story_in_both_kinds_of_words(project: Project) -> None:
    project.write("cards/lydia.md", "Name: Lydia Hale\nAge: 19\n\nOnly child. Cannot swim.\n")
    project.scene(1, f"{QUIET} Lydia Hale was a girl of fifteen. There Lydia swam to the boat.")
    found = await told(project)
    assert sorted(each["message"].partition(":")[0] for each in found) == [
        "Lydia Hale's age",
        "Whether Lydia Hale can swim",
    ]


async def test_a_book_in_one_file_is_checked_chapter_by_chapter(project: Project) -> None:
    names = "There stood Lydia and here Lydia. " * 10
    chapters = ("Lydia was a girl of fifteen.", QUIET, "Lydia was thirty-four years old.")
    text = "".join(
        f"# Chapter {n}\n\n{names}{told}\n\n" for n, told in enumerate(chapters, start=1)
    )
    (project.root / "novel.md").write_bytes(text.replace("stood", "stoöd").encode("latin-1"))
    payload = await project.consistency()
    (finding,) = payload["findings"]
    assert {quote["path"] for quote in finding["quotes"]} == {"novel.md"}
    assert [quote["line_start"] for quote in finding["quotes"]] == [3, 11]
    assert payload["files_checked"] == ["novel.md#1", "novel.md#2", "novel.md#3"]


async def test_nothing_to_look_at_is_not_checked(project: Project) -> None:
    payload = await project.consistency()
    assert (payload["status"], payload["findings"]) == ("NOT_CHECKED", [])
    assert "no scene" in payload["reason"]
    result = await project.run("consistency_checker")
    assert result.preview.startswith("Not checked")


async def test_a_path_that_is_not_there_is_an_error_with_what_is_near(project: Project) -> None:
    project.scene(1, QUIET)
    with pytest.raises(FileMissing) as missing:
        await project.consistency("Story/Scenes/SCN-1.md")
    assert missing.value.context["near"] == ["Story/Scenes/SCN-01.md"]
    with pytest.raises(FileMissing) as missing:
        await project.canon("Story/Scenes/SCN-01x.md")
    assert missing.value.context["near"] == ["Story/Scenes/SCN-01.md"]


async def test_a_scene_still_to_be_written_is_not_checked_against_canon(project: Project) -> None:
    project.card("Kael", "Eyes: green")
    project.scene(1, QUIET)
    assert (await project.canon("Story/Scenes/SCN-02.md"))["status"] == "NOT_CHECKED"
    assert (await project.canon("Story/Scenes/SCN-01.md"))["status"] == "NOT_CHECKED"


def test_only_what_changed_is_read_again_and_progress_is_told(project: Project) -> None:
    for number in range(1, 5):
        project.scene(number, f"{QUIET} There Lydia sat and then Lydia rose.")
    seen: list[tuple[int, int, str]] = []
    first = check_continuity(project.context, progress=lambda *told: seen.append(told))
    assert [done for done, _, _ in seen] == [1, 2, 3, 4]
    assert {of for _, of, _ in seen} == {4}
    kept = project.context.kept.get("story claims", dict)
    before = {document.path: reading for document, (_, reading) in kept._read.items()}
    path = Path(project.scene(2, f"{QUIET} There Lydia sat and then Lydia fell asleep."))
    again = check_continuity(project.context)
    after = {document.path: reading for document, (_, reading) in kept._read.items()}
    assert first.status == again.status == "CONSISTENT"
    assert {name for name in after if after[name] is not before[name]} == {path.as_posix()}


async def test_what_repeats_itself_is_one_line_until_all_is_asked_for(project: Project) -> None:
    words = ["gate", "star", "moon", "sun", "wind", "rain", "snow", "fire"]
    text = " ".join(
        f"The {w}-house and the {w}-house, the {w}house and the {w}house." for w in words
    )
    project.scene(1, f"{QUIET} {text}")
    short = (await project.consistency())["findings"]
    full = (await project.consistency(all=True))["findings"]
    assert len(full) == 8
    assert len(short) == 1
    assert short[0]["message"].startswith("8 findings of this kind")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("She turned. Her blue eyes were wet.", "She turned. Her brown eyes were wet."),
        ("Her hair was black.", "Her hair was red."),
    ],
)
def test_two_readings_that_can_only_reckon_whom_they_mean_are_not_held_against_each_other(
    story: Project, one: str, other: str
) -> None:
    for number, said in enumerate((one, other), start=1):
        story.scene(number, f"Ivy poured the tea for Nell. {said}")
    assert check_continuity(story.context).all_findings == ()
