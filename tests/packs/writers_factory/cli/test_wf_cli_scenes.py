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


def test_a_text_that_contradicts_a_card_is_accepted_by_force_only(drafted: Book) -> None:
    card = drafted.root / "content/Characters/Ines.md"
    card.write_text(f"# Ines\n\nEyes: brown\n\n{card.read_text() if card.exists() else ''}")
    drafted.script(
        {
            "prompt_type": "scene_variant",
            "times": "always",
            "text": f'<content_update target="ch1-sc1">\nInes’s eyes were green.\n\n{SCENE}\n'
            "</content_update>",
        }
    )
    drafted("write", "ch1-sc1", "--strategies", "action")
    drafted("select", "ch1-sc1", "action_emphasis")
    refused = drafted("accept", "ch1-sc1", code=exits.FAILED)
    assert "green" in refused.err and "--force" in refused.err
    file = drafted.root / "content/Manuscript/Chapter_01/Scene_01.md"
    assert "status: selected" in file.read_text()
    forced = drafted("accept", "ch1-sc1", "--force")
    assert "is drafted" in forced.out and "accepted by force against" in forced.err
    (*_, last) = drafted("versions", "ch1-sc1", "--json").json["versions"]
    assert "green" in last["against"][0]
    words = ("--old", "were green", "--new", "were grey", "--reason", "a wish")
    assert "grey" in drafted("edit", "ch1-sc1", *words, code=exits.CONFLICT).err
    drafted("edit", "ch1-sc1", *words, "--force")


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


PLANS = {
    "agent": "foreman",
    "times": "always",
    "text": '<message>I propose scenes. What else?</message><action type="plan_scenes"></action>',
}


def runs_of(book: Book, choreography: str) -> list[dict[str, str]]:
    runs = book.call("runs", "list", "--json").json["runs"]
    return [each for each in runs if each["choreography"] == f"writers_factory/{choreography}"]


def test_one_message_waits_for_the_work_it_starts(book: Book) -> None:
    book.insist("DIRECTOR")
    book.lay_foundation()
    book.script({"prompt_type": "plan_scenes", "times": "always", "text": "no"}, PLANS)
    book("chat", "-m", "Plan the scenes.")
    (run,) = runs_of(book, "plan_scenes")
    assert run["state"] == "done"
    assert len(book("outline", "--json").json["proposal"]["scenes"]) == 15


def test_ctrl_c_leaves_the_work_of_a_message_to_be_resumed(book: Book) -> None:
    book.insist("DIRECTOR")
    book.lay_foundation()
    book.script({"prompt_type": "plan_scenes", "hang": True, "times": "always"}, PLANS)
    script = Path(sys.executable).with_name("callboard")
    words = [str(script), "factory", "chat", "-m", "Plan the scenes."]
    with subprocess.Popen(words, cwd=book.root, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "goes on as run" in line:
                break
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == exits.INTERRUPTED
    (run,) = runs_of(book, "plan_scenes")
    assert f"callboard runs resume {run['id']}" in rest
    book.script({"prompt_type": "plan_scenes", "times": "always", "text": "no"})
    assert book.call("runs", "resume", run["id"]).code == exits.OK
    assert runs_of(book, "plan_scenes")[0]["state"] == "done"


def test_a_turn_that_was_killed_does_not_shut_the_next_one_out(book: Book) -> None:
    book.script({"agent": "foreman", "hang": True, "times": "always"})
    script = Path(sys.executable).with_name("callboard")
    words = [str(script), "factory", "chat", "-m", "Salt is money.", "--json"]
    with subprocess.Popen(words, cwd=book.root, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line).get("type") == "step.done":
                break
        process.kill()
    book.script({"agent": "foreman", "times": "always", "text": "<message>Which debt?</message>"})
    said = book("chat", "-m", "And pepper?")
    assert said.out == "Which debt?\n"
    assert "“Salt is money.” was interrupted" in said.err
    later, first = runs_of(book, "chat")
    assert (later["state"], first["state"]) == ("done", "failed")
    # It is told once.
    assert "interrupted" not in book("chat", "-m", "And sugar?").err
    assert book.call("runs", "retry", first["id"]).code == exits.OK
