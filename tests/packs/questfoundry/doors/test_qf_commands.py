"""`callboard quest`: from somebody's Twine story to its first gatecheck and its files."""

import json
from pathlib import Path
from typing import Any

import pytest

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
