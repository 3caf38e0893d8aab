"""Four pure tools that look at the project."""

from typing import Any

from callboard.tools import FileRef, ToolResult
from callboard.tools.tool import ToolArgs, ToolContext, tool

_QUOTE = {"path": "Canon.md", "line_start": 3, "line_end": 3, "text": "Kael has grey eyes."}


class FindArgs(ToolArgs):
    query: str
    limit: int = 12


@tool()
def find(context: ToolContext, args: FindArgs) -> ToolResult:
    """List the project's texts."""
    paths = [each.path for each in context.files.list_files("**", suffixes=(".md",))][: args.limit]
    matches: list[Any] = [{"path": path} for path in paths]
    outline = next((path for path in paths if "outline" in path), None)
    return ToolResult(
        {"matches": matches, "outline_path": outline, "nothing": None, "empty": []},
        f"{len(paths)} files found",
        "\n".join(paths),
    )


class OutlineArgs(ToolArgs):
    outline_path: str
    target: str = ""


@tool()
def outline(context: ToolContext, args: OutlineArgs) -> ToolResult:
    """Read the outline."""
    read = context.files.read_text(args.outline_path)
    scenes: list[Any] = [
        {"title": line[4:]} for line in read.text.splitlines() if line[:4] == "### "
    ]
    return ToolResult(
        {"scenes": scenes, "path": read.path},
        f"{len(scenes)} scenes",
        read.text,
        (FileRef(read.path, read.sha256),),
    )


class CanonArgs(ToolArgs):
    scene_path: str
    canon_paths: tuple[str, ...] = ()


@tool()
def canon(context: ToolContext, args: CanonArgs) -> ToolResult:
    """Say what canon holds about a scene."""
    exists = context.files.sha256(args.scene_path) is not None
    findings: list[Any] = [
        {
            "id": f"f{number}",
            "type": "Factual",
            "severity": severity,
            "message": f"{severity} thing",
            "quotes": [
                {"path": "Canon.md", "line_start": 3, "line_end": 3, "text": "Kael has grey eyes."}
            ],
            "suggestion": "look again",
        }
        for number, severity in enumerate(("major", "minor", "info"))
    ]
    return ToolResult(
        {"conflicts": [], "scene_exists": exists, "findings": findings},
        "1 card, no conflicts",
        "Kael has grey eyes.\nMira is his sister.",
    )


class ValidateArgs(ToolArgs):
    text: str


@tool()
def validate(_context: ToolContext, args: ValidateArgs) -> ToolResult:
    """Judge a draft by its length."""
    verdict = "APPROVE" if len(args.text.split()) > 5 else "REVISE"
    return ToolResult({"recommendation": verdict}, verdict)
