"""What tests of story tools share: a project on disk, calls without a service, and the promise."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from callboard.core.canonical import digest
from callboard.packs.control_room import tools
from callboard.tools import ProjectFiles, Tool, ToolContext, ToolResult

NAMES = (
    "file_locator",
    "outline_analyzer",
    "canon_checker",
    "consistency_checker",
    "prose_analyzer",
    "stakes_mapper",
    "reader_experience_simulator",
    "scene_draft_validator",
)
FORTRESS = Path(__file__).parents[2] / "fortress"


def copy_fortress(target: Path, which: str = "project") -> Path:
    shutil.copytree(FORTRESS / which, target)
    return target


def context_of(root: Path) -> ToolContext:
    return ToolContext(ProjectFiles(root, root / ".callboard"), "sess_test")


def call(name: str, context: ToolContext, **args: Any) -> ToolResult:
    return asyncio.run(_call(tool_named(name), context, args))


async def _call(tool: Tool, context: ToolContext, args: dict[str, Any]) -> ToolResult:
    return await tool.function(context, tool.parse(args))


def tool_named(name: str) -> Tool:
    return getattr(tools, name)


def calls_for(scenes: list[str], cards: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return a call of every tool that can be made on such a project."""
    yield "file_locator", {"search_criteria": "Kael and scene 2", "scan_mode": "DEEP_SCAN"}
    yield "file_locator", {"search_criteria": "**/*.md", "include_globs": True}
    yield "outline_analyzer", {"target": "Draft scene 2"}
    yield "stakes_mapper", {"themes": ["key"]}
    yield "reader_experience_simulator", {}
    for scene in scenes[:3]:
        yield "canon_checker", {"scene_path": scene, "mode": "strict"}
        yield "canon_checker", {"scene_path": scene, "canon_paths": cards}
        yield "prose_analyzer", {"scene_path": scene}
        yield "scene_draft_validator", {"scene_path": scene}
    if scenes:
        yield "consistency_checker", {"file_paths": [*scenes[:6], *cards[:4]]}


def quotes_in(value: Any) -> Iterator[dict[str, Any]]:
    """Return everything in a payload that is shaped like a quote."""
    if isinstance(value, dict):
        if {"path", "line_start", "line_end", "text"} <= value.keys():
            yield value
        for each in value.values():
            yield from quotes_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from quotes_in(each)


def check_promises(root: Path, result: ToolResult) -> int:
    """Check what every result of every tool must keep; return how many quotes were looked at."""
    payload = result.payload
    assert len(result.preview) <= 200
    assert "\n" not in result.preview
    assert result.summary.strip()
    assert len(result.summary) <= 12_000
    assert isinstance(payload["language_supported"], bool)
    quotes = list(quotes_in(payload))
    for quote in quotes:
        lines = _lines(root / quote["path"])
        assert 1 <= quote["line_start"] <= quote["line_end"] <= len(lines)
        assert quote["text"].strip()
        assert quote["text"] in "\n".join(lines[quote["line_start"] - 1 : quote["line_end"]]), quote
    for finding in payload.get("findings", []):
        assert finding["quotes"], finding
        assert finding["severity"] in ("major", "minor", "info")
        assert 0 <= finding["confidence"] <= 1
        assert finding["message"]
    ids = [finding["id"] for finding in payload.get("findings", [])]
    assert len(ids) == len(set(ids))
    for ref in result.file_refs:
        assert (root / ref.path).is_file()
    assert digest(payload)
    return len(quotes)


def _lines(path: Path) -> list[str]:
    text = path.read_bytes().decode("utf-8-sig")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
