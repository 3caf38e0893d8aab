"""Scripted parts: a Chief that calls tools by the protocol, and attendees that answer."""

import re
from collections.abc import Callable
from typing import Any

from callboard.core.canonical import compact_json
from callboard.models import Line, ModelRequest

Part = Callable[[ModelRequest], "Line | str | None"]
QUOTE = 'Evidence: Story/Scenes/SCN-01-the-gate.md "The gate opened before he could knock."'


def nonce_in(request: ModelRequest) -> str:
    return re.findall(r'"nonce": "([^"]+)"', request.messages[-1].content)[-1]


def leading(*calls: dict[str, Any] | str, asks: str = "conference_lead") -> Part:
    """Return a Chief that makes calls in order, then stops; a text is said as it is."""
    left = list(calls)

    def answer(request: ModelRequest) -> str | None:
        if not (request.prompt_type or "").startswith(asks):
            return None
        if not left:
            return compact_json({"action": "final", "nonce": nonce_in(request)})
        call = left.pop(0)
        return call if isinstance(call, str) else compact_json({"nonce": nonce_in(request), **call})

    return answer


def search(text: str) -> dict[str, Any]:
    return {"tool": "search_text", "args": {"text": text}}


def viewing(**said: str) -> Part:
    """Return attendees that say what they are given, and otherwise cite the first scene."""

    def answer(request: ModelRequest) -> str | None:
        if request.prompt_type != "conference_view":
            return None
        agent = request.agent_id or ""
        return said.get(agent, f"The {agent} has a view.\n\n{QUOTE}")

    return answer
