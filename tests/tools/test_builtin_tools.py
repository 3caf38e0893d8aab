"""The tools every pack gets."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolhouse import House

from callboard.core.canonical import digest_bytes
from callboard.core.vocabulary import ReceiptOutcome
from callboard.tools import Policy, ProjectFiles, ToolCall, ToolContext, ToolResult
from callboard.tools.builtin import BUILTIN_TOOLS
from callboard.tools.text_tools import lines_of

pytestmark = pytest.mark.anyio


async def use(house: House, name: str, **args: Any) -> ToolResult:
    ran = await house.service.run(ToolCall(name, args, "sess_one"), Policy())
    return ran.execution.unwrap()


async def failure(house: House, name: str, **args: Any) -> str:
    ran = await house.service.run(ToolCall(name, args, "sess_one"), Policy())
    assert ran.receipt.outcome is ReceiptOutcome.FAILED
    assert ran.receipt.error is not None
    return ran.receipt.error.code


async def test_find_files_lists_titles_and_sizes(house: House) -> None:
    result = await use(house, "find_files", glob="Story/*.md")
    assert result.payload["files"] == [
        {"path": "Story/one.md", "title": "The Gate", "size_bytes": 42},
        {"path": "Story/two.md", "title": "The Key", "size_bytes": 49},
    ]
    assert result.preview == "2 files found: Story/one.md, Story/two.md"
    assert [ref.path for ref in result.file_refs] == ["Story/one.md", "Story/two.md"]


async def test_find_files_needs_every_word_somewhere(house: House) -> None:
    assert (await use(house, "find_files", query="KAEL brass")).payload["total"] == 1
    assert (await use(house, "find_files", query="story kael")).payload["total"] == 2
    limited = await use(house, "find_files", query="kael", max_results=1)
    assert (len(limited.payload["files"]), limited.payload["total"]) == (1, 2)


async def test_finding_nothing_is_a_success(house: House) -> None:
    found = await use(house, "find_files", query="dragon")
    assert (found.payload, found.preview) == ({"files": [], "total": 0}, "0 files found")
    said = await use(house, "search_text", text="dragon")
    assert said.payload == {"quotes": [], "total": 0}


async def test_files_that_are_no_text_are_passed_over(house: House) -> None:
    (house.root / "Story/broken.md").write_bytes(b"\xff\xfe")
    assert (await use(house, "find_files")).payload["total"] == 3


async def test_read_file_gives_lines_and_a_hash(house: House) -> None:
    result = await use(house, "read_file", path="Story/two.md", start_line=3, end_line=3)
    assert result.payload["text"] == "Mira finds a brass key.\n"
    assert result.payload["total_lines"] == 4
    assert result.payload["sha256"] == digest_bytes((house.root / "Story/two.md").read_bytes())
    assert result.preview == "Story/two.md, lines 3-3 of 4"
    tail = await use(house, "read_file", path="Story/two.md", start_line=4, end_line=99)
    assert (tail.payload["text"], tail.payload["end_line"]) == ("Kael is late.\n", 4)


async def test_read_file_says_when_lines_do_not_exist(house: House) -> None:
    assert await failure(house, "read_file", path="Story/two.md", start_line=5) == (
        "line_out_of_range"
    )
    assert await failure(house, "read_file", path="Story/two.md", start_line=3, end_line=2) == (
        "line_out_of_range"
    )
    (house.root / "empty.md").write_text("")
    assert (await use(house, "read_file", path="empty.md")).payload["text"] == ""


async def test_file_errors_reach_the_receipt(house: House) -> None:
    assert await failure(house, "read_file", path="Story/none.md") == "file_not_found"
    assert await failure(house, "read_file", path="../x.md") == "path_outside_project"
    assert await failure(house, "write_file", path="../x.md", content="") == "path_outside_project"
    assert await failure(house, "text_stats", paths=["Story"]) == "unreadable"


async def test_search_text_quotes_to_the_letter(house: House) -> None:
    result = await use(house, "search_text", text="KAEL")
    assert result.payload["quotes"] == [
        {
            "path": "Story/one.md",
            "line_start": 3,
            "line_end": 3,
            "text": "Kael waits. The gate is shut.",
        },
        {"path": "Story/two.md", "line_start": 4, "line_end": 4, "text": "Kael is late."},
    ]
    assert result.preview == "2 lines found in 2 files"
    assert (await use(house, "search_text", text="KAEL", match_case=True)).payload["total"] == 0
    limited = await use(house, "search_text", text="kael", max_results=1)
    assert (len(limited.payload["quotes"]), limited.payload["total"]) == (1, 2)
    assert len(limited.file_refs) == 1


@given(
    text=st.text(alphabet="ab \n\r\t\u2028\x0b\x85é", max_size=60),
    wanted=st.text(alphabet="ab é", min_size=1, max_size=2),
)
async def test_every_quote_is_verbatim_at_its_line(
    tmp_path_factory: pytest.TempPathFactory, text: str, wanted: str
) -> None:
    root = tmp_path_factory.mktemp("quotes")
    (root / "text.md").write_bytes(text.encode())
    search = next(each for each in BUILTIN_TOOLS if each.id == "search_text")
    context = ToolContext(ProjectFiles(root), "sess_one")
    result = await search.function(context, search.parse({"text": wanted}))
    with (root / "text.md").open(encoding="utf-8", newline=None) as stream:
        lines = [line.removesuffix("\n") for line in stream]
    expected = [n for n, line in enumerate(lines, start=1) if wanted.casefold() in line.casefold()]
    assert [each["line_start"] for each in result.payload["quotes"]] == expected
    for quote in result.payload["quotes"]:
        assert lines[quote["line_start"] - 1] == quote["text"]


def test_lines_are_counted_the_way_editors_count() -> None:
    assert lines_of("a\r\nb\rc\nd\u2028e\x0bf") == ["a\r\n", "b\r", "c\n", "d\u2028e\x0bf"]
    assert lines_of("") == []


async def test_text_stats_counts(house: House) -> None:
    (house.root / "prose.md").write_text(
        "# Title\n\nShe didn't wait. “Why?” he said…\n\nIt was well-lit.\n"
    )
    result = await use(house, "text_stats", paths=["prose.md", "notes.txt", "prose.md"])
    assert result.payload["files"][0] == {
        "path": "prose.md",
        "words": 10,
        "sentences": 4,
        "paragraphs": 3,
        "lines": 5,
        "characters": 60,
    }
    assert result.payload["totals"]["words"] == 12
    assert result.preview == "12 words in 2 files"


async def test_write_file_writes_and_tells_the_way_back(house: House) -> None:
    first = await use(house, "write_file", path="Story/three.md", content="# Three\n")
    assert first.payload["backup"] is None
    second = await use(
        house,
        "write_file",
        path="Story/three.md",
        content="# Drei\n",
        expected_sha256=first.payload["sha256"],
    )
    assert (house.root / "Story/three.md").read_text() == "# Drei\n"
    assert (house.root / second.payload["backup"]).read_text() == "# Three\n"
    assert second.payload["backup"] in second.summary
    stale = first.payload["sha256"]
    args = {"path": "Story/three.md", "content": "x", "expected_sha256": stale}
    assert await failure(house, "write_file", **args) == "file_changed"


@pytest.mark.req("CR-47")
async def test_every_tool_that_touches_files_can_say_what_it_would_touch(house: House) -> None:
    story = ["Story/one.md", "Story/two.md"]
    plans: dict[str, tuple[dict[str, Any], list[str], list[str]]] = {
        "find_files": ({"glob": "Story/**"}, story, []),
        "search_text": ({"text": "x", "glob": "Story/**"}, story, []),
        "read_file": ({"path": "notes.txt"}, ["notes.txt"], []),
        "text_stats": ({"paths": ["notes.txt"]}, ["notes.txt"], []),
        "write_file": ({"path": "new.md", "content": "x"}, [], ["new.md"]),
    }
    assert set(plans) == {each.id for each in BUILTIN_TOOLS if each.dry_run is not None}
    for name, (args, reads, writes) in plans.items():
        payload = (await use(house, name, **args, dry_run=True)).payload
        assert (payload["reads"], payload["writes"]) == (reads, writes)
    assert not (house.root / "new.md").exists()


async def test_a_long_diff_is_cut(house: House) -> None:
    content = "\n".join(f"line {n}" for n in range(1000))
    result = await use(house, "write_file", path="new.md", content=content, dry_run=True)
    assert len(result.payload["diff"].splitlines()) == 401
    assert result.payload["diff"].startswith("--- (new file)\n+++ new.md\n")


async def test_a_large_project_is_searched_within_five_seconds(house: House) -> None:
    scene = "Kael walks to the gate and waits there. " * 250
    for number in range(200):
        (house.root / f"Story/scene-{number:03d}.md").write_text(f"# Scene {number}\n\n{scene}\n")
    arguments: dict[str, dict[str, Any]] = {
        "find_files": {"query": "kael gate"},
        "search_text": {"text": "gate"},
        "text_stats": {"paths": [f"Story/scene-{n:03d}.md" for n in range(200)]},
    }
    for each in BUILTIN_TOOLS:
        if each.id in arguments:
            house.service.registry.register(
                replace(each, id=f"quick.{each.id}", timeout_seconds=5.0)
            )
            await use(house, f"quick.{each.id}", **arguments[each.id])
