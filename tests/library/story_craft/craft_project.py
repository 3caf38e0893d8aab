"""A project on disk, and the craft tools run over it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from callboard.library.story.tools.prose.tool import prose_analyzer
from callboard.library.story.tools.reader.tool import reader_experience_simulator
from callboard.library.story.tools.stakes.tool import stakes_mapper
from callboard.tools import Kept, ProjectFiles, ToolContext, ToolResult

TOOLS = {tool.id: tool for tool in (prose_analyzer, stakes_mapper, reader_experience_simulator)}


class CraftProject:
    """A folder of Markdown and the tools that read it."""

    def __init__(self, root: Path) -> None:
        """Take the folder; what tools keep lives as long as the project object."""
        self.root = root
        self.context = ToolContext(
            ProjectFiles(root, root / ".callboard"), "sess_test", kept=Kept()
        )

    def write(self, files: Mapping[str, str]) -> None:
        """Write files by their path."""
        for path, text in files.items():
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")

    def scenes(self, *texts: str, front: Mapping[int, str] | None = None) -> None:
        """Write scenes in order, each with a heading."""
        for number, text in enumerate(texts, start=1):
            head = f"---\n{front[number]}\n---\n" if front and number in front else ""
            path = f"Story/Scenes/SCN-{number:02d}-part.md"
            self.write({path: f"{head}# Scene {number}\n\n{text}\n"})

    async def run(self, tool_id: str, **args: Any) -> ToolResult:
        """Run one of the craft tools."""
        tool = TOOLS[tool_id]
        return await tool.function(self.context, tool.parse(args))

    async def findings(self, tool_id: str, **args: Any) -> list[dict[str, Any]]:
        """Run a tool and return its findings."""
        return (await self.run(tool_id, **args)).payload["findings"]
