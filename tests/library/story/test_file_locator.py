"""`file_locator`: what a task is about, best first."""

from pathlib import Path
from typing import Any

import pytest
from storytelling import call, context_of, copy_fortress

from callboard.library.story.tools.search import read_criteria, scene_numbers
from callboard.tools import ToolContext


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    return context_of(copy_fortress(tmp_path / "project"))


def locate(context: ToolContext, criteria: str, **args: Any) -> dict[str, Any]:
    return call("file_locator", context, search_criteria=criteria, **args).payload


def paths(payload: dict[str, Any]) -> list[str]:
    return [match["path"] for match in payload["matches"]]


@pytest.mark.req("CR-50", "CR-51", "CR-52")
def test_a_name_finds_its_card_first_and_the_preview_names_the_mix(context: ToolContext) -> None:
    result = call("file_locator", context, search_criteria="Kael")
    payload = result.payload
    assert paths(payload)[0] == "Compendium/Characters/CHAR-Kael.md"
    assert result.preview == "6 files found: 4 scenes, 1 outline, 1 canon card"
    assert payload["counts"] == {"scene": 4, "outline": 1, "canon": 1, "other": 0}
    assert payload["scan_mode"] == "FAST_SCAN"
    match = payload["matches"][1]
    assert (match["type"], match["scene_number"], match["pov"]) == ("scene", 1, "Kael")
    assert match["keywords"] == ["kael"]
    assert match["match_basis"] == ["METADATA_MATCH"]
    assert 0 < match["confidence"] <= 1
    assert match["word_count"] > 100


@pytest.mark.req("CR-53")
def test_an_exact_path_beats_everything(context: ToolContext) -> None:
    found = locate(context, "Check Story/Scenes/SCN-03-ashes.md against Kael and the gate")
    assert paths(found)[0] == "Story/Scenes/SCN-03-ashes.md"
    assert found["matches"][0]["score"] >= 100
    assert found["matches"][0]["confidence"] == 1.0


@pytest.mark.req("CR-53")
@pytest.mark.parametrize(
    ("criteria", "numbers"),
    [
        ("Write Scene 2", {2}),
        ("Consistency check (scenes 2–3 vs canon)", {2, 3}),
        ("scenes 1 to 3", {1, 2, 3}),
        ("scenes 1, 3 and 4", {1, 3, 4}),
        ("chapter 4", {4}),
        ("the 4 gates", set()),
    ],
)
def test_scene_numbers_are_understood(
    context: ToolContext, criteria: str, numbers: set[int]
) -> None:
    assert scene_numbers(criteria) == numbers
    found = locate(context, criteria)
    by_number = {each["scene_number"] for each in found["matches"] if each["score"] >= 40}
    assert by_number == numbers


@pytest.mark.req("CR-53")
def test_words_of_tasks_ask_for_nothing() -> None:
    assert read_criteria("Please draft and check the scene with Kael", 60).tokens == ("kael",)
    assert read_criteria("Write a draft", 60).tokens == ()
    assert (
        read_criteria("Write " * 500 + " ".join(f"word{n}" for n in range(500)), 60).tokens[0]
        == "word0"
    )


@pytest.mark.req("CR-53")
def test_points_are_those_of_the_thresholds(tmp_path: Path) -> None:
    for path, text in {
        "Notes/lantern.md": "# Plain\n\nNothing.",
        "Notes/b.md": "---\nlocation: Lantern\n---\n# Plain\n",
        "Notes/c.md": "# Plain\n\n## The lantern\n",
        "Notes/d.md": "# Plain\n\nA lantern burned. Lanterns everywhere.",
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    context = context_of(tmp_path)
    fast = locate(context, "lantern")
    assert {each["path"]: each["score"] for each in fast["matches"]} == {
        "Notes/lantern.md": 10,
        "Notes/b.md": 8,
        "Notes/c.md": 5,
    }
    deep = locate(context, "lantern", scan_mode="DEEP_SCAN")
    scores = {each["path"]: each["score"] for each in deep["matches"]}
    assert scores["Notes/d.md"] == 20
    assert deep["matches"][0]["match_basis"] == ["CONTENT_MATCH"]
    assert deep["matches"][0]["quote"]["text"] == "A lantern burned."


@pytest.mark.req("CR-53")
def test_a_misspelt_name_still_finds_its_bearer_but_a_word_does_not(context: ToolContext) -> None:
    assert "Compendium/Characters/CHAR-Mira.md" in paths(locate(context, "Miraa"))
    assert paths(locate(context, "mirage")) == []
    assert paths(locate(context, "qqqq")) == []


@pytest.mark.req("CR-53")
def test_ties_are_broken_by_kind_and_path(tmp_path: Path) -> None:
    for path in (
        "Notes/owl.md",
        "Compendium/owl.md",
        "Story/Scenes/owl.md",
        "Story/Scenes/a/owl.md",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("---\ntitle: x\n---\nText.")
    assert paths(locate(context_of(tmp_path), "owl")) == [
        "Story/Scenes/a/owl.md",
        "Story/Scenes/owl.md",
        "Compendium/owl.md",
        "Notes/owl.md",
    ]


@pytest.mark.req("CR-54")
def test_outline_and_cards_come_with_the_scenes(context: ToolContext) -> None:
    found = locate(context, "scene 2")
    assert found["outline_path"] == "Story/SCN-outline.md"
    assert found["scene_paths"] == ["Story/Scenes/SCN-02-the-breach.md"]
    assert "Compendium/Characters/CHAR-Mira.md" in found["canon_paths"]
    assert paths(locate(context, "scene 77")) == []
    assert locate(context, "scene 77 with Mira")["canon_paths"] == [
        "Compendium/Characters/CHAR-Mira.md",
        *(p for p in locate(context, "scene 77 with Mira")["canon_paths"] if "Mira" not in p),
    ]


@pytest.mark.req("CR-54")
@pytest.mark.parametrize("criteria", ["Draft scene 5", "Write “The Envoy” from the outline"])
def test_a_scene_that_nobody_has_written_brings_the_cards_its_outline_names(
    context: ToolContext, criteria: str
) -> None:
    found = locate(context, criteria)
    assert found["scene_paths"] == []
    assert "Compendium/Characters/CHAR-Kael.md" in found["canon_paths"]


@pytest.mark.req("CR-54")
def test_globs_and_limits(context: ToolContext) -> None:
    found = locate(context, "Story/Scenes/*.md", include_globs=True, max_results=2)
    assert (len(found["matches"]), found["total"]) == (2, 4)
    preview = call("file_locator", context, search_criteria="Kael", max_results=2).preview
    assert preview.endswith("(best 2 listed)")


@pytest.mark.req("CR-54")
def test_a_deep_scan_of_much_text_warns(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("The owl sat and the owl flew.\n\n" * 4_000)
    context = context_of(tmp_path)
    assert "tokens" in locate(context, "owl", scan_mode="DEEP_SCAN")["warning"]
    assert "warning" not in locate(context, "owl")


@pytest.mark.req("CR-48")
def test_finding_nothing_is_a_success(tmp_path: Path) -> None:
    result = call("file_locator", context_of(tmp_path), search_criteria="Kael")
    assert result.payload["matches"] == []
    assert result.payload["outline_path"] is None
    assert result.preview == "0 files found"
