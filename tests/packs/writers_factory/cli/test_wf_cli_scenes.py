"""Voice, plan and scenes at the command line, up to the accepted scene."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from wf_cli_book import SCENE, VERBS, Book, staff_lines

from callboard.cli import exits


@pytest.mark.req("WF-G85")
def test_a_voice_is_heard_blind_chosen_bundled_and_locked(book: Book) -> None:
    assert "tournament --prompt" in book("voices", code=exits.NOT_FOUND).err
    early = book("tournament", "--prompt", "Ines waits.", code=exits.CONFLICT).err
    assert "belongs to VOICE_CALIBRATION" in early and "missing fatal_flaw" in early
    book.insist("VOICE_CALIBRATION")
    assert "test_prompt" in book("tournament", code=exits.USAGE).err
    words = ("--prompt", "Ines waits.", "--strategies", "ACTION,BALANCED")
    blind = book("tournament", *words)
    assert "== A" in blind.out and "== B" in blind.out
    assert "BALANCED" not in blind.out and "staff.json" not in blind.out
    (hidden, _) = book("voices", "--json").json["tournament"]["variants"]
    assert "agent" not in hidden and hidden["label"] == "A"
    assert "BALANCED" in book("voices", "--reveal").out
    assert "choose" in book("bundle", code=exits.CONFLICT).err
    assert "Labels: A, B" in book("winner", "z", code=exits.NOT_FOUND).err
    assert "--strategy" in book("winner", code=exits.USAGE).err
    chosen = book("winner", "a", "--notes", "Dry.", "--json").json["tournament"]
    assert chosen["winner"].startswith("script:staff.json:") and chosen["notes"] == "Dry."
    assert "without the voice bundle" in book("lock", code=exits.CONFLICT).err
    made = book("bundle", "--json").result
    assert all((book.root / name).is_file() for name in made["files"])
    assert book("lock", "--json").json["voice"]["locked"] is True
    assert "locked" in book("winner", "b", code=exits.CONFLICT).err
    remade = book("bundle", "--confirmed")
    assert "content/Archive/Voice Bundle/v1" in remade.err
    assert book("voices", "--status", "--json").json["voice"]["locked"] is False
    assert len(book("voices", "--all", "--json").json["tournaments"]) == 1


@pytest.mark.req("WF-G85")
def test_an_outline_is_proposed_and_taken_or_replaced_by_ones_own(book: Book) -> None:
    assert "belongs to DIRECTOR" in book("outline", "--propose", code=exits.CONFLICT).err
    book.insist("DIRECTOR")
    assert "beat sheet" in book("outline", "--propose", code=exits.FAILED).err
    assert "No outline was proposed" in book("outline", "--approve", code=exits.CONFLICT).err
    book.lay_foundation()
    scenes = [
        {"title": f"Turn {n}", "beat_number": n, "summary": "She acts.", "word_target": 90}
        for n in range(1, len(VERBS) + 1)
    ]
    book.script({"prompt_type": "plan_scenes", "times": "always", "json": {"scenes": scenes}})
    proposed = book("outline", "--propose")
    assert "Turn 15" in proposed.out and "outline --approve" in proposed.err
    assert book("outline", "--json").json["outline"] == []
    assert "15 scenes" in book("outline", "--approve").out
    own = [{"chapter": 1, "scene": 1, "title": "Only one", "beat_number": 1}]
    (book.root / "own.yaml").write_text(json.dumps({"scenes": own}))
    assert "one with 15 scenes" in book("outline", "--from", "own.yaml").err
    assert [s["title"] for s in book("outline", "--json").json["outline"]] == ["Only one"]
    assert "proposed and approved" in book("outline", "--versions").out
    kept = book("outline", "--versions", "--json").json["versions"]
    assert [(each["number"], len(each["scenes"])) for each in kept] == [(1, 15), (2, 1)]
    assert "Turn 15" in book("outline", "--version", "1").out
    (book.root / "back.json").write_text(book("outline", "--version", "1", "--json").out)
    back = book("outline", "--from", "back.json", "--json").json
    assert (len(back["outline"]), back["kept_as"]) == (15, 2)
    assert "outline --restore 3" in book("outline", "--restore", "2").err
    assert [s["title"] for s in book("outline", "--json").json["outline"]] == ["Only one"]
    assert "Outlines: 1, 2, 3, 4" in book("outline", "--restore", "9", code=exits.NOT_FOUND).err
    (book.root / "own.yaml").write_text(json.dumps([{**own[0], "beat_number": 99}]))
    wrong = book("outline", "--from", "own.yaml", "--json", code=exits.USAGE).json["error"]
    assert "there is no beat 99" in wrong["message"]
    assert book("outline", "--from", "nowhere.yaml", code=exits.NOT_FOUND).err
    assert book("outline", "--approve", "--propose", code=exits.USAGE).err


@pytest.mark.req("WF-G85")
def test_a_scene_is_briefed_by_the_writers_word(drafted: Book) -> None:
    shown = ("scaffold", "1", "2", "--show")
    assert "Leave --show out" in drafted(*shown, code=exits.NOT_FOUND).err
    brief = drafted("scaffold", "1", "2")
    assert "location: Harbour office" in brief.out and "approve ch1-sc2" in brief.err
    assert "waits for the writer's approval" in drafted("write", "ch1-sc2", code=exits.FAILED).err
    changed = ("--set", "weather=fog", "--set", "characters_present=Ines; Background: clerks")
    approved = drafted("approve", "ch1-sc2", *changed, "--json").json["scaffold"]
    assert (approved["weather"], approved["is_approved"]) == ("fog", True)
    assert approved["characters_present"] == ["Ines", "Background: clerks"]
    assert drafted(*shown, "--json").json["scaffold"] == approved
    again = drafted("scaffold", "1", "2", "--json").result
    assert (again["weather"], again["is_approved"]) == ("rain", False)
    before = drafted("scaffold", "1", "2", "--version", "2", "--json").json["scaffold"]
    assert before == approved
    back = drafted("approve", "ch1-sc2", "--version", "2", "--json").json["scaffold"]
    assert (back["weather"], back["version"]) == ("fog", 4)
    assert "no version 9" in drafted("approve", "ch1-sc2", "--version", "9", code=4).err
    unknown = drafted("approve", "ch1-sc2", "--set", "mood=x", code=exits.USAGE)
    assert "emotional_note" in unknown.err


@pytest.mark.req("WF-G85")
def test_a_scene_goes_from_variants_to_acceptance(drafted: Book) -> None:
    written = drafted("write", "ch1-sc1", "--strategies", "action")
    assert "== ch1-sc1:ACTION_EMPHASIS:2" in written.out and SCENE.split("\n")[0] in written.out
    assert len(drafted("variants", "ch1-sc1", "--json").json["variants"]) == 2
    joined = drafted("hybrid", "ch1-sc1", "--part", "ch1-sc1:BALANCED:1#1-2", "--json").result
    assert joined["provenance"] == ["ch1-sc1:BALANCED:1#1", "ch1-sc1:BALANCED:1#2"]
    assert "ch1-sc1" in drafted("variants", "ch9-sc9", code=exits.NOT_FOUND).err
    selected = drafted("select", "ch1-sc1", "hybrid")
    assert "callboard factory undo ch1-sc1 --version 1" in selected.err
    back = drafted("undo", "ch1-sc1", "--version", "1", "--json").json["version"]
    assert (back["number"], back["reason"]) == (3, "version 1 restored")
    accepted = drafted("accept", "ch1-sc1", "--variant", "balanced")
    assert "ch1-sc1 is drafted" in accepted.out and "scaffold 1 2" in accepted.err
    (scene, _) = drafted("outline", "--json").json["scenes"]
    assert scene["status"] == "drafted"
    file = drafted.root / "content/Manuscript/Chapter_01/Scene_01.md"
    assert file.read_text().endswith(f"{SCENE}\n")


def test_the_health_of_a_complete_chapter_is_seen_to_its_end(drafted: Book) -> None:
    one = [{"chapter": 1, "scene": 1, "title": "Vote", "beat_number": 1, "word_target": 50}]
    (drafted.root / "one.json").write_text(json.dumps(one))
    drafted("outline", "--from", "one.json")
    accepted = drafted("accept", "ch1-sc1")
    assert "Health of manuscript" in accepted.err
    runs = drafted.call("runs", "list", "--json").json["runs"]
    looked = [each for each in runs if each["choreography"] == "writers_factory/health"]
    assert [each["state"] for each in looked] == ["done"]


def test_a_phantom_scene_is_refused_and_an_old_one_dropped(drafted: Book) -> None:
    refused = drafted("scaffold", "9", "9", code=exits.FAILED).err
    assert "no scene ch9-sc9" in refused and "outline --from" in refused
    drafted("scaffold", "1", "3", "--title", "Aftermath")
    assert "Removed: ch1-sc3" in drafted("scaffold", "1", "3", "--drop").out
    scenes = drafted("outline", "--json").json["scenes"]
    assert [each["scene_id"] for each in scenes] == ["ch1-sc1", "ch1-sc2"]
    assert "has a text" in drafted("scaffold", "1", "1", "--drop", code=exits.CONFLICT).err


def test_an_outline_has_the_length_one_asks_for(book: Book) -> None:
    book.insist("DIRECTOR")
    book.lay_foundation()
    book.script({"prompt_type": "plan_scenes", "times": "always", "text": "no"})
    book("outline", "--propose", "--scenes", "20", "--chapters", "5")
    proposed = book("outline", "--json").json["proposal"]["scenes"]
    assert len(proposed) == 20 and proposed[-1]["chapter"] == 5
    assert "cannot hold 15 beats" in book("outline", "--propose", "--scenes", "3", code=1).err
    book("outline", "--scenes", "20", code=exits.USAGE)


@pytest.mark.req("WF-G85")
def test_ctrl_c_lets_go_of_a_tournament_that_goes_on_later(book: Book) -> None:
    hanging = {"prompt_type": "tournament_passage", "hang": True, "times": "always"}
    replies = {"replies": [hanging, *staff_lines()]}
    (book.root / "staff.json").write_text(json.dumps(replies))
    book.insist("VOICE_CALIBRATION")
    script = Path(sys.executable).with_name("callboard")
    words = ["factory", "tournament", "--prompt", "Ines waits.", "--strategies", "action,balanced"]
    with subprocess.Popen(
        [str(script), *words, "--json"], cwd=book.root, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line).get("type") == "step.done":
                break
        process.send_signal(signal.SIGINT)
        last = process.stdout.read().splitlines()[-1]
    assert process.returncode == exits.INTERRUPTED
    book.script()
    run_id = json.loads(last)["run"]["id"]
    resumed = book.call("runs", "resume", run_id, "--json")
    assert resumed.code == exits.OK, resumed.err
    assert resumed.result["usable"] == 2
