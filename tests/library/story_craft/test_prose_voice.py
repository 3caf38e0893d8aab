"""Person, tense and point of view, outside dialogue."""

import pytest

from callboard.library.story.model import Severity, StoryFinding
from callboard.library.story.text.document import Document
from callboard.library.story.thresholds import bundled_thresholds
from callboard.library.story.tools.prose.tool import analyse
from callboard.library.story.tools.report import SceneNames

LIMITS = bundled_thresholds().prose
PEOPLE = SceneNames(
    frozenset({"kael", "mira", "tom"}), {"kael": "Kael", "mira": "Mira", "tom": "Tom"}
)
PAST = "Kael walked to the gate. He opened it and looked down the road. The snow lay deep. "


def analysed(text: str, pov: str | None = None):
    return analyse(Document("scene.md", text), PEOPLE, pov, LIMITS, "voice")


def of_type(text: str, kind: str, pov: str | None = None) -> list[StoryFinding]:
    return [each for each in analysed(text, pov).findings if each.type == kind]


@pytest.mark.req("CR-70")
@pytest.mark.parametrize(
    ("text", "person"),
    [
        (PAST * 4, "third"),
        ("I walked to the gate. My hands were cold. He looked at me. " * 4, "first"),
        (
            "“I am here,” said Kael. “I came for my brother.” He sat down on the stones. " * 4,
            "third",
        ),
        ("You walk to the gate. Your hands are cold. You wait. " * 4, "second"),
        ("The gate stood open.", "unknown"),
    ],
)
def test_person_is_inferred_outside_speech(text: str, person: str) -> None:
    assert analysed(text).metrics["person"] == person


@pytest.mark.req("CR-70")
@pytest.mark.parametrize(
    ("text", "tense"),
    [
        (PAST, "past"),
        ("Kael walks to the gate. He opens it and looks down the road. He is cold.", "present"),
        ("“He is late. He comes when he likes.” The door opened. “It is he.” She turned.", "past"),
    ],
)
def test_the_tense_of_the_telling(text: str, tense: str) -> None:
    assert analysed(text).metrics["tense"]["majority"] == tense


@pytest.mark.req("CR-71")
def test_a_scene_that_slips_between_tenses() -> None:
    text = (PAST + "Kael sees a light. It is yellow. He knows it. ") * 4
    (found,) = of_type(text, "mixed_tense")
    assert "past tense" in found.message
    assert found.quotes


@pytest.mark.req("CR-71")
@pytest.mark.parametrize(
    "text",
    [
        # Speech in the present.
        (PAST + "“It is late. He is cold. She knows it.” ") * 4,
        # What is always true, and what everybody knows.
        (PAST + "There is no winter like it. One is never warm there. ") * 4,
        # A narrator who looks back from now.
        ("I walked home. I remember the smell; I am old now. I think it was May. It rained. ") * 4,
    ],
)
def test_present_remarks_that_belong_to_a_past_tale(text: str) -> None:
    assert not of_type(text, "mixed_tense")


def test_a_flashback_in_a_present_tale_is_a_passage_of_its_own() -> None:
    now = "Kael is at the gate. He is cold. He looks up. It is late. "
    then = (
        "That summer he was a boy. They swam. He had a dog. It slept by the mill. They were poor. "
    )
    (found,) = of_type(now * 4 + then, "mixed_tense")
    assert found.severity is Severity.INFO
    assert "a passage of their own" in found.message


@pytest.mark.req("CR-71")
@pytest.mark.parametrize(
    ("text", "subjects"),
    [
        ("Mira wondered whether he would come.", ["Mira"]),
        ("The cook thought that he looked tired.", ["the cook"]),
        ("Mira knew that he lied.", ["Mira"]),
        ("Mira suddenly remembered the key.", ["Mira"]),
        # The point of view's own mind.
        ("Kael wondered whether she would come.", []),
        # What can be seen, inferred or was said.
        ("Mira thought for a moment.", []),
        ("Mira seemed to hope. Perhaps Mira feared him.", []),
        ("Kael saw that Mira feared him. He knew Mira hoped.", []),
        ("She said that Mira wished it.", []),
        ("“Mira thought so,” he said.", []),
        ("Mira knew the road.", []),
        ("Had Mira hoped for it?", []),
    ],
)
def test_minds_opened_besides_the_point_of_view(text: str, subjects: list[str]) -> None:
    found = of_type(PAST + text, "pov_slip", pov="Kael")
    assert [each.message.split("the mind of ")[1].split(" (")[0] for each in found] == subjects


@pytest.mark.req("CR-71")
def test_an_all_knowing_narrator_is_told_once() -> None:
    text = PAST + "Mira wondered at it. Tom feared the dark. The cook hoped for rain. Mira doubted."
    analysis = analysed(text, pov="Kael")
    assert [each.type for each in analysis.findings] == ["omniscient_narration"]
    assert analysis.findings[0].severity is Severity.INFO


@pytest.mark.req("CR-70")
def test_without_a_declared_point_of_view_none_is_made_up() -> None:
    text = PAST + "Mira wondered at it. Tom feared the dark. The cook hoped for rain."
    analysis = analysed(text)
    assert analysis.metrics["pov"]["inferred"] is None
    assert not analysis.findings


@pytest.mark.req("CR-70")
def test_the_point_of_view_is_who_thinks() -> None:
    text = PAST + "Kael wondered. Kael remembered the mill. Kael feared the dark."
    assert analysed(text).metrics["pov"]["inferred"] == "Kael"
