"""scene_draft_validator: scenes and drafts against outline, canon and the craft's minimum."""

from collections.abc import Callable
from typing import Any

import pytest
from fact_project import Project, assert_verbatim

from callboard.tools import FileMissing, InvalidArgs

pytestmark = pytest.mark.anyio
Fortress = Callable[[str], Project]
BREACH = "Story/Scenes/SCN-02-the-breach.md"
ENVOY = "Story/Scenes/SCN-05-the-envoy.md"
DRAFT = """# The Envoy

Kael stood on the fortress gate when the envoy came up the road. The envoy asked for the surrender
of the fortress, and he asked politely.

Kael refused. He did it without raising his voice, and he kept his hand on the cold iron.

The envoy left a warning about the thaw before he turned his horse.
"""


def marks(payload: dict[str, Any]) -> dict[str, str]:
    return {check["check"]: check["status"] for check in payload["checks"]}


@pytest.mark.req("CR-78", "CR-79", "CR-80")
async def test_the_planted_todo_asks_for_revision(fortress: Fortress) -> None:
    project = fortress("project")
    payload = await project.draft(scene_path=BREACH)
    assert payload["recommendation"] == "REVISE"
    assert marks(payload)["placeholders"] == "FAIL"
    (finding,) = payload["findings"]
    assert finding["quotes"][0]["text"] == "TODO: name the captain of the enemy here."
    assert payload["beat"]["title"] == "The Breach"
    assert payload["card"]["name"] == "Kael"
    assert payload["scene"]["title"] == "The Breach"
    assert_verbatim(project.root, payload)


@pytest.mark.req("CR-80")
async def test_clean_scenes_are_approved(fortress: Fortress) -> None:
    project = fortress("clean")
    for scene in project.scenes():
        payload = await project.draft(scene_path=scene)
        assert payload["recommendation"] == "APPROVE", payload["checks"]
        assert "FAIL" not in marks(payload).values()


@pytest.mark.req("CR-80")
async def test_a_canon_conflict_asks_for_revision(fortress: Fortress) -> None:
    project = fortress("project")
    ashes = "Story/Scenes/SCN-03-ashes.md"
    payload = await project.draft(scene_path=ashes)
    assert payload["recommendation"] == "REVISE"
    assert (marks(payload)["canon"], marks(payload)["names"]) == ("FAIL", "WARN")
    assert payload["conflicts"][0]["canon_value"] == "grey"
    without = await project.draft(scene_path=ashes, include_canon=False)
    assert without["recommendation"] == "APPROVE" and without["conflicts"] == []


@pytest.mark.req("CR-80", "CR-79")
async def test_a_draft_that_is_in_no_file_is_validated(fortress: Fortress) -> None:
    project = fortress("clean")
    payload = await project.draft(text=DRAFT, scene_path=ENVOY)
    assert payload["recommendation"] == "APPROVE", payload["checks"]
    assert payload["beat"]["number"] == 5
    assert [each["status"] for each in payload["beats"]] == ["covered"] * 3
    assert payload["scene"]["is_draft_text"] is True
    assert assert_verbatim(project.root, payload, DRAFT) > 3
    by_title = await project.draft(text=DRAFT)
    assert (by_title["beat"]["number"], by_title["beat"]["method"]) == (5, "title")


@pytest.mark.req("CR-80")
async def test_a_draft_against_canon_and_without_its_beats_fails(fortress: Fortress) -> None:
    project = fortress("clean")
    green = DRAFT.replace("He did it", "His hand was still. Kael's eyes were green. He did it")
    assert (await project.draft(text=green, scene_path=ENVOY))["recommendation"] == "REVISE"
    other = "# The Envoy\n\nKael slept until noon. There was nothing else to do at the gate.\n"
    payload = await project.draft(text=other, scene_path=ENVOY)
    assert payload["recommendation"] == "REVISE"
    assert marks(payload)["beats"] == "FAIL"
    assert [each["status"] for each in payload["beats"]].count("missing") >= 2


@pytest.mark.req("CR-80")
@pytest.mark.parametrize(
    ("text", "check"),
    [
        ("# Somewhere Else\n\nKael walked home, and it took him all day.\n", "beat_matched"),
        (
            "---\ntitle: The Envoy\npov: Borin\n---\n"
            + DRAFT.removeprefix("# The Envoy\n"),
            "pov_known",
        ),
    ],
)  # fmt: skip
async def test_an_unknown_beat_or_view_is_flagged(
    fortress: Fortress, text: str, check: str
) -> None:
    payload = await fortress("clean").draft(text=text)
    assert payload["recommendation"] == "FLAG_FOR_REVIEW"
    assert marks(payload)[check] == "WARN"


@pytest.mark.req("CR-79", "CR-80")
@pytest.mark.parametrize("text", ["", "   \n\n", "# The Envoy\n", "<!-- later -->\n"])
async def test_an_empty_body_fails(fortress: Fortress, text: str) -> None:
    payload = await fortress("clean").draft(text=text, scene_path=ENVOY)
    assert payload["recommendation"] == "REVISE"
    assert marks(payload) == {"body": "FAIL"}


@pytest.mark.req("CR-79")
@pytest.mark.parametrize(
    ("line", "is_placeholder"),
    [
        ("TODO: describe the gate.", True),
        ("He took the TBD and left.", True),
        ("He went in. [...] He came out.", True),
        ("[insert fight here]", True),
        ("As an AI language model, I cannot write this.", True),
        ("I'm sorry, but I can't continue this scene.", True),
        ("Lorem ipsum dolor sit amet.", True),
        ("As an AI, she needed no sleep, and the ship was quiet.", False),
        ("[This from Hugo to his sons, with instructions.]", False),
        ("There was much to do, and toto barked.", False),
        ("<!-- TODO: a remark of the author -->", False),
        ("He read the [letter](letter.md) again.", False),
        ("I am sorry, but I cannot stay, said the envoy.", False),
    ],
)
async def test_placeholders(fortress: Fortress, line: str, is_placeholder: bool) -> None:
    payload = await fortress("clean").draft(text=f"{DRAFT}\n{line}\n", scene_path=ENVOY)
    assert marks(payload)["placeholders"] == ("FAIL" if is_placeholder else "PASS")


@pytest.mark.req("CR-79")
@pytest.mark.parametrize(
    ("ending", "mark"),
    [
        ("He turned his horse.", "PASS"),
        ("“Never,” said the envoy. “Never!”", "PASS"),
        ("“But—”", "PASS"),
        ("*He was gone.*", "PASS"),
        ("He turned his horse and", "WARN"),
        ("He turned,", "WARN"),
    ],
)
async def test_the_last_paragraph_is_complete(fortress: Fortress, ending: str, mark: str) -> None:
    payload = await fortress("clean").draft(text=f"{DRAFT}\n{ending}\n", scene_path=ENVOY)
    assert marks(payload)["ending"] == mark


@pytest.mark.req("CR-79")
async def test_length_title_cast_and_place(fortress: Fortress) -> None:
    project = fortress("clean")
    front = "---\ntitle: The Envoy\ntarget_words: 70\n---\n"
    within = await project.draft(text=front + DRAFT, scene_path=ENVOY)
    assert marks(within)["length"] == "PASS"
    far = await project.draft(text=front.replace("70", "700") + DRAFT, scene_path=ENVOY)
    assert marks(far)["length"] == "WARN"
    bare = DRAFT.removeprefix("# The Envoy\n")
    assert marks(await project.draft(text=bare, scene_path=ENVOY))["title"] == "WARN"
    nobody = DRAFT.replace("Kael", "The man").replace("fortress gate", "porch")
    absent = marks(await project.draft(text=nobody, scene_path=ENVOY))
    assert (absent["characters"], absent["pov_named"]) == ("WARN", "WARN")
    elsewhere = DRAFT.replace("fortress", "inn").replace("gate", "porch")
    assert marks(await project.draft(text=elsewhere, scene_path=ENVOY))["location"] == "WARN"


@pytest.mark.req("CR-79")
async def test_the_person_of_the_narrator_is_one(fortress: Fortress) -> None:
    project = fortress("clean")
    mine = " ".join("I went on. It was my road." for _ in range(5))
    first = DRAFT.replace("Kael stood", f"{mine} Kael stood")
    payload = await project.draft(text=first, scene_path=ENVOY)
    assert marks(payload)["person"] == "PASS"
    long = DRAFT + "\n" + " ".join("He went on. She saw him go." for _ in range(20))
    slips = long + " I went home. My feet hurt. I slept."
    assert marks(await project.draft(text=long, scene_path=ENVOY))["person"] == "PASS"
    payload = await project.draft(text=slips, scene_path=ENVOY)
    assert marks(payload)["person"] == "WARN"
    # A narrator who is mostly spoken to says "I" seldom, and never speaks of himself by name.
    watson = slips.replace("Kael", "The stranger")
    assert marks(await project.draft(text=watson, scene_path=ENVOY))["person"] == "PASS"


@pytest.mark.req("CR-80")
async def test_without_outline_and_cards_a_scene_is_flagged(project: Project) -> None:
    scene = project.scene(1, "It rained on the roofs of the town, and nobody was in the street.")
    payload = await project.draft(scene_path=scene)
    assert payload["recommendation"] == "FLAG_FOR_REVIEW"
    assert (payload["beat"], payload["card"]) == (None, None)


@pytest.mark.req("CR-47", "CR-48")
async def test_what_is_missing_is_said(fortress: Fortress) -> None:
    project = fortress("clean")
    with pytest.raises(InvalidArgs):
        await project.draft()
    with pytest.raises(FileMissing):
        await project.draft(scene_path="Story/Scenes/SCN-09.md")
    with pytest.raises(FileMissing):
        await project.draft(text="It rained.", outline_path="Story/outline.md")
