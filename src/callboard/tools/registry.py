"""ToolRegistry: every tool once, by id. Finds tools, never runs them.

A tool may be known by its id alone: its code is then loaded when it is first asked for.
"""

import difflib
import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from callboard.core.canonical import Json
from callboard.core.errors import CallboardError
from callboard.core.words import shorten
from callboard.tools.errors import InvalidTool, UnknownTool
from callboard.tools.permission import Policy
from callboard.tools.tool import Tool

_log = logging.getLogger(__name__)


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
        # How tools are loaded whose code is not needed from the start.
        self._waiting: dict[str, Callable[[], Tool]] = {}
        # Every id there is, loaded or not.
        self._origins: dict[str, str] = {}
        for each in tools:
            self.register(each)

    def register(self, tool: Tool, *, origin: str = "callboard") -> None:
        """Add a tool; an id belongs to whoever came first."""
        self._claim(tool.id, origin)
        self._tools[tool.id] = tool

    def register_later(
        self, tool_id: str, load: Callable[[], Tool], *, origin: str = "callboard"
    ) -> None:
        """Add a tool by its id; `load` is called when somebody needs more than the id."""
        self._claim(tool_id, origin)
        self._waiting[tool_id] = load

    def register_source(self, source: ToolSource) -> None:
        """Add everything a source brings."""
        for each in source.tools():
            self.register(each, origin=source.name)

    def get(self, tool_id: str) -> Tool:
        """Return a tool, or name the ones that sound like it."""
        self._require(tool_id)
        found = self._tools.get(tool_id)
        if found is None:
            # Several threads may load it at once; all of them get the same one.
            found = self._tools.setdefault(tool_id, self._waiting[tool_id]())
        return found

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all tools, sorted; no tool's code is loaded for them."""
        return tuple(sorted(self._origins))

    def parse_allowed(self, listed: str | Iterable[str]) -> frozenset[str]:
        """Read a session's list of allowed tools; every id in it must exist."""
        ids = listed.split(",") if isinstance(listed, str) else listed
        wanted = frozenset(each.strip() for each in ids if each.strip())
        for each in sorted(wanted):
            self._require(each)
        return wanted

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
        self._require(tool_id)
        return self._origins[tool_id]

    def __iter__(self) -> Iterator[Tool]:
        """Go through the tools by id; all are loaded for it, and one that cannot be is left out."""
        for tool_id in self.ids:
            try:
                found = self.get(tool_id)
            except CallboardError as error:
                origin = self._origins[tool_id]
                _log.warning("tool %s of %s is left out: %s", tool_id, origin, error.message)
            else:
                yield found

    def __contains__(self, tool_id: str) -> bool:
        """Say whether a tool is registered."""
        return tool_id in self._origins

    def __len__(self) -> int:
        """Count the tools."""
        return len(self._origins)

    def _claim(self, tool_id: str, origin: str) -> None:
        taken_by = self._origins.get(tool_id)
        if taken_by is not None:
            raise InvalidTool(
                f"Tool {tool_id} of {origin} is already registered by {taken_by}",
                fix="Give one of the two another id.",
                tool=tool_id,
            )
        self._origins[tool_id] = origin

    def _require(self, tool_id: str) -> None:
        if tool_id not in self._origins:
            near = difflib.get_close_matches(tool_id, self._origins, n=3, cutoff=0.5)
            known = ", ".join(self.ids) or "none"
            hint = f"Did you mean {', '.join(near)}?" if near else f"Registered tools: {known}."
            shown = shorten(tool_id, 80)
            raise UnknownTool(f"There is no tool {shown!r}", fix=hint, tool=shown, near=near)
