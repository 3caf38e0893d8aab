"""The beginning of a book at the command line: facts, Story Bible, modes, the Foreman."""

import io
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from wf_cli_book import Book

from callboard.cli import exits

REPLY = (
    "<thinking>Salt matters.</thinking>\n<message>Which debt does she hide?</message>\n"
    '<action type="save_decision"><category>world</category><key>salt</key>'
    "<value>Salt is money</value></action>"
)


def foreman_says(text: str = REPLY) -> dict[str, str]:
    return {"agent": "foreman", "times": "always", "text": text}


@pytest.mark.req("WF-G85")
def test_a_book_begins_and_is_described_further(book: Book) -> None:
    again = book("new", "--tone", "dry", "--json").json
    assert again["is_new"] is False
    assert (again["book"]["title"], again["book"]["tone"]) == ("Salt", "dry")
    assert again["book"]["id"] == book("order", "--json").json["work_order"]["project_id"]
    assert "writers_factory" in (book.root / ".callboard/config.yaml").read_text()


@pytest.mark.req("WF-G85", "WF-G14")
def test_a_field_nobody_reads_is_kept_and_told_of_once(book: Book) -> None:
    slip = book("template", "protagonist", "--set", "fatal_flow=Pride")
    assert "Warning: fatal_flow" in slip.err and "fatal_flaw, the_lie" in slip.err
    again = book("template", "protagonist", "--set", "fatal_flow=Pride of place", "--json").json
    assert again["warnings"] == []
    shown = book("template", "protagonist", "--set", "flaw=Pride", "--set", "age=40", "--json").json
    assert [each.split()[0] for each in shown["warnings"]] == ["age"]
    fields = shown["template"]["fields"]
    assert (fields["fatal_flow"], fields["age"]) == ("Pride of place", "40")


@pytest.mark.req("WF-G85")
def test_a_template_is_written_challenged_and_kept_by_version(book: Book) -> None:
    weak = book("template", "protagonist", "--set", "fatal_flaw=He is poor")
    assert "CHALLENGE: fatal_flaw" in weak.out and "missing: the_lie" in weak.out
    order = book("order", "--json").json["work_order"]
    (failed,) = order["templates"][0]["failed_checks"]
    assert failed["field"] == "fatal_flaw" and failed["alternatives"]
    better = book("template", "protagonist", "--set", "fatal_flaw=Pride that refuses every gift")
    kept = better.err.partition("is kept: ")[2].strip()
    assert "He is poor" in (book.root / kept).read_text()
    assert "CHALLENGE" not in book("template", "protagonist").out
    shown = book("template", "world_rules", "--rule", "No ship may leave at night", "--json").json
    assert shown["template"]["missing_fields"] == ["fundamental_rules"]
    added = book("template", "world_rules", "--rule", "Only the council votes", "--json").json
    assert len(added["template"]["fields"]["fundamental_rules"]) == 2
    assert book("template", "weather", code=exits.NOT_FOUND).err.count("world_rules") == 1
    wrong = book("template", "beat_sheet", "--beat", "16=Too late", "--json", code=exits.USAGE)
    assert "beat_16" in wrong.json["error"]["message"]


@pytest.mark.req("WF-G85")
def test_a_gate_is_refused_once_and_overridden_on_record(book: Book) -> None:
    refused = book("mode", "voice-calibration", "--json", code=exits.CONFLICT).json["error"]
    assert refused["code"] == "mode_gated"
    assert "world_rules: 3 more" in refused["details"]["context"]["unmet"]
    moved = book("mode", "VOICE_CALIBRATION", "--override", "--risk", "It may drift.")
    assert "It may drift." in moved.out
    assert "callboard factory mode ARCHITECT" in moved.err
    shown = book("mode", "--json").json
    assert (shown["mode"], len(shown["overrides"])) == ("VOICE_CALIBRATION", 1)
    assert "It may drift." in book("state").out
    assert book("mode", "ARCHITECT").code == exits.OK
    assert "--set KEY=VALUE" in book("template", "theme", "--set", "claim", code=exits.USAGE).err
    assert book("mode", "NOWHERE", code=exits.NOT_FOUND).err.count("DIRECTOR") == 1


@pytest.mark.req("WF-09", "WF-G01")
def test_the_state_is_shown_as_the_foreman_reads_it_and_in_sentences(book: Book) -> None:
    markup = ElementTree.fromstring(book("state", "--as", "xml").out)  # noqa: S314 - our own
    assert markup.findtext("current_mode") == "ARCHITECT"
    prose = book("state").out
    assert "Salt is in ARCHITECT" in prose and "<" not in prose
    assert book("state", "--json").json["state"]["project"]["protagonist"] == "Ines"
    assert "--as" in book("state", "--as", "poem", code=exits.USAGE).err


@pytest.mark.req("WF-107")
def test_what_cannot_be_used_in_the_writers_files_is_told_with_the_state(book: Book) -> None:
    assert book("state").err == ""
    own = book.root / ".callboard" / "prompts"
    own.mkdir(exist_ok=True)
    (own / "protocols.md").write_text("Answer like {{somebody}}.", "utf-8")
    (book.root / ".callboard" / "writers_factory.yaml").write_text("voice: {nothing: 1}", "utf-8")
    told = book("state").err
    assert "warning: prompts/protocols.md says {{somebody}}" in told and "nothing" in told
    (own / "actions.yaml").write_text("actions: {odd: {handler: kb_save}}", "utf-8")
    shown = book("state", "--json").json
    assert shown["state"]["mode"] == "ARCHITECT"
    assert any("actions.odd" in each for each in shown["problems"])


@pytest.mark.req("WF-09", "WF-G01", "WF-G85")
def test_a_turn_is_said_shown_and_its_prompts_are_on_record(book: Book) -> None:
    book.script(foreman_says())
    said = book("chat", "-m", "Salt is money.")
    assert said.out == "Which debt does she hide?\n"
    assert "done: save_decision" in said.err
    assert book("decisions", "--json").json["decisions"][0]["value"] == "Salt is money"
    (turn,) = book("prompts", "--json").json["turns"]
    assert (turn["said"], turn["mode"]) == ("Salt is money.", "ARCHITECT")
    sent = book("prompts", "last", "--json").json["prompts"][0]
    assert sent["tier"] and {line["name"] for line in sent["bill"]} >= {"identity", "session_state"}
    assert sent["reply"]["text"] == REPLY
    assert book("prompts", turn["run_id"][-6:], "--text").out.rstrip("\n") == sent["text"]
    assert "session_state" in book("prompts", "last").out
    assert "lists them" in book("prompts", "run_nothing", code=exits.NOT_FOUND).err
    as_json = book("chat", "-m", "And pepper?", "--json").result
    assert as_json["message"] == "Which debt does she hide?"


@pytest.mark.req("WF-09", "WF-G85")
def test_a_conversation_shows_state_mode_prompt_thinking_and_history(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    book.script(foreman_says())
    typed = ["/why", "Salt is money.", "/state", "/mode", "/mode DIRECTOR", "/why", "/thinking"]
    lines = "\n".join([*typed, "/history", "/dance", "/quit", "never said"])
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    talked = book("chat")
    assert "No model has been asked yet." in talked.err
    assert "Salt is in ARCHITECT" in talked.out and "next  VOICE_CALIBRATION" in talked.out
    assert "is not open yet" in talked.err and "Known: /state" in talked.err
    assert "# Who you are" in talked.out and "callboard factory prompts run_" in talked.err
    assert "Salt matters." in talked.out
    assert "you: Salt is money.\nforeman: Which debt does she hide?" in talked.out
    assert len(book("prompts", "--json").json["turns"]) == 1


@pytest.mark.req("WF-G85")
def test_what_a_reply_holds_cannot_steer_the_terminal(book: Book) -> None:
    book.script(foreman_says("<message>Red \x1b[31malert\x07.</message>"))
    said = book("chat", "-m", "Hello.")
    assert "\x1b" not in said.out and "\x07" not in said.out and "<message>" not in said.out


@pytest.mark.req("WF-G85")
def test_outside_of_a_book_the_way_out_is_named(
    book: Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lost = book("order", "--json", code=exits.NOT_FOUND).json["error"]
    assert "callboard init" in lost["details"]["fix"]
    assert json.loads(book("order", "--project", str(book.root), "--json").out)["work_order"]


def test_what_the_foreman_filed_is_listed_and_taken_back(book: Book) -> None:
    book.script(foreman_says())
    assert "filed nothing" in book("filed").err
    told = book("chat", "-m", "Salt is money there.")
    assert "filed: world, Salt is money" in told.err
    assert "Salt is money" in book("filed").out
    assert "Taken back: world, Salt is money" in book("undo").out
    assert "taken back" in book("filed").out
    assert book("decisions", "--json").json["decisions"] == []
    assert "nothing to take back" in book("undo", code=exits.NOT_FOUND).err
