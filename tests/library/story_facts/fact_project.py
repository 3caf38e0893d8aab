"""A project on disk, and the three checking tools run on it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from callboard.library.story.tools.canon.tool import canon_checker
from callboard.library.story.tools.consistency.tool import consistency_checker
from callboard.library.story.tools.draft.tool import scene_draft_validator
from callboard.tools import ProjectFiles, Tool, ToolContext, ToolResult

TOOLS = {tool.id: tool for tool in (canon_checker, consistency_checker, scene_draft_validator)}


class Project:
    """A project folder and the tools run on it."""

    def __init__(self, root: Path, kept: Path | None = None) -> None:
        self.root = root
        self.context = ToolContext(ProjectFiles(root, kept=kept), "sess_test")

    def write(self, path: str, text: str) -> str:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        return path

    def card(self, name: str, *lines: str, aliases: str = "") -> str:
        front = f"---\ntype: character\ntitle: {name}\naliases: [{aliases}]\n---\n"
        body = "\n".join([f"# {name}", "", *lines, ""])
        return self.write(f"Compendium/Characters/CHAR-{name.replace(' ', '-')}.md", front + body)

    def scene(self, number: int, text: str, **front: object) -> str:
        told = "".join(f"{key}: {value}\n" for key, value in front.items())
        head = f"---\ntitle: Scene {number}\nscene: {number}\n{told}---\n\n"
        return self.write(f"Story/Scenes/SCN-{number:02d}.md", head + text + "\n")

    def edit(self, path: str, old: str, new: str) -> None:
        text = (self.root / path).read_text(encoding="utf-8")
        assert old in text
        self.write(path, text.replace(old, new))

    async def run(self, tool_id: str, **args: Any) -> ToolResult:
        tool: Tool = TOOLS[tool_id]
        return await tool.function(self.context, tool.parse(args))

    async def canon(self, scene_path: str, **args: Any) -> dict[str, Any]:
        return (await self.run("canon_checker", scene_path=scene_path, **args)).payload

    async def consistency(self, *paths: str, **args: Any) -> dict[str, Any]:
        return (await self.run("consistency_checker", file_paths=list(paths), **args)).payload

    async def draft(self, **args: Any) -> dict[str, Any]:
        return (await self.run("scene_draft_validator", **args)).payload

    def scenes(self) -> list[str]:
        return [
            path.relative_to(self.root).as_posix()
            for path in sorted(self.root.glob("Story/Scenes/*.md"))
        ]


def quotes_in(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every quote of a payload, however deep."""
    if isinstance(value, dict):
        if {"path", "line_start", "line_end", "text"} <= value.keys():
            yield value
        for each in value.values():
            yield from quotes_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from quotes_in(each)


def assert_verbatim(root: Path, payload: Any, draft: str | None = None) -> int:
    """Every quote stands word for word within its lines; return how many there are."""
    count = 0
    for quote in quotes_in(payload):
        text = draft if quote["path"] == "text" else (root / quote["path"]).read_text("utf-8")
        assert text is not None
        lines = text.split("\n")[quote["line_start"] - 1 : quote["line_end"]]
        assert quote["text"] and quote["text"] in "\n".join(lines), quote
        count += 1
    return count
