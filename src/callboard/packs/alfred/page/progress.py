"""Progress: what a turn is doing, in a few words, and its reply while it is written."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.core.events import Emitted, Event, ReplyChunk, ReplyVoided

BEGUN: Final = "Listening …"
_NODES: Final = {
    "understand": "Reading your message …",
    "think": "Making a plan …",
    "act": "At work …",
    "reply": "Putting it into words …",
}


def is_begun(event: Event) -> bool:
    """Say whether an event tells that a turn is under way."""
    return isinstance(event.body, Emitted) and event.body.name == "node_started"


@dataclass
class Progress:
    """How far a turn is."""

    doing: str = BEGUN
    reply: str = ""
    is_over: bool = False
    _is_replying: bool = False

    def follow(self, event: Event) -> bool:
        """Take note of an event; say whether there is something new to show."""
        match event.body:
            case Emitted(name=name, data=data) if isinstance(data, Mapping):
                return self._note(name, cast("Mapping[str, Any]", data))
            case ReplyChunk(text=text) if self._is_replying:
                self.reply += text
                return True
            case ReplyVoided():
                self.reply = ""
                return True
            case _:
                return False

    def _note(self, name: str, data: Mapping[str, Any]) -> bool:
        match name:
            case "node_started":
                self._is_replying = data.get("node") == "reply"
                self.doing, self.is_over = _NODES.get(str(data.get("node")), self.doing), False
            case "step_started":
                self.doing = f"{data.get('description') or 'At work'} …"
            case "reply_delta":
                self.reply = str(data.get("text") or "")
            case "done":
                self.is_over = True
            case _:
                return False
        return True
