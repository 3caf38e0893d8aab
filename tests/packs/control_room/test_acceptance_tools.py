"""The eight tools from the command line, on the planted fortress and on the clean one."""

import json
from pathlib import Path
from typing import Any

import pytest
from control_room_stage import Theatre

from callboard.cli.main import main

SCENE = "Story/Scenes/SCN-0{}-{}.md"
ASHES = SCENE.format(3, "ashes")
BREACH = SCENE.format(2, "the-breach")
ALL = [SCENE.format(1, "the-gate"), BREACH, ASHES, SCENE.format(4, "the-long-night")]

RUNS: dict[str, dict[str, Any]] = {
    "file_locator": {"search_criteria": "Kael"},
    "outline_analyzer": {},
    "canon_checker": {"scene_path": ASHES},
    "consistency_checker": {"file_paths": ALL},
    "prose_analyzer": {"scene_path": BREACH},
    "stakes_mapper": {},
    "reader_experience_simulator": {},
    "scene_draft_validator": {"scene_path": BREACH},
}


@pytest.fixture
def use(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(theatre: Theatre, tool: str, **args: Any) -> dict[str, Any]:
        words = ["tool", "run", tool, "--project", str(theatre.root), "--json"]
        for name, value in (args or RUNS[tool]).items():
            shown = value if isinstance(value, str) else json.dumps(value)
            words += ["--arg", f"{name}={shown}"]
        capsys.readouterr()
        assert main(words) == 0, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    return run


def quotes_in(value: Any) -> list[dict[str, Any]]:
    """Return every quote anywhere in a payload."""
    if isinstance(value, list):
        return [quote for each in value for quote in quotes_in(each)]
    if not isinstance(value, dict):
        return []
    own = [value] if {"path", "line_start", "line_end", "text"} <= value.keys() else []
    return own + [quote for each in value.values() for quote in quotes_in(each)]


def require_verbatim(root: Path, payload: Any) -> int:
    quotes = quotes_in(payload)
    for quote in quotes:
        lines = (root / quote["path"]).read_text().splitlines()
        there = "\n".join(lines[quote["line_start"] - 1 : quote["line_end"]])
        assert quote["text"] in there, quote
    return len(quotes)


@pytest.mark.req("CR-46", "CR-49", "CR-52")
def test_scenario_2_tools_on_a_real_folder(theatre: Theatre, use: Any) -> None:
    found = {tool: use(theatre, tool) for tool in RUNS}
    payload = {tool: ran["payload"] for tool, ran in found.items()}

    assert "scenes" in found["file_locator"]["preview"]
    assert "canon card" in found["file_locator"]["preview"]
    told = " ".join(each["message"] for each in payload["outline_analyzer"]["findings"])
    assert "7" in told and "no beats" in told
    conflict = payload["canon_checker"]["conflicts"][0]
    assert {quote["path"] for quote in quotes_in(conflict)} == {
        ASHES,
        "Compendium/Characters/CHAR-Kael.md",
    }
    assert "Miraa" in json.dumps(payload["canon_checker"]["name_variants"])
    types = {each["type"] for each in payload["consistency_checker"]["findings"]}
    assert {"Character", "Timeline"} <= types
    assert any("Mira" in each["message"] for each in payload["consistency_checker"]["findings"])
    long = [q["text"] for q in quotes_in(payload["prose_analyzer"]["findings"])]
    assert any(len(text.split()) == 60 for text in long)
    assert len(payload["stakes_mapper"]["scenes"]) == 4
    read = json.dumps(payload["reader_experience_simulator"]["findings"])
    assert "brass key" in read
    assert payload["scene_draft_validator"]["recommendation"] == "REVISE"

    assert sum(require_verbatim(theatre.root, each) for each in payload.values()) > 20
    for tool, ran in found.items():
        again = use(theatre, tool)
        assert again["receipt"]["payload_sha256"] == ran["receipt"]["payload_sha256"], tool


@pytest.mark.req("CR-61", "CR-64", "CR-68")
def test_scenario_3_clean_project_stays_clean(clean_theatre: Theatre, use: Any) -> None:
    for path in ALL:
        assert use(clean_theatre, "canon_checker", scene_path=path)["payload"]["conflicts"] == []
    ashes = use(clean_theatre, "canon_checker", scene_path=ASHES)["payload"]
    assert ashes["status"] == "CONSISTENT"
    checked = use(clean_theatre, "consistency_checker")["payload"]
    assert checked["findings"] == []

    scene = clean_theatre.root / ASHES
    scene.write_text(
        scene.read_text()
        + "\nBy the fire his eyes were like green glass. Mira almost died on those stairs, he"
        " thought. Kael wore a scar on his chin.\n"
    )
    after = use(clean_theatre, "canon_checker", scene_path=ASHES)["payload"]
    assert after["conflicts"] == []
    assert use(clean_theatre, "consistency_checker")["payload"]["findings"] == []


@pytest.mark.req("CR-36", "CR-47", "CR-48")
def test_a_tool_says_what_is_wrong_with_its_arguments(
    theatre: Theatre, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["tool", "run", "canon_checker", "--project", str(theatre.root), "--json"]
    assert main([*words, "--arg", "scene_path=Story/Scenes/SCN-09-nothing.md"]) == 0
    capsys.readouterr()
    wrong = ["tool", "run", "prose_analyzer", "--project", str(theatre.root), "--json"]
    assert main([*wrong, "--arg", "scene_path=Story/Scenes/SCN-02-the-breech.md"]) != 0
    error = json.loads(capsys.readouterr().out or "{}") or {}
    assert "SCN-02-the-breach.md" in json.dumps(error)
    assert main([*wrong, "--arg", "scene=x"]) != 0
    assert main([*wrong, "--arg", "scene_path=../outside.md"]) != 0
