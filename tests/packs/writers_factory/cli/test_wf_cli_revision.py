"""Revision, health and the end of a book at the command line."""

import pytest
from wf_cli_book import PHRASE, Book

from callboard.cli import exits

OLD = "Ines put the brass key on the table."
SCENE_FILE = "content/Manuscript/Chapter_01/Scene_01.md"


def edit(book: Book, *more: str, code: int = 0, new: str = PHRASE) -> str:
    ended = book("edit", "ch1-sc1", "--old", OLD, "--new", new, "--reason", "try", *more, code=code)
    return ended.out + ended.err


@pytest.mark.req("WF-G85")
def test_edits_are_shown_as_differences_and_taken_back(drafted: Book) -> None:
    book = drafted
    assert "force" in edit(book, code=exits.FAILED)
    told = edit(book, "--force")
    assert f"+{PHRASE}" in told and "callboard factory undo ch1-sc1" in told
    assert "occurs 0 times" in edit(book, code=exits.FAILED)
    assert PHRASE in (book.root / SCENE_FILE).read_text()
    assert f"-{PHRASE}" in book("undo", "ch1-sc1").out
    assert PHRASE not in (book.root / SCENE_FILE).read_text()
    nothing = book("undo", "ch1-sc1", "--json", code=exits.CONFLICT).json["error"]
    assert nothing["code"] == "nothing_to_undo"
    versions = book("versions", "ch1-sc1", "--json").json["versions"]
    assert [each["number"] for each in versions] == [1, 2, 3]


@pytest.mark.req("WF-G85")
def test_scenes_are_edited_once_they_are_written_and_other_files_at_any_time(book: Book) -> None:
    file = book.root / SCENE_FILE
    file.parent.mkdir(parents=True)
    file.write_text(f"{OLD}\n")
    shown = book(
        *("edit", "ch1-sc1", "--old", OLD, "--new", "x", "--reason", "y", "--json"),
        code=exits.CONFLICT,
    )
    assert shown.json["error"]["code"] == "wrong_mode"
    assert file.read_text() == f"{OLD}\n"
    (book.root / "content/Ideas.md").write_text("Salt.\n")
    book("edit", "content/Ideas.md", "--old", "Salt", "--new", "Iron", "--reason", "harder")
    assert (book.root / "content/Ideas.md").read_text() == "Iron.\n"


@pytest.mark.req("WF-G85")
def test_a_scene_is_scored_enhanced_and_its_changes_decided(drafted: Book) -> None:
    book = drafted
    edit(book, "--force")
    scored = book("analyze", "ch1-sc1")
    assert "of 100" in scored.out and "“with surgical precision”" in scored.out
    assert "waive ch1-sc1 QUOTE" in scored.err
    fast = book("analyze", "ch1-sc1", "--fast", "--json").result
    assert fast["is_fast"] and fast["may_accept"] is False
    assert "was not enhanced" in book("changes", "ch1-sc1", code=exits.NOT_FOUND).err
    enhanced = book("enhance", "ch1-sc1")
    assert f"  - {PHRASE}" in enhanced.out and "changes run_" in enhanced.err
    assert PHRASE in (book.root / SCENE_FILE).read_text()
    (change,) = book("changes", "ch1-sc1", "--json").json["enhancement"]["changes"]
    wrong = book("changes", "ch1-sc1", "--accept", "fix9", code=exits.USAGE)
    assert change["id"] in wrong.err
    decided = book("changes", "ch1-sc1", "--accept", "all")
    assert "accepted" in decided.out and "versions ch1-sc1" in decided.err
    assert PHRASE not in (book.root / SCENE_FILE).read_text()
    passes = book("enhance", "ch1-sc1", "--six-pass").err
    assert "pass 1, structure: " in passes and "is_kept" not in passes


@pytest.mark.req("WF-G85")
def test_a_forbidden_phrase_may_stay_with_a_reason(drafted: Book) -> None:
    book = drafted
    edit(book, "--force")
    wrong = book("waive", "ch1-sc1", "the brass key", "--reason", "mine", code=exits.USAGE)
    assert "with surgical precision" in wrong.err
    book("waive", "ch1-sc1", "with surgical precision", "--reason", "she is a surgeon")
    assert book("analyze", "ch1-sc1", "--fast", "--json").result["may_accept"] is True


@pytest.mark.req("WF-G85")
def test_a_text_the_foreman_proposes_is_looked_at_and_taken(drafted: Book) -> None:
    book = drafted
    book("mode", "DIRECTOR")
    update = '<content_update target="ch1-sc1">\nIt rained on the vote.\n</content_update>'
    reply = {"agent": "foreman", "times": "always", "text": f"<message>Here.</message>{update}"}
    book.script(reply)
    said = book("chat", "-m", "Write it shorter.")
    assert "callboard factory proposals prop_" in said.err
    (made,) = book("proposals", "--json").json["proposals"]
    assert "+It rained on the vote." in book("proposals", made["id"]).out
    assert "meant" in book("proposals", "--accept", code=exits.USAGE).err
    assert "accepted" in book("proposals", made["id"], "--accept").out
    assert "It rained on the vote." in (book.root / SCENE_FILE).read_text()
    assert book("proposals", "--json").json["proposals"] == []
    assert book("proposals", made["id"], "--reject", code=exits.CONFLICT).err


@pytest.mark.req("WF-G85")
def test_a_book_without_a_scene_is_not_exported(book: Book) -> None:
    assert "Write a scene" in book("export", code=exits.CONFLICT).err


@pytest.mark.req("WF-G85")
def test_the_writer_has_the_last_word_on_health(drafted: Book) -> None:
    book = drafted
    assert "Nobody has looked yet" in book("alerts").err
    book("accept", "ch1-sc1")
    looked = book("health", "--checks", "B2,A1")
    assert "A1_pacing_plateau" in looked.out and "insufficient_data" in looked.out
    assert "chapter:" in book("health", "--scope", "page:4", code=exits.USAGE).err
    (alert, *_) = book("alerts", "--json").json["findings"]
    assert alert["id"] in book("alerts").out
    assert "reason" in book("alerts", "--mute", alert["id"], code=exits.USAGE).err
    muted = book("alerts", "--mute", alert["id"], "--reason", "she is alone")
    assert "--unmute" in muted.err
    assert alert["id"] not in book("alerts").out and alert["id"] in book("alerts", "--all").out
    book("alerts", "--unmute", alert["id"])
    assert alert["id"] in book("alerts").out
    scored = book("theme", "ch1-sc1", "7", "--reason", "quiet", "--json").json["override"]
    assert (scored["score"], scored["author"]) == (7.0, "writer")
    assert "judge's score" in book("theme", "ch1-sc1", "--withdraw").out
    assert book("theme", "ch1-sc1", "--withdraw", code=exits.NOT_FOUND).err
    assert "0 to 10" in book("theme", "ch1-sc1", "11", "--reason", "x", code=exits.USAGE).err
    told = book("correct", "ch1-sc1", "--tension", "6", "--challenge", "growth", "--json").json
    assert told["corrected"] == {"tension": 6.0, "challenge": "growth"}
    assert "triumph" in book("correct", "ch1-sc1", "--challenge", "duel", code=exits.USAGE).err
    assert book("correct", "ch1-sc1", code=exits.USAGE).err
    assert book("cast", "Danny", "ally").out == "Danny: ally\n"


@pytest.mark.req("WF-G85")
def test_a_book_is_audited_exported_completed_and_reopened(drafted: Book) -> None:
    book = drafted
    book("accept", "ch1-sc1")
    assert "belongs to EDITOR" in book("complete", code=exits.CONFLICT).err
    book.insist("EDITOR")
    audited = book("audit", "--fast")
    assert "content/Reports/Continuity_Audit.md" in audited.err
    assert (book.root / "content/Reports/Continuity_Audit.md").is_file()
    measured = book("voice-report", "--json").result
    assert measured["scenes"][0]["scene_id"] == "ch1-sc1"
    made = book("export", "--format", "epub", "--author", "A. Writer", "--json").json["export"]
    assert [each["format"] for each in made["files"]] == ["md", "epub"]
    assert "md, epub and docx" in book("export", "--format", "pdf", code=exits.USAGE).err
    assert "nothing to reopen" in book("reopen", code=exits.CONFLICT).err
    done = book("complete", "--format", "md", "--note", "at last")
    assert "complete" in done.out and "content/Export/Salt.md" in done.out
    assert "ch1-sc2 is planned and not written" in done.err and "factory reopen" in done.err
    assert book("mode", "--json").json["mode"] == "COMPLETE"
    assert "EDITOR" in book("reopen").out
    assert book("mode", "--json").json["mode"] == "EDITOR"


def test_what_a_writer_did_is_on_record_and_sound(drafted: Book) -> None:
    told = drafted.call("receipts", "verify")
    assert told.code == exits.OK and "all sound" in told.out
    listed = drafted.call("receipts", "list", "--json").json["receipts"]
    tools = {each["tool"] for each in listed}
    assert {"factory.start_run", "factory.fill_template", "factory.take_variant"} <= tools
    assert {"factory.override_gate", "factory.keep_made"} & tools
