"""`outline_analyzer`: scenes, beats, balance, and the scene a task means."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from storytelling import call, context_of, copy_fortress

from callboard.library.story.index.outline import NoOutline, read_outline
from callboard.library.story.text import Document


@pytest.fixture
def fortress(tmp_path: Path) -> Path:
    return copy_fortress(tmp_path / "project")


def analyse(root: Path, **args: Any) -> dict[str, Any]:
    return call("outline_analyzer", context_of(root), **args).payload


def types(payload: dict[str, Any]) -> list[str]:
    return [finding["type"] for finding in payload["findings"]]


def outline_of(tmp_path: Path, text: str, scenes: tuple[str, ...] = ()) -> Path:
    (tmp_path / "outline.md").write_text(text)
    for name in scenes:
        (tmp_path / "Scenes").mkdir(exist_ok=True)
        (tmp_path / f"Scenes/{name}.md").write_text(f"# {name}\n\nText.")
    return tmp_path


@pytest.mark.req("CR-55", "CR-56", "CR-59")
def test_the_fortress_lacks_number_seven_and_beats_in_scene_four(fortress: Path) -> None:
    result = call("outline_analyzer", context_of(fortress), target="Draft scene 5")
    payload = result.payload
    assert [scene["title"] for scene in payload["scenes"]][:2] == ["The Gate", "The Breach"]
    assert result.preview.startswith("8 scenes, beat 5 matched")
    assert payload["matched"] == {"index": 4, "method": "number", "confidence": 1.0}
    told = [finding["message"] for finding in payload["findings"]]
    assert any("number 7 is missing" in message for message in told)
    assert any(message.startswith("Scene 4 (The Long Night) has no beats") for message in told)
    assert sum(kind == "no_beats" for kind in types(payload)) == 1
    assert "An envoy asks for the surrender of the fortress" in result.summary


@pytest.mark.req("CR-57")
def test_a_scene_of_the_outline_has_all_that_is_said_of_it(fortress: Path) -> None:
    scene = analyse(fortress)["scenes"][0]
    assert (scene["index"], scene["number"], scene["slug"]) == (0, 1, "the-gate")
    assert scene["act"] == "Act One"
    assert scene["fields"]["pov"] == "Kael"
    assert scene["fields"]["stakes"] == "If the gate falls, the valley starves."
    assert [beat["text"] for beat in scene["beats"]][1] == "Mira hands him the brass key"
    assert scene["beats"][1]["line"] == 14
    assert scene["lines"] == [5, 15]
    assert scene["scene_path"] == "Story/Scenes/SCN-01-the-gate.md"
    assert analyse(fortress)["distribution"]["acts"] == {"Act One": 3, "Act Two": 3, "Act Three": 2}
    assert analyse(fortress)["distribution"]["pov"] == {"Kael": 8}


SHAPES = {
    "headings": "# B\n\n## Act\n\n### Scene 1: The Gate\n\n- Kael runs\n\n### Scene 2: Ashes\n",
    "third level": "# B\n\n## Act\n\n### The Gate\n\n- Kael runs\n\n### Ashes\n\n- b\n",
    "numbered list": "# B\n\n## Act\n\n1. The Gate\n   - Kael runs\n2. Ashes\n   - b\n",
    "scene lines": "# B\n\n## Act\n\nScene 1: The Gate\n- Kael runs\n\nScene 2: Ashes\n- b\n",
    "scene bullets": "# B\n\n## Act\n\n- Scene 1: The Gate\n  - Kael runs\n- Scene 2: Ashes\n",
    "table": "# B\n\n## Act\n\n| # | Title | Beats |\n|---|---|---|\n| 1 | The Gate | Kael runs |\n"
    "| 2 | Ashes | b |\n",
}


@pytest.mark.req("CR-57")
@pytest.mark.parametrize("shape", SHAPES)
def test_outlines_of_every_shape_are_read(shape: str) -> None:
    outline = read_outline(Document("outline.md", SHAPES[shape]))
    assert outline.title == "B"
    assert [entry.title for entry in outline.entries] == ["The Gate", "Ashes"]
    assert [entry.act for entry in outline.entries] == ["Act", "Act"]
    assert [beat.text for beat in outline.entries[0].beats] == ["Kael runs"]
    if shape != "third level":
        assert [entry.number for entry in outline.entries] == [1, 2]


@pytest.mark.req("CR-57")
def test_chapters_are_scenes_where_nothing_else_is() -> None:
    text = "# B\n\n## Chapter One: Dawn\n\nIt begins.\n\n## Chapter Two: Dusk\n\n**POV:** Mira\n"
    outline = read_outline(Document("outline.md", text))
    assert [(entry.number, entry.title) for entry in outline.entries] == [(1, "Dawn"), (2, "Dusk")]
    assert outline.entries[0].summary == "It begins."
    assert outline.entries[1].fields == {"pov": "Mira"}


@given(
    st.lists(
        st.sampled_from(
            ["# B\n", "## Act\n", "### Scene 1: A\n", "### X (POV: Kael)\n", "1. a\n", "- b\n",
             "\n", "POV: K\n", "| # | Title |\n|---|---|\n| 1 | x |\n", "Scene 2: C\n", "text\n",
             "   - d\n"]
        ),
        max_size=25,
    ).map("".join)
)  # fmt: skip
def test_any_outline_can_be_read(text: str) -> None:
    document = Document("outline.md", text)
    ends = [0]
    for entry in read_outline(document).entries:
        assert ends[-1] < entry.line_start <= entry.line_end <= len(document.lines)
        ends.append(entry.line_start)


@pytest.mark.req("CR-58")
@pytest.mark.parametrize(
    ("target", "index", "method"),
    [
        ("Write Scene 8", 6, "number"),
        ("Story/Scenes/SCN-03-ashes.md", 2, "file"),
        ("Story/Scenes/SCN-05-the-envoy.md", 4, "number"),
        ("Draft the bridge", 6, "title"),
        ("Draft the long night again", 3, "title"),
        ("Kael orders that the bridge be burned when the river breaks", 5, "pov"),
        ("Teh Envoy", 4, "fuzzy_title"),
    ],
)
def test_a_target_is_matched_by_the_surest_sign(
    fortress: Path, target: str, index: int, method: str
) -> None:
    matched = analyse(fortress, target=target)["matched"]
    assert (matched["index"], matched["method"]) == (index, method)


@pytest.mark.req("CR-58")
@pytest.mark.parametrize(
    "target", ["make it better", "Write scene 7", "scenes 2 and 3", "a dragon attacks", "Kael"]
)
def test_nothing_is_guessed(fortress: Path, target: str) -> None:
    result = call("outline_analyzer", context_of(fortress), target=target)
    assert result.payload["matched"] is None
    assert "no beat matched" in result.preview


@pytest.mark.req("CR-55")
def test_without_an_outline_the_error_says_what_to_add(tmp_path: Path) -> None:
    with pytest.raises(NoOutline) as error:
        analyse(tmp_path)
    assert error.value.code == "no_outline"
    assert error.value.fix


@pytest.mark.req("CR-55")
def test_modes_narrow_the_findings(fortress: Path) -> None:
    assert set(types(analyse(fortress, mode="beats"))) == {"no_beats"}
    assert set(types(analyse(fortress, mode="pov"))) == {"one_pov"}
    assert types(analyse(fortress, mode="stakes")) == []


def entry(number: int, title: str, pov: str = "Kael", more: str = "", beats: str = "- x\n") -> str:
    return f"### Scene {number}: {title}\n\nPOV: {pov}\nStakes: all\n{more}\n{beats}\n"


@pytest.mark.req("CR-59")
def test_duplicate_numbers_are_found_but_not_where_acts_count_anew(tmp_path: Path) -> None:
    twice = "# B\n\n## One\n\n" + entry(1, "A") + entry(2, "B") + entry(2, "C")
    assert "duplicate_number" in types(analyse(outline_of(tmp_path, twice)))
    anew = "# B\n\n## One\n\n" + entry(1, "A") + entry(2, "B") + "## Two\n\n" + entry(1, "C")
    assert "duplicate_number" not in types(analyse(outline_of(tmp_path, anew)))


@pytest.mark.req("CR-59")
def test_points_of_view_out_of_balance_are_found(tmp_path: Path) -> None:
    povs = ["Kael"] * 4 + ["Mira", "Orla", "Mira", "Orla"]
    text = "# B\n\n" + "".join(entry(n, f"T{n}", pov) for n, pov in enumerate(povs, 1))
    found = types(analyse(outline_of(tmp_path, text)))
    assert "pov_run" in found
    assert "one_pov" not in found
    most = ["Kael", "Mira"] + ["Kael"] * 3 + ["Mira"] + ["Kael"] * 3
    text = "# B\n\n" + "".join(entry(n, f"T{n}", pov) for n, pov in enumerate(most, 1))
    assert "one_pov" in types(analyse(outline_of(tmp_path, text)))
    text = "# B\n\n" + entry(1, "A") + "### Scene 2: B\n\n- x\n"
    assert "no_pov" in types(analyse(outline_of(tmp_path, text)))


@pytest.mark.req("CR-59")
def test_acts_out_of_balance_are_found(tmp_path: Path) -> None:
    many = "".join(entry(n, f"T{n}") for n in range(1, 12))
    assert "no_acts" in types(analyse(outline_of(tmp_path, "# B\n\n" + many)))
    split = "# B\n\n## One\n\n" + many + "## Two\n\n" + entry(12, "L")
    assert {"large_act", "small_act"} <= set(types(analyse(outline_of(tmp_path, split))))
    few = "# B\n\n" + "".join(entry(n, f"T{n}") for n in range(1, 6))
    assert "no_acts" not in types(analyse(outline_of(tmp_path, few)))


@pytest.mark.req("CR-59")
def test_outline_and_files_are_held_against_each_other(tmp_path: Path) -> None:
    text = "# B\n\n" + entry(2, "Dawn") + entry(1, "Dusk") + entry(3, "Gap") + entry(4, "End")
    root = outline_of(tmp_path, text, ("SCN-01-dusk", "SCN-02-dawn", "SCN-04-end", "SCN-09-extra"))
    findings = analyse(root)["findings"]
    by_type = {finding["type"]: finding for finding in findings}
    assert "Scenes/SCN-09-extra.md" in by_type["file_without_entry"]["message"]
    assert "Gap" in by_type["entry_without_file"]["message"]
    assert by_type["entry_without_file"]["severity"] == "minor"
    assert "order_differs" in by_type
    (root / "Scenes/SCN-09-extra.md").unlink()
    assert "file_without_entry" not in types(analyse(root))


@pytest.mark.req("CR-59")
def test_a_long_absence_and_missing_stakes_are_found(tmp_path: Path) -> None:
    rest = "".join(entry(n, f"T{n}", more="Characters: Kael\n") for n in range(2, 10))
    text = "# B\n\n" + entry(1, "A", more="Characters: Mira\n") + rest
    text += entry(10, "Back", more="Characters: Mira\n")
    found = analyse(outline_of(tmp_path, text))["findings"]
    absences = [each for each in found if each["type"] == "long_absence"]
    assert [each["message"].split()[0] for each in absences] == ["Mira"]
    assert len(absences[0]["quotes"]) == 2
    assert "no_stakes" not in [each["type"] for each in found]
    bare = text.replace(
        "### Scene 10: Back\n\nPOV: Kael\nStakes: all\n", "### Scene 10: Back\n\nPOV: Kael\n"
    )
    assert "no_stakes" in types(analyse(outline_of(tmp_path, bare)))
