"""Decisions, notebooks, the graph and contradictions at the command line."""

import json
from pathlib import Path

import pytest
from wf_cli_book import Book

from callboard.cli import exits


@pytest.mark.req("WF-G85")
def test_decisions_are_kept_replaced_listed_and_forgotten(book: Book) -> None:
    book("decide", "world", "salt", "Salt is money")
    replaced = book("decide", "world", "salt", "Salt is law")
    assert "Before: Salt is money" in replaced.err
    (kept,) = book("decisions", "--category", "world", "--json").json["decisions"]
    assert (kept["value"], kept["source"]) == ("Salt is law", "writer_stated")
    timeline = book("timeline", "--json").json["timeline"]
    assert [(each["value"], each["is_current"]) for each in timeline] == [
        ("Salt is law", True),
        ("Salt is money", False),
    ]
    assert "replaced" in book("timeline").out
    assert "Salt is law" in book("forget", "world", "salt").out
    assert book("decisions", "--json").json["decisions"] == []
    gone = book("forget", "world", "salt", "--json", code=exits.NOT_FOUND).json["error"]
    assert "factory decisions" in gone["details"]["fix"]
    wrong = book("decide", "weather", "salt", "x", code=exits.USAGE)
    assert "continuity" in wrong.err


@pytest.mark.req("WF-G85")
def test_a_notebook_is_added_asked_and_removed(book: Book, tmp_path: Path) -> None:
    notes = tmp_path / "elsewhere" / "notes"
    notes.mkdir(parents=True)
    (notes / "light.md").write_text("The lamp of the lighthouse turns every ten seconds.\n")
    added = book("notebook", "add", "lights", str(notes), "--title", "Lights", "--json").json
    assert (added["files"], added["notebook"]["role"]) == (1, "world_building")
    listed = book("notebook", "list")
    assert "lights" in listed.out
    assert "None yet for character_voice, craft_reference." in listed.err
    told = book("notebook", "list", "--json").json
    assert told["missing_roles"] == ["character_voice", "craft_reference"]
    found = book("notebook", "ask", "lights", "How fast is the lamp?", "--passages", "--json").json
    assert found["passages"][0]["place"] == "light.md:1"
    answered = book("notebook", "ask", "lights", "How fast is the lamp?")
    assert "turns every ten seconds" in answered.out and "light.md:1" in answered.out
    result = book("notebook", "ask", "lights", "How fast is the lamp?", "--json").result
    assert result["is_found"] and result["citations"][0]["notebook_id"] == "lights"
    removed = book("notebook", "remove", "lights")
    assert "notebook add lights" in removed.err and (notes / "light.md").exists()
    unknown = book("notebook", "ask", "lights", "Why?", "--passages", code=exits.NOT_FOUND)
    assert "registered: none" in unknown.err


@pytest.mark.req("WF-G85")
def test_facts_become_a_graph_and_contradictions_wait_for_the_writer(book: Book) -> None:
    book.lay_foundation()
    assert "consolidate` looks" in book("conflicts").err
    book("decide", "character", "ines_eye_colour", "green")
    merged = book("consolidate", "--decisions-only")
    assert "entries seen" in merged.out
    assert "Ines" in book("graph", "central", "--type", "character").out
    facts = book("graph", "around", "Ines", "--json").json
    assert facts["nodes"][0]["attrs"]["eye_colour"] == "green"
    way = book("graph", "path", "Ines", "character:ines", "--json").json["path"]
    assert [each["id"] for each in way] == ["character:ines"]
    assert "It knows:" in book("graph", "around", "Nobody", code=exits.NOT_FOUND).err
    files = book("graph", "export", "--json").json["files"]
    assert "character:ines" in Path(files[0]).read_text()

    book("decide", "character", "ines_eye_colour", "brown")
    result = book("consolidate", "--decisions-only", "--json").result
    assert result["conflicts"] == 1
    (conflict,) = book("conflicts", "--json").json["conflicts"]
    assert f"conflicts {conflict['id']} --decision" in book("conflicts").err
    wrong = book("conflicts", conflict["id"], "--decision", "both", code=exits.USAGE)
    assert "keep_existing" in wrong.err
    decided = book("conflicts", conflict["id"], "--decision", "accept_new", "--json").json
    assert decided["conflict"]["resolution"] == "accept_new"
    assert book("conflicts", "--json").json["conflicts"] == []
    assert len(book("conflicts", "--all", "--json").json["conflicts"]) == 1
    facts = json.loads(book("graph", "around", "Ines", "--json").out)
    assert facts["nodes"][0]["attrs"]["eye_colour"] == "brown"
    again = book("conflicts", conflict["id"], "--decision", "accept_new", code=exits.CONFLICT)
    assert "decided already" in again.err
