"""canon_checker: scenes against cards."""

from collections.abc import Callable

import pytest
from fact_project import TOOLS, Project, assert_verbatim

from callboard.core.canonical import digest
from callboard.tools import FileMissing, InvalidArgs, PathOutsideProject

pytestmark = pytest.mark.anyio
Fortress = Callable[[str], Project]
ASHES = "Story/Scenes/SCN-03-ashes.md"


@pytest.mark.req("CR-60", "CR-61", "CR-64", "CR-65", "CR-46")
async def test_the_planted_eyes_and_the_planted_name_are_found(fortress: Fortress) -> None:
    project = fortress("project")
    payload = await project.canon(ASHES)
    assert payload["status"] == "CONFLICTS"
    (conflict,) = payload["conflicts"]
    assert conflict["severity"] == "major"
    assert (conflict["entity"], conflict["attribute"]) == ("Kael", "eye_colour")
    assert (conflict["canon_value"], conflict["scene_value"]) == ("grey", "green")
    paths = [quote["path"] for quote in conflict["quotes"]]
    assert paths == [ASHES, "Compendium/Characters/CHAR-Kael.md"]
    assert "Kael's eyes were green" in conflict["quotes"][0]["text"]
    assert conflict["quotes"][1]["text"] == "Eyes: grey"
    assert [each["action"] for each in conflict["proposals"]] == ["revise_scene", "update_canon"]
    (variant,) = payload["name_variants"]
    assert (variant["surface"], variant["canonical"], variant["distance"]) == ("Miraa", "Mira", 1)
    assert assert_verbatim(project.root, payload) > 5


@pytest.mark.req("CR-64")
async def test_the_clean_project_is_consistent(fortress: Fortress) -> None:
    project = fortress("clean")
    for scene in project.scenes():
        for mode in ("lenient", "strict"):
            payload = await project.canon(scene, mode=mode)
            assert payload["status"] == "CONSISTENT", (scene, payload["gaps"])
            assert payload["conflicts"] == payload["name_variants"] == payload["gaps"] == []
    assert [each["value"] for each in (await project.canon(ASHES))["consistent"]] == ["grey"]


@pytest.mark.req("CR-64")
@pytest.mark.parametrize(
    "sentence",
    [
        "In the dusk his eyes were like green glass.",
        "Kael's eyes were as green as glass.",
        "Mira almost died that winter.",
        "Kael's eyes were not green.",
        "If Kael's eyes were green, nobody would know him.",
    ],
)
async def test_simile_denial_and_near_death_are_no_conflict(
    fortress: Fortress, sentence: str
) -> None:
    project = fortress("clean")
    project.edit(ASHES, "Kael carried the stones himself.", f"Kael carried them. {sentence}")
    payload = await project.canon(ASHES)
    assert payload["conflicts"] == []


@pytest.mark.req("CR-68", "CR-64")
async def test_a_change_told_in_the_text_is_no_conflict(fortress: Fortress) -> None:
    project = fortress("clean")
    told = "Since the wound Kael was right-handed, and he cursed every spoon."
    project.edit(ASHES, "Nobody answered.", f"{told} Nobody answered.")
    payload = await project.canon(ASHES)
    assert payload["status"] == "CONSISTENT"
    (change,) = payload["changes"]
    assert (change["canon_value"], change["scene_value"]) == ("left-handed", "right-handed")


async def test_a_change_told_in_an_earlier_scene_explains_a_later_one(project: Project) -> None:
    project.card("Kael", "Hair: black")
    first = project.scene(1, "Kael had dyed his hair. Kael's hair was red now.")
    later = project.scene(2, "Kael's red hair was wet.")
    payload = await project.canon(later)
    assert payload["conflicts"] == []
    (change,) = payload["changes"]
    assert change["quotes"][0]["path"] == first
    project.scene(1, "Kael slept.")
    assert len((await project.canon(later))["conflicts"]) == 1


@pytest.mark.req("CR-64")
async def test_what_canon_does_not_say_is_a_gap(fortress: Fortress) -> None:
    project = fortress("clean")
    project.edit(ASHES, "Nobody answered.", "Kael's black hair was wet. Nobody answered.")
    payload = await project.canon(ASHES)
    assert payload["status"] == "CANON_GAP"
    assert payload["conflicts"] == []
    (gap,) = payload["gaps"]
    assert (gap["kind"], gap["entity"], gap["attribute"]) == ("detail", "Kael", "hair_colour")


@pytest.mark.req("CR-64")
async def test_what_characters_say_weighs_less(project: Project) -> None:
    project.card("Kael", "Eyes: grey")
    scene = project.scene(1, '"Kael has green eyes," said the cook. "Everybody knows that."')
    payload = await project.canon(scene)
    (conflict,) = payload["conflicts"]
    assert conflict["severity"] == "minor" and conflict["in_dialogue"]


@pytest.mark.req("CR-62")
async def test_a_scene_that_is_not_written_yet_has_facts_and_no_conflicts(
    fortress: Fortress,
) -> None:
    project = fortress("project")
    result = await project.run("canon_checker", scene_path="Story/Scenes/SCN-05-the-envoy.md")
    payload = result.payload
    assert result.preview.startswith("not checked against ")
    assert result.preview.count("SCN-05-the-envoy.md") == 1
    assert payload["scene_exists"] is False
    assert payload["conflicts"] == []
    assert {"grey", "34", "left-handed"} <= {fact["value"] for fact in payload["facts"]}
    assert {fact["source"] for fact in payload["facts"]} == {"canon"}


@pytest.mark.req("CR-62", "CR-48")
async def test_a_missing_card_is_not_found_and_close_paths_are_named(fortress: Fortress) -> None:
    project = fortress("project")
    with pytest.raises(FileMissing) as error:
        await project.canon(ASHES, canon_paths=["Compendium/Characters/CHAR-Kale.md"])
    assert "CHAR-Kael.md" in str(error.value.fix) + str(error.value)
    with pytest.raises(PathOutsideProject):
        await project.canon("../SCN-03.md")


@pytest.mark.req("CR-60")
async def test_without_cards_named_a_manifest_tells_which_have_a_say(fortress: Fortress) -> None:
    project = fortress("project")
    payload = await project.canon(ASHES)
    marked = {card["name"]: card["in_scene"] for card in payload["manifest"]}
    assert marked == {"Kael": True, "Mira": False, "Fortress": False}
    assert {card["category"] for card in payload["manifest"]} == {"character", "location"}
    only = await project.canon(ASHES, canon_paths=["Compendium/Characters/CHAR-Mira.md"])
    assert only["conflicts"] == [] and "manifest" not in only


@pytest.mark.req("CR-64")
async def test_strict_names_everybody_without_a_card_lenient_only_who_recurs(
    project: Project,
) -> None:
    project.card("Kael", "Eyes: grey")
    scene = project.scene(
        1, "Kael met Borin at the well. He asked Borin for Edda. Meanwhile it snowed on Kael."
    )
    lenient = {gap["entity"] for gap in (await project.canon(scene))["gaps"]}
    strict = {gap["entity"] for gap in (await project.canon(scene, mode="strict"))["gaps"]}
    assert lenient == {"Borin"}
    assert strict == {"Borin", "Edda"}


@pytest.mark.req("CR-65")
@pytest.mark.parametrize(
    ("card", "word", "is_variant"),
    [
        ("Mira", "Miraa", True),
        ("Mira", "Mirra", True),
        ("Kael", "Keal", True),
        ("Stapleton", "Stappelton", True),
        ("Stapleton", "Stapletons", False),
        ("Mira", "Mary", False),
        ("Anna", "Anne", False),
        ("Mira", "Mara", False),
        ("Morlock", "Morlocks", False),
        ("Ann", "Anx", False),
    ],
)
async def test_which_words_are_misspelt_names(
    project: Project, card: str, word: str, is_variant: bool
) -> None:
    project.card(card, "Eyes: brown")
    scene = project.scene(1, f"{card} came in. The cook looked for {word} and found nobody.")
    found = [each["surface"] for each in (await project.canon(scene))["name_variants"]]
    assert found == ([word] if is_variant else [])


@pytest.mark.req("CR-65")
async def test_an_ordinary_word_and_a_recurring_name_are_no_misspelling(project: Project) -> None:
    project.card("Mira", "Eyes: brown")
    project.scene(1, "The mire was deep. Mira fell. Then Mirna came. Jon saw Mirna. Mirna ran.")
    scene = project.scene(2, "Mira crossed the great Mire. She met Mirna.")
    assert (await project.canon(scene))["name_variants"] == []


async def test_titles_and_first_names_tell_people_of_one_family_apart(project: Project) -> None:
    project.card("John Barrymore", "Eyes: grey", "Gender: male")
    scene = project.scene(
        1,
        "Mrs. Barrymore's brown eyes were wet. Rodger Barrymore's blue eyes were not. "
        "Barrymore's grey eyes saw it.",
    )
    payload = await project.canon(scene)
    assert payload["conflicts"] == []
    assert [each["value"] for each in payload["consistent"]] == ["grey"]


async def test_kin_is_compared_from_both_sides(project: Project) -> None:
    project.card("Kael", "Sister: Mira", "Gender: male")
    project.card("Mira", "Eyes: brown", "Gender: female")
    agrees = project.scene(1, "Kael, Mira's brother, laughed at it as he always did.")
    clashes = project.scene(2, "Mira, Kael's wife, laughed at it as she always did.")
    assert (await project.canon(agrees))["conflicts"] == []
    (conflict,) = (await project.canon(clashes))["conflicts"]
    assert conflict["attribute"] == "kinship"


@pytest.mark.parametrize(
    "card",
    [
        "---\ntype: character\ntitle: Kael\neyes: grey\n---\n",
        "---\ntype: character\ntitle: Kael\nappearance:\n  eyes: grey\n---\n",
        "# Kael\n\nEyes: grey\n",
        "# Kael\n\n- **Eyes:** grey\n",
        "# Kael\n\n**Eye colour**: gray\n",
        "# Kael\n\n| Trait | Value |\n|---|---|\n| Eyes | grey |\n",
        "# Kael\n\nKael has grey eyes.\n",
    ],
)
@pytest.mark.req("CR-63")
async def test_cards_say_it_in_many_ways(project: Project, card: str) -> None:
    path = project.write("Compendium/Characters/CHAR-Kael.md", card)
    scene = project.scene(1, "Kael's eyes were green.")
    payload = await project.canon(scene)
    (conflict,) = payload["conflicts"]
    assert conflict["quotes"][1]["path"] == path
    assert "gr" in conflict["quotes"][1]["text"]
    assert_verbatim(project.root, payload)


@pytest.mark.req("CR-63")
async def test_one_file_may_hold_the_whole_canon(project: Project) -> None:
    project.write("Canon.md", "# Canon\n\n## Kael\n\nEyes: grey\n\n## Mira\n\nEyes: brown\n")
    scene = project.scene(1, "Mira's eyes were green. Kael's eyes were grey. Mira laughed at Kael.")
    payload = await project.canon(scene, canon_paths=["Canon.md"])
    assert [each["entity"] for each in payload["conflicts"]] == ["Mira"]


@pytest.mark.req("CR-42")
async def test_text_in_another_language_makes_no_claims(project: Project) -> None:
    project.card("Kael", "Eyes: grey")
    scene = project.scene(
        1,
        "Kaels Augen waren green wie der Wald, und der Koch dachte lange darüber nach. Niemand "
        "sprach mit Kaell, denn das Brot war hart und die Nacht sehr kalt. Kael schlief nicht.",
    )
    payload = await project.canon(scene)
    assert payload["language_supported"] is False
    assert payload["conflicts"] == payload["name_variants"] == payload["gaps"] == []


@pytest.mark.req("CR-47")
async def test_unknown_arguments_are_refused_and_a_dry_run_lists_the_files(
    fortress: Fortress,
) -> None:
    project = fortress("project")
    with pytest.raises(InvalidArgs) as error:
        await project.canon(ASHES, canon="x")
    assert "canon" in str(error.value)
    tool = TOOLS["canon_checker"]
    assert tool.dry_run is not None
    planned = await tool.dry_run(project.context, tool.parse({"scene_path": ASHES}))
    assert planned.reads == (ASHES, "Compendium/Characters/CHAR-Kael.md")


@pytest.mark.req("CR-45")
async def test_the_same_tree_gives_the_same_result(fortress: Fortress) -> None:
    project = fortress("project")
    first = await project.run("canon_checker", scene_path=ASHES)
    again = await Project(project.root).run("canon_checker", scene_path=ASHES)
    assert digest(first.payload) == digest(again.payload)
    assert len(first.preview) <= 200 and "\n" not in first.preview
    assert {ref.path for ref in first.file_refs} >= {ASHES, "Compendium/Characters/CHAR-Kael.md"}
