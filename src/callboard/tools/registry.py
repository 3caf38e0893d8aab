"""ToolRegistry: every tool once, by id. Finds tools, never runs them."""

import difflib
from collections.abc import Iterable, Iterator
from typing import Protocol

from callboard.core.canonical import Json
from callboard.tools.errors import InvalidTool, UnknownTool
from callboard.tools.permission import Policy
from callboard.tools.tool import Tool


class ToolSource(Protocol):
    """Anything that brings tools along: a pack, a server of tools, the user's own folder."""

    @property
    def name(self) -> str:
        """What to call the source when two of them clash."""
        ...

    def tools(self) -> Iterable[Tool]:
        """Return the tools it brings."""
        ...


class ToolRegistry:
    """The tools of one project."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        """Start with some tools, or none."""
        self._tools: dict[str, Tool] = {}
        self._origins: dict[str, str] = {}
        for each in tools:
            self.register(each)

    def register(self, tool: Tool, *, origin: str = "callboard") -> None:
        """Add a tool; an id belongs to whoever came first."""
        taken_by = self._origins.get(tool.id)
        if taken_by is not None:
            raise InvalidTool(
                f"Tool {tool.id} of {origin} is already registered by {taken_by}",
                fix="Give one of the two another id.",
                tool=tool.id,
            )
        self._tools[tool.id] = tool
        self._origins[tool.id] = origin

    def register_source(self, source: ToolSource) -> None:
        """Add everything a source brings."""
        for each in source.tools():
            self.register(each, origin=source.name)

    def get(self, tool_id: str) -> Tool:
        """Return a tool, or name the ones that sound like it."""
        found = self._tools.get(tool_id)
        if found is None:
            near = difflib.get_close_matches(tool_id, self._tools, n=3, cutoff=0.5)
            known = ", ".join(sorted(self._tools)) or "none"
            hint = f"Did you mean {', '.join(near)}?" if near else f"Registered tools: {known}."
            shown = tool_id if len(tool_id) <= 80 else tool_id[:79] + "…"
            raise UnknownTool(f"There is no tool {shown!r}", fix=hint, tool=shown, near=near)
        return found

    def parse_allowed(self, listed: str | Iterable[str]) -> frozenset[str]:
        """Read a session's list of allowed tools; every id in it must exist."""
        ids = listed.split(",") if isinstance(listed, str) else listed
        return frozenset(self.get(each.strip()).id for each in ids if each.strip())

    def catalogue(self, policy: Policy | None = None) -> list[dict[str, Json]]:
        """Describe the tools for a prompt: only those the policy lets through, sorted by id."""
        return [
            {
                "id": each.id,
                "description": each.description,
                "effect": each.effect.value,
                "args": each.schema(),
            }
            for each in self
            if policy is None or policy.allows(each)
        ]

    def origin_of(self, tool_id: str) -> str:
        """Say who registered a tool."""
        return self._origins[self.get(tool_id).id]

    def __iter__(self) -> Iterator[Tool]:
        """Go through the tools by id."""
        return iter([self._tools[tool_id] for tool_id in sorted(self._tools)])

    def __contains__(self, tool_id: str) -> bool:
        """Say whether a tool is registered."""
        return tool_id in self._tools

    def __len__(self) -> int:
        """Count the tools."""
        return len(self._tools)
