"""Which tools an agent may call by itself, and whether a message needs one at all.

Role, policy, settings and words decide; no model is asked.

Only tools without effects are ever among them: an agent that talks never writes.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.core.canonical import Json
from callboard.core.errors import Fault, InvalidInput
from callboard.core.vocabulary import Agent, Effect
from callboard.studio.studio import Studio
from callboard.tools import Policy, UnknownTool


@dataclass(frozen=True, slots=True)
class ToolPolicy:
    """What the user allows in a conference or a chat; no tools named means all of them."""

    allowed_tools: tuple[str, ...] = ()
    require_tool: bool = False

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {"allowed_tools": list(self.allowed_tools), "require_tool": self.require_tool}

    @classmethod
    def from_json(cls, data: Mapping[str, Json] | None) -> "ToolPolicy":
        """Read the stored shape; tools may also be named in one text, with commas."""
        raw = dict(data or {})
        unknown = sorted(raw.keys() - {"allowed_tools", "require_tool"})
        listed: Any = raw.get("allowed_tools") or ()
        names = listed.split(",") if isinstance(listed, str) else listed
        required = read_flag(raw.get("require_tool", False))
        if unknown or not isinstance(names, list | tuple) or not isinstance(required, bool):
            raise InvalidInput(
                f"{raw!r} is not a tool policy",
                fix='Write {"allowed_tools": ["file_locator"], "require_tool": false}.',
            )
        ids = (str(each).strip() for each in cast("list[Any]", names))
        return cls(tuple(dict.fromkeys(each for each in ids if each)), required)


def read_flag(value: Json) -> Json:
    """Return a truth value that may have been typed as a word; anything else as it is."""
    words = {"true": True, "yes": True, "false": False, "no": False}
    return words.get(value.strip().lower(), value) if isinstance(value, str) else value


class ToolNotKnown(InvalidInput):
    """A policy allows a tool that nobody registered."""

    code = "unknown_tool"
    fault = Fault.MISSING


def check_policy(studio: Studio, policy: ToolPolicy) -> None:
    """Refuse a policy that names a tool there is not."""
    try:
        studio.tools.registry.parse_allowed(policy.allowed_tools)
    except UnknownTool as error:
        raise ToolNotKnown(error.message, fix=error.fix, **error.context) from error


def rights_of(studio: Studio, agent: Agent, policy: ToolPolicy) -> Policy:
    """Return what an agent may call: what its role, the user and the settings all allow.

    A role that names no tools may use every tool that only looks.
    """
    registry = studio.tools.registry
    allowed = frozenset(registry.ids)
    for limit in (agent.tools, frozenset(policy.allowed_tools), studio.allowed_tools):
        if limit:
            allowed &= limit
    # Only a tool somebody may call is loaded to see what it does.
    pure = (
        tool.id
        for tool in map(registry.get, allowed)
        if tool.effect is Effect.PURE and not tool.for_machinery
    )
    return Policy(role_tools=frozenset(pure), read_only=True, agent_id=agent.id)


_PATH: Final = re.compile(r"\S\.(?:md|markdown)\b", re.IGNORECASE)
_VERBS: Final = re.compile(
    r"\b(?:check|find|compar|analy[sz]|verif|look(?:s|ed|ing)? up)\w*", re.IGNORECASE
)


def needs_tool(message: str, tool_ids: Collection[str], names: Collection[str] = ()) -> bool:
    """Say whether a message names a tool or a file, or asks to check something of the project.

    `names` are what the project is known to hold, and the pack's words for such things.
    """
    words = message.casefold()
    if _PATH.search(message) or any(_stands_in(words, tool_id) for tool_id in tool_ids):
        return True
    if _VERBS.search(message) is None:
        return False
    return any(_stands_in(words, name.casefold()) for name in names)


def _stands_in(words: str, name: str) -> bool:
    return bool(name) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", words) is not None
