"""Policy: who may use which tool, decided by the server from roles and settings.

What a reply asks for is data; nothing in it can widen a policy.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from callboard.core.vocabulary import Agent, Effect
from callboard.tools.errors import CallRefused
from callboard.tools.tool import Tool


@dataclass(frozen=True, slots=True)
class Policy:
    """What one caller may do in one session.

    `role_tools` is None for the user and for the machinery, which have no role; for an agent an
    empty set means no tools. `session_tools` is what the session allows; empty means all.
    """

    role_tools: frozenset[str] | None = None
    session_tools: frozenset[str] = field(default_factory=frozenset[str])
    read_only: bool = False
    is_closed: bool = False
    agent_id: str | None = None

    @classmethod
    def for_agent(
        cls, agent: Agent, *, session_tools: frozenset[str] = frozenset(), read_only: bool = False
    ) -> "Policy":
        """Return what an agent's role allows within the session's limits."""
        return cls(agent.tools, session_tools, read_only, agent_id=agent.id)

    @classmethod
    def closed(cls, agent_id: str | None = None) -> "Policy":
        """Return a policy under which no tool is ever run."""
        return cls(is_closed=True, agent_id=agent_id)

    def check(self, tool: Tool, *, dry_run: bool = False) -> None:
        """Refuse the call unless role, session and mode all allow it."""
        if self.is_closed:
            raise _refusal(tool, "no tools may be used here", "closed")
        if self.role_tools is not None and tool.for_machinery:
            raise _refusal(tool, "only the machinery may use it, whatever a role says", "machinery")
        if self.role_tools is not None and tool.id not in self.role_tools:
            who = f"agent {self.agent_id}" if self.agent_id else "this role"
            raise _refusal(tool, f"{who} may use {_names(self.role_tools)}", "role")
        if self.session_tools and tool.id not in self.session_tools:
            raise _refusal(tool, f"the session allows {_names(self.session_tools)}", "session")
        if self.read_only and tool.effect is not Effect.PURE and not dry_run:
            raise _refusal(tool, "the session is read-only", "read_only")

    def allows(self, tool: Tool) -> bool:
        """Say whether a call of the tool would be let through."""
        try:
            self.check(tool)
        except CallRefused:
            return False
        return True


def _refusal(tool: Tool, why: str, rule: str) -> CallRefused:
    return CallRefused(
        f"Tool {tool.id} was not run: {why}",
        fix="Use an allowed tool, or let the user change the role or the session's settings.",
        tool=tool.id,
        rule=rule,
    )


def _names(ids: Iterable[str]) -> str:
    return ", ".join(sorted(ids)) or "no tools"
