"""`callboard quest`: from somebody's Twine story to its first gatecheck and its files."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from callboard.cli import exits
from callboard.studio.project import Project
from warm_process import call_warm

STORY = """:: StoryTitle
The Ford

:: StoryData
{"ifid": "0F5F6A4E-7C0E-4C3B-9C59-3D0F4E1B7A11", "format": "SugarCube", "start": "Bank"}

:: Bank
You stand at the ford. The water is low.

[[Wade through the water->Far side]]
[[Turn back to the road->Road]]

:: Far side
You climb out on the other side, wet and glad.

:: Road
You walk home along the road, dry and late.
"""
BROKEN = STORY.replace("->Road]]", "->Nowhere at all]]")


@pytest.fixture
def book(tmp_path: Path) -> Path:
    Project.init(tmp_path / "book", pack="questfoundry")
    return tmp_path / "book"


def quest(cwd: Path, *words: str, code: int = 0) -> Any:
    """Call a command for a program and return what it printed."""
    called = call_warm("quest", *words, "--json", cwd=cwd)
    assert called.returncode == code, (called.stdout, called.stderr)
    return json.loads(called.stdout) if called.stdout.strip() else None


@pytest.mark.req("QF-147")
def test_from_a_twine_story_to_its_first_gatecheck(book: Path) -> None:
    (book / "ford.twee").write_text(STORY, "utf-8")
    assert quest(book, "init", "The Ford")["ifid"]
    brought = quest(book, "import", "ford.twee")
    assert brought["sections"] == 3 and len(brought["added"]) == 3
    gate = quest(book, "gate", "--code")
    assert gate["decision"] in ("pass", "conditional_pass") and gate["snapshot"]
    made = quest(book, "bind", "--code", "--format", "html", "--format", "twee-sugarcube")
    assert {Path(row["path"]).name for row in made["files"]} == {
        "book.html",
        "book.sugarcube.twee",
    }
    assert all((book / row["path"]).is_file() for row in made["files"])
    played = quest(book, "play")
    assert played["text"].startswith("You stand at the ford") and len(played["choices"]) == 2
    ended = quest(book, "play", "--choose", played["choices"][0])
    assert ended["is_end"]
    # The export comes back unchanged as a unit without a difference.
    again = quest(book, "import", next(r["path"] for r in made["files"] if "twee" in r["path"]))
    assert (again["added"], again["changed"], again["removed"]) == ([], {}, [])


@pytest.mark.req("QF-147")
def test_a_dead_link_is_a_block_with_exit_code_four(book: Path) -> None:
    (book / "ford.twee").write_text(BROKEN, "utf-8")
    unit = quest(book, "import", "ford.twee")["tu_id"]
    gate = quest(book, "gate", unit, "--code", code=4)
    assert gate["decision"] == "block" and gate["snapshot"] is None
    assert any(row["check"] == "dead_link" for row in gate["findings"])
    shown = quest(book, "tu", "show", unit)
    assert shown["status"] == "stabilizing" and shown["ready_for_gate"] is False
    quest(book, "tu", "defer", unit, "--reason", "later", "--revisit", "in spring")
    assert quest(book, "tu", "reject", unit, "--reason", "never")["status"] == "rejected"
    quest(book, "tu", "defer", unit, "--reason", "x", "--revisit", "y", code=5)


@pytest.mark.req("QF-147")
def test_what_there_is_can_be_looked_at(book: Path) -> None:
    assert len(quest(book, "loops")["loops"]) == 13
    lines = call_warm("quest", "loops", "--yaml", cwd=book).stdout.splitlines()
    assert len(lines) == 91
    assert len(quest(book, "loop", "show", "final_review")["steps"]) == 7
    assert quest(book, "prompts", "check") == {"missing": []}
    for words in (("tu", "list"), ("hooks", "list"), ("artifacts",), ("snapshots",)):
        assert quest(book, *words) is not None
    assert "Unknown loop" in call_warm("quest", "run", "story_spork", cwd=book).stderr
    quest(book, "tu", "show", "TU-0", code=4)


def test_an_adapter_fits_on_a_page_and_every_role_has_two_prompts() -> None:
    from callboard.packs.questfoundry import roster

    folder = Path(roster.__file__).parent / "prompts"
    for role in roster.ROSTER:
        adapter = (folder / "adapters" / f"{role.id}.md").read_text("utf-8")
        full = (folder / "roles" / f"{role.id}.md").read_text("utf-8")
        assert len(adapter.splitlines()) <= 200 and len(full) > len(adapter)


@pytest.mark.req("QF-147")
@pytest.mark.parametrize(
    ("typed", "told", "is_over"),
    [
        ("1\n", "wet and glad", True),
        ("7\nx\n2\n", "dry and late", True),
        ("/quit\n1\n", "You stand at the ford", False),
        ("", "You stand at the ford", False),
    ],
)
def test_a_book_is_played_by_what_is_typed_until_its_end_or_until_one_leaves(
    book: Path, typed: str, told: str, is_over: bool
) -> None:
    (book / "ford.twee").write_text(STORY, "utf-8")
    quest(book, "init", "The Ford")
    quest(book, "import", "ford.twee")
    quest(book, "gate", "--code")
    played = call_warm("quest", "play", cwd=book, stdin=typed)
    assert played.returncode == 0, played.stderr
    assert told in played.stdout and ("The end." in played.stdout) is is_over


def said(cwd: Path, *words: str, code: int = 0) -> str:
    """Call a command for a person and return all that it said."""
    called = call_warm("quest", *words, cwd=cwd)
    assert called.returncode == code, (called.stdout, called.stderr)
    return called.stdout + called.stderr


def test_a_story_keeps_its_name_and_number_whatever_was_tried_before(book: Path) -> None:
    (book / "ford.twee").write_text(STORY, "utf-8")
    quest(book, "gate", "--code", code=5)  # Begins the book, undescribed.
    quest(book, "import", "ford.twee")
    told = quest(book, "describe")
    assert (told["title"], told["ifid"]) == ("The Ford", "0F5F6A4E-7C0E-4C3B-9C59-3D0F4E1B7A11")
    assert told["pov"] == "", "a story keeps its manner"
    gate = quest(book, "gate", "--code")
    (style,) = [row for row in gate["bars"] if row["bar"] == "style"]
    assert style["evidence"] == "length of labels; no style is promised"
    (made,) = quest(book, "bind", "--code", "--format", "twee-sugarcube")["files"]
    assert told["ifid"] in (book / made["path"]).read_text("utf-8")


def test_a_story_that_nobody_changed_goes_back_as_it_came(book: Path) -> None:
    told = STORY.replace("The water is low.", "The  water is ''low'', [[wade|Far side]].\t")
    data = told.replace("\n", "\r\n").encode()
    (book / "ford.twee").write_bytes(data)
    quest(book, "import", "ford.twee")
    quest(book, "gate", "--code")
    made = quest(book, "bind", "--code", "--format", "twee", "--format", "twine")["files"]
    twee, page = (book / each["path"] for each in made)
    assert twee.read_bytes() == data
    assert 'startnode="1"' in page.read_text("utf-8")
    again = quest(book, "import", str(page))
    assert (again["added"], again["changed"], again["removed"]) == ([], {}, [])


def test_an_ink_file_of_words_alone_is_known_by_its_name(book: Path) -> None:
    (book / "hello.ink").write_text("Hello, world!\n", "utf-8")
    assert quest(book, "import", "hello.ink")["sections"] == 1
    quest(book, "gate", "--code")


def test_a_described_book_keeps_its_title_and_takes_the_number_of_its_first_story(
    book: Path,
) -> None:
    (book / "ford.twee").write_text(STORY, "utf-8")
    quest(book, "init", "My Ford")
    quest(book, "import", "ford.twee")
    quest(book, "gate", "--code")
    told = quest(book, "describe")
    assert (told["title"], told["ifid"]) == ("My Ford", "0F5F6A4E-7C0E-4C3B-9C59-3D0F4E1B7A11")
    # So the file, edited in Twine, is known again.
    (book / "ford.twee").write_text(STORY.replace("dry and late", "dry"), "utf-8")
    again = quest(book, "import", "ford.twee")
    assert list(again["changed"]) == ["road"] and not again["notes"]
    quest(book, "gate", "--code")
    first, last = (each["id"] for each in quest(book, "snapshots")["snapshots"][-2:])
    assert quest(book, "snapshots")["tip"] == last
    assert f"goes on from {first}" in said(book, "snapshots", "--select", first)
    assert quest(book, "snapshots")["tip"] == first


def test_a_book_is_described_once_by_init_and_then_by_describe(book: Path) -> None:
    quest(book, "gate", "--code", code=5)
    first = quest(book, "init", "The Lamp", "--tone", "spare")
    assert first["title"] == "The Lamp"
    guide = quest(book, "artifacts", "--show", "style_guide.v2")
    assert guide["register"] == "spare"
    assert quest(book, "init", "The Lamp", "--tone", "spare") == first
    assert "describe --title" in said(book, "init", "Another", code=5)
    changed = quest(book, "describe", "--title", "Another", "--author", "Ada")
    assert (changed["title"], changed["author"], changed["tone"]) == ("Another", "Ada", "spare")
    assert changed["ifid"] == first["ifid"]
    assert "title: Another" in said(book, "describe")


def test_an_import_says_what_it_changes_and_lists_what_it_kept(book: Path) -> None:
    counted = STORY.replace("The water is low.", "<<set $gold += 1>> The water is low.")
    (book / "ford.twee").write_text(counted, "utf-8")
    told = said(book, "import", "ford.twee")
    assert "3 sections" in told and "new: bank, far-side, road" in told
    assert "bank: <<set $gold += 1>>" in told and "Next: callboard quest gate --code TU-" in told
    said(book, "gate", "--code")
    (book / "other.twee").write_text(STORY.replace("0F5F6A4E", "1F5F6A4E"), "utf-8")
    assert "This is another story than 'The Ford'" in said(book, "import", "other.twee")


def test_an_import_without_a_title_or_a_start_says_what_it_takes_for_them(book: Path) -> None:
    (book / "walk.twee").write_text(":: Gate\nA gate. [[Home]]\n\n:: Home\nHome.\n", "utf-8")
    assert "taken to be 'Gate'" in said(book, "import", "walk.twee")
    assert quest(book, "describe")["title"] == "walk"
    (book / "start.twee").write_text(":: Home\nHome.\n\n:: Start\nA gate. [[Home]]\n", "utf-8")
    notes = quest(book, "import", "start.twee")["notes"]
    assert [each.partition(":")[0] for each in notes] == [
        "Links within sentences",
        "The names of passages are the headings that readers see",
    ]


def test_a_gatecheck_names_the_place_and_the_fix_of_each_finding(book: Path) -> None:
    broken = BROKEN.replace("->Far side]]", "->Nobody]]")
    (book / "ford.twee").write_text(broken, "utf-8")
    unit = quest(book, "import", "ford.twee")["tu_id"]
    told = said(book, "gate", "--code", code=4)
    for place, goal in (("bank/bank.1", "Nobody"), ("bank/bank.2", "Nowhere at all")):
        (line,) = [each for each in told.splitlines() if f"red {place}: " in each]
        assert goal in line and "(plotwright)" in line and "Let the choice lead" in line
    assert f"Sent back: {unit}" in told
    again = said(book, "gate", "--code", code=5)
    assert unit in again and "import it again" in again
    assert "is an import (ford.twee)" in said(book, "resume", unit, code=5)
    gate = quest(book, "gate", unit, "--code", code=4)["tu_id"]
    assert "red bank/bank.1: " in said(book, "tu", "show", gate)


def test_a_book_without_a_section_says_so_when_it_is_played_or_bound(book: Path) -> None:
    quest(book, "init", "The Ford")
    for words in (("play",), ("bind", "--code")):
        told = said(book, *words, code=5)
        assert "The book has no section yet" in told and "callboard quest import" in told


def test_choices_are_taken_by_the_numbers_a_reader_sees(book: Path) -> None:
    (book / "ford.twee").write_text(STORY, "utf-8")
    quest(book, "import", "ford.twee")
    quest(book, "gate", "--code")
    first = quest(book, "play")
    assert first["title"] == "Bank"
    assert [(each["number"], each["label"]) for each in first["offers"]] == [
        (1, "Wade through the water"),
        (2, "Turn back to the road"),
    ]
    ended = quest(book, "play", "--choose", "2")
    assert ended["section"] == "road" and ended["way"][0]["choice"] == first["choices"][1]
    quest(book, "play", "--choose", "3", code=1)


def test_bound_files_are_for_others_to_read_and_leave_nothing_beside_them(book: Path) -> None:
    (book / "ford.twee").write_text(STORY, "utf-8")
    quest(book, "import", "ford.twee")
    quest(book, "gate", "--code")
    for row in quest(book, "bind", "--code")["files"]:
        assert (book / row["path"]).stat().st_mode == (book / "ford.twee").stat().st_mode
    assert {each.name for each in book.iterdir()} == {".callboard", "exports", "ford.twee"}


LOCKED = """:: StoryData
{"ifid": "0F5F6A4E-7C0E-4C3B-9C59-3D0F4E1B7A12", "format": "SugarCube", "start": "Yard"}

:: Yard
You stand in a yard.

[[Look under the stone->Stone]]
<<if $has_key>>[[Unlock the gate->Lane]]<</if>>
[[Wait until night->Night]]

:: Stone
<<set $has_key to true>>
A key lies there, and you take it.

[[Go back to the yard->Yard]]

:: Lane
You are out.

:: Night
Night falls.

:: Loft
Nobody comes up here.
"""


def test_a_section_tells_what_its_ways_ask_for_and_how_one_comes_to_it(book: Path) -> None:
    (book / "yard.twee").write_text(LOCKED, "utf-8")
    unit = quest(book, "import", "yard.twee")["tu_id"]
    assert [each["id"] for each in quest(book, "sections", "--ends", "--tu", unit)["sections"]] == [
        "lane",
        "night",
        "loft",
    ]
    lane = quest(book, "sections", "lane", "--tu", unit)
    assert [(each["from"], each["asks_for"]) for each in lane["in"]] == [("yard", ["has_key"])]
    assert [each["label"] for each in lane["playthrough"]] == [
        "Look under the stone",
        "Go back to the yard",
        "Unlock the gate",
    ]
    told = said(book, "sections", "stone", "--tu", unit)
    assert "gives has_key" in told and "out  “Go back to the yard” -> yard" in told
    assert "No playthrough comes here" in said(book, "sections", "loft", "--tu", unit)
    assert "Did you mean lane?" in said(book, "sections", "Lane", "--tu", unit, code=4)


def test_an_archive_by_code_opens_as_the_same_book_elsewhere(book: Path, tmp_path: Path) -> None:
    (book / "ford.twee").write_text(STORY, "utf-8")
    quest(book, "import", "ford.twee")
    quest(book, "gate", "--code")
    made = quest(book, "archive", "--code", "--label", "first")
    assert made["mismatches"] == [] and "-first-" in made["path"]
    quest(tmp_path, "restore", str(book / made["path"]), "other")
    assert quest(tmp_path / "other", "play") == quest(book, "play")
    quest(book, "archive", "--code", "--label", "../up", code=2)


def test_a_passage_may_be_called_what_its_id_is_and_code_that_readers_see_is_named(
    book: Path,
) -> None:
    story = STORY.replace("Far side", "room2").replace(
        "low.", "low. You have <<print $gold>> coins."
    )
    (book / "ford.twee").write_text(story, "utf-8")
    quest(book, "import", "ford.twee")
    gate = quest(book, "gate", "--code")
    told = [(each["check"], each["place"], each["status"]) for each in gate["findings"]]
    assert ("code_shown", "bank", "yellow") in told
    assert "id_shown" not in {check for check, _, _ in told}


def test_an_archive_of_stories_brings_the_first_and_names_the_others_and_no_player(
    book: Path,
) -> None:
    page = """<html><body>
<tw-storydata name="One" startnode="1" ifid="0F5F6A4E-7C0E-4C3B-9C59-3D0F4E1B7A11"
 format="SugarCube">
<script role="script" id="twine-user-script" type="text/twine-javascript">mine()</script>
<tw-passagedata pid="1" name="A">Go. [[B]]</tw-passagedata>
<tw-passagedata pid="2" name="B">The &lt;b&gt;last&lt;/b&gt; words.</tw-passagedata>
</tw-storydata>
<tw-storydata name="Two" startnode="1">
<tw-passagedata pid="1" name="C">C.</tw-passagedata></tw-storydata>
<script>window.player = 1</script></body></html>"""
    (book / "two.html").write_text(page, "utf-8")
    told = quest(book, "import", "two.html")
    assert told["sections"] == 2
    assert any("not taken: 'Two'" in each for each in told["notes"])
    kept = [each["text"] for each in told["kept"]]
    assert "mine()" in " ".join(kept) and "player" not in " ".join(kept)
    gate = quest(book, "gate", "--code")
    assert gate["decision"] == "conditional_pass", "a look is no way on: the last section is an end"
    assert [each["check"] for each in gate["findings"] if each["place"] == "b"] == [
        "code_shown",
        "code_shown",
    ]


def test_a_red_finding_is_waived_by_the_unit_that_was_judged(book: Path) -> None:
    banned = STORY.replace("You walk home", "Go see HK-20260101-01. You walk home")
    (book / "ford.twee").write_text(banned, "utf-8")
    unit = quest(book, "import", "ford.twee")["tu_id"]
    told = said(book, "gate", "--code", code=4)
    assert "callboard quest waive" in told
    finding = ("--bar", "presentation", "--place", "road", "--reason", "it is a joke")
    quest(book, "waive", unit, *finding, "--until", "2999-01-01", "--by", "Ada")
    gate = quest(book, "gate", unit, "--code")
    assert gate["decision"] == "conditional_pass" and gate["snapshot"]


def test_only_a_unit_with_work_is_judged_by_name_and_only_a_role_may_read_canon(
    book: Path,
) -> None:
    (book / "ford.twee").write_text(STORY, "utf-8")
    unit = quest(book, "import", "ford.twee")["tu_id"]
    gate = quest(book, "gate", "--code")["tu_id"]
    (book / "mute.yaml").write_text("default: I have nothing to say.\n", "utf-8")
    words = ("run", "story_spark", "--policy", "playbook", "--batch")
    said(book, *words, "--model", "script:mute.yaml", code=1)
    units = quest(book, "tu", "list")["tus"]
    (empty,) = [each["id"] for each in units if each["loop"] == "story_spark"]
    refused = {gate: "gatecheck itself", unit: "is cold_merged", empty: "made nothing"}
    for name, why in refused.items():
        assert why in said(book, "gate", name, "--code", code=5)
    assert "There is no role 'book-binder'" in said(
        book, "canon", "list", "--reader", "book-binder", code=4
    )


def test_copies_of_archives_go_only_where_the_owner_of_a_trusted_folder_says(
    book: Path, tmp_path: Path
) -> None:
    (book / "ford.twee").write_text(STORY, "utf-8")
    quest(book, "import", "ford.twee")
    quest(book, "gate", "--code")
    away = tmp_path / "away"
    away.mkdir()
    own = f"binding: {{formats: [ink]}}\narchive: {{copies: [{away}]}}\n"
    (book / ".callboard" / "questfoundry.yaml").write_text(own, "utf-8")
    made = quest(book, "archive", "--code")
    (copy,) = away.iterdir()
    quest(tmp_path, "restore", str(book / made["path"]), "other")
    copy.unlink()
    assert quest(tmp_path / "other", "archive", "--code")["mismatches"] == []
    assert not list(away.iterdir()), "a restored book sends nothing where its maker's copies went"
    (made,) = quest(tmp_path / "other", "bind", "--code")["files"]
    assert made["path"].endswith(".ink"), "the rest of the settings holds"
    shutil.copytree(book, tmp_path / "clone")
    assert "Ignored: " in said(tmp_path / "clone", "archive", "--code")
    assert not list(away.iterdir())


def test_the_sample_is_begun_by_what_init_says(tmp_path: Path) -> None:
    told = call_warm("init", "bell", "--for", "questfoundry", "--sample", cwd=tmp_path).stdout
    (hint,) = [each.removeprefix("Try: ") for each in told.splitlines() if each.startswith("Try: ")]
    into, *commands = hint.split(" && ")
    assert into == "cd bell", "it is read in the folder init was called in"
    for command in commands:
        called = call_warm(*command.split()[1:], cwd=tmp_path / "bell")
        assert called.returncode == 0, called.stderr
    assert quest(tmp_path / "bell", "describe")["title"] == "The Salt Bell"


def test_a_loop_that_asks_says_how_to_answer(book: Path) -> None:
    (book / "mute.yaml").write_text("default: I have nothing to say.\n", "utf-8")
    words = ("run", "story_spark", "--policy", "playbook", "--model", "script:mute.yaml")
    told = said(book, *words, code=3)
    assert "Answer with: callboard answer qst_" in told and "abort" in told
    lines = call_warm("quest", *words, "--json", cwd=book).stdout.splitlines()
    (asked,) = json.loads(lines[-1])["questions"]
    assert asked["id"].startswith("qst_")


def test_a_loop_that_is_too_much_for_a_small_model_says_so_before_it_asks(book: Path) -> None:
    quest(book, "init", "The Ford")
    called = call_warm("quest", "run", "story_spark", "--model", "local", "--batch", cwd=book)
    told = " ".join((called.stdout + called.stderr).split())
    assert called.returncode != 0 and "nothing was asked" in told and "quest demo" in told
    called = call_warm("quest", "bind", "--model", "local", "--batch", cwd=book)
    told = " ".join((called.stdout + called.stderr).split())
    assert "export_formats" in told or "step_" in told
    assert "bind --code" in told
    assert not (book / "exports").exists()


def test_a_gatecheck_is_over_when_it_has_decided(book: Path) -> None:
    (book / "ford.twee").write_text(BROKEN, "utf-8")
    unit = quest(book, "import", "ford.twee")["tu_id"]
    blocked = quest(book, "gate", "--code", code=4)["tu_id"]
    (book / "ford.twee").write_text(STORY, "utf-8")
    quest(book, "import", "ford.twee")
    merged = quest(book, "gate", "--code")
    rows = {each["id"]: each for each in quest(book, "tu", "list")["tus"]}
    assert rows[blocked]["status"] == "rejected" and unit in rows[blocked]["reason"]
    assert rows[merged["tu_id"]]["status"] == "cold_merged"
    assert rows[merged["tu_id"]]["snapshot"] == merged["snapshot"]
    # What it judged still names it, and a finding of it can still be looked up.
    assert rows[unit]["gatecheck"] == blocked
    assert quest(book, "tu", "show", blocked)["report"]["decision"] == "block"


def test_what_a_loop_lacks_is_told_before_a_unit_is_opened(book: Path) -> None:
    (book / "mute.yaml").write_text("default: I have nothing to say.\n", "utf-8")
    told = said(book, "run", "story_spark", "--batch", "--model", "script:no/such.json", code=4)
    assert "There is no script file no/such.json" in told
    mute = ("--batch", "--policy", "playbook", "--model", "script:mute.yaml")
    told = said(book, "run", "lore_deepening", *mute, code=2)
    assert "canon_intake or triaged_hooks" in told and "Run hook_harvest first" in told
    assert "Run hook_harvest first" in said(book, "chain", "lore_deepening", *mute, code=2)
    for door in ("run", "chain"):
        told = said(book, door, "story_spark", *mute, "--awake", "nobody", code=2)
        assert "There is no role 'nobody'" in told
    assert quest(book, "tu", "list")["tus"] == []


def test_an_empty_book_is_offered_no_binding(book: Path) -> None:
    (book / "mute.yaml").write_text("default: I have nothing to say.\n", "utf-8")
    quest(book, "init", "The Ford")
    told = said(book, "next", "--policy", "playbook", "--model", "script:mute.yaml")
    assert "story_spark" in told and "binding_run" not in told


def test_what_comes_next_is_not_guessed_by_a_small_model(book: Path) -> None:
    quest(book, "init", "The Ford")
    told = said(book, "next", "--model", "local")
    assert "story_spark" in told and "0 agent calls" in told


def test_a_waiver_is_taken_back_once_and_says_why(book: Path) -> None:
    banned = STORY.replace("You walk home", "Go see HK-20260101-01. You walk home")
    (book / "ford.twee").write_text(banned, "utf-8")
    unit = quest(book, "import", "ford.twee")["tu_id"]
    said(book, "gate", "--code", code=4)
    finding = ("--bar", "presentation", "--place", "road", "--reason", "it is a joke")
    quest(book, "waive", unit, *finding, "--until", "2999-01-01", "--by", "Ada")
    (row,) = said(book, "waivers", "list").splitlines()[1:]
    assert "until 2999-01-01" in row and row.endswith("it is a joke")
    quest(book, "waivers", "withdraw", "W-1", "--reason", "not funny")
    (row,) = said(book, "waivers", "list").splitlines()[1:]
    assert "taken back" in row and row.endswith("not funny")
    told = said(book, "waivers", "withdraw", "W-1", "--reason", "again", code=5)
    assert "taken back already: not funny" in told


def test_a_loop_is_told_in_a_line_for_each_step(book: Path) -> None:
    (book / "mute.yaml").write_text("default: I have nothing to say.\n", "utf-8")
    words = ("run", "story_spark", "--policy", "playbook", "--batch", "--model", "script:mute.yaml")
    told = said(book, *words, code=1)
    assert "story_spark works on TU-" in told and "step_1_topology_draft by" in told
    assert "loop." not in told and '{"' not in told
    assert "loop.decision" in said(book, *words, "--verbose", code=1)


# Ctrl-C at a place: when something of the program has just been done.
STOPPED = """
import importlib, os, signal, sys
module, noun, name = sys.argv[1:4]
holder = importlib.import_module(f"callboard.packs.questfoundry.{module}")
holder = getattr(holder, noun) if noun else holder
done = getattr(holder, name)

def stop(*args, **more):
    made = done(*args, **more)
    os.kill(os.getpid(), signal.SIGINT)
    return made

setattr(holder, name, stop)
sys.argv[1:] = ["quest", "gate", "--code"]
from callboard.cli.main import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("place", "is_merged"),
    [(("by_code", "", "judged"), False), (("units.ledger", "UnitLedger", "add"), True)],
)
def test_ctrl_c_leaves_no_gatecheck_by_code_open(
    book: Path, place: tuple[str, ...], is_merged: bool
) -> None:
    (book / "ford.twee").write_text(STORY, "utf-8")
    quest(book, "import", "ford.twee")
    words = [sys.executable, "-c", STOPPED, *place]
    ended = subprocess.run(words, cwd=book, capture_output=True, text=True, check=False)
    assert ended.returncode == exits.INTERRUPTED, ended.stderr
    # Judged, it is as if nobody had asked; in the middle of the merge it is whole.
    found = quest(book, "tu", "list")["tus"]
    assert [(each["loop"], each["status"]) for each in found] == (
        [("import", "cold_merged"), ("gatecheck", "cold_merged")]
        if is_merged
        else [("import", "stabilizing")]
    )
    if not is_merged:
        assert quest(book, "gate", "--code")["snapshot"]


def test_ctrl_c_lets_go_of_a_gatecheck_and_resuming_it_closes_its_unit(book: Path) -> None:
    (book / "ford.twee").write_text(STORY, "utf-8")
    quest(book, "import", "ford.twee")
    (book / "model.yaml").write_text("replies: [{hang: true, times: always}]\n", "utf-8")
    words = ("gate", "--policy", "playbook", "--batch", "--model", "script:model.yaml")
    script = Path(sys.executable).with_name("callboard")
    with subprocess.Popen(
        [str(script), "quest", *words, "--json"], cwd=book, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line).get("type") == "step.started":
                break
        process.send_signal(signal.SIGINT)
        last = json.loads(process.stdout.read().splitlines()[-1])
    assert process.returncode == exits.INTERRUPTED and last["interrupted"]
    (book / "model.yaml").write_text("default: I have nothing to say.\n", "utf-8")
    call_warm("runs", "resume", last["run_id"], "--model", "script:model.yaml", cwd=book)
    (unit,) = [each for each in quest(book, "tu", "list")["tus"] if each["loop"] == "gatecheck"]
    assert unit["outcome"], "closed, whatever came of it"
