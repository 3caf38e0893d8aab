"""What a reply says, once it is taken apart; one JSON object gives the parts that tags would."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from callboard.core.canonical import Json, compact_json
from callboard.replies.json_text import read_json, without_trailing_commas


@dataclass(frozen=True, slots=True)
class Action:
    """Something a reply asks for: data for a permission check, never a command."""

    type: str
    content: dict[str, Json] = field(default_factory=dict[str, Json])
    raw: str = ""


@dataclass(frozen=True, slots=True)
class ContentUpdate:
    """Text a reply proposes for a target."""

    target: str
    content: str
    raw: str = ""


@dataclass(frozen=True, slots=True)
class ReplyWarning:
    """Something odd in a reply; `position` is where in the raw text."""

    code: str
    detail: str = ""
    position: int = 0

    def __str__(self) -> str:
        """Render as stored with the prompt record."""
        return f"{self.code}: {self.detail}" if self.detail else self.code


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """A reply in its parts; `raw` is what the model wrote, untouched."""

    raw: str
    message: str = ""
    thinking: str | None = None
    actions: tuple[Action, ...] = ()
    content_updates: tuple[ContentUpdate, ...] = ()
    warnings: tuple[ReplyWarning, ...] = ()


_TYPE_KEYS: Final = ("type", "action", "name")
_CONTENT_KEYS: Final = ("content", "parameters", "params", "arguments", "args")
_OWN_KEYS: Final = frozenset({"message", "thinking", "actions", "content_updates"})


def convert_json(text: str, *, needs_message: bool) -> ParsedReply | None:
    """Return the parts of a JSON-only reply, or None if the text is not one."""
    stripped = text.strip()
    if not (stripped.startswith("{") and stripped.endswith("}")):
        return None
    value = _read(stripped)
    if value is None or not ({"message", "action", "actions"} & value.keys()):
        return None
    message = value.get("message", "")
    if not isinstance(message, str) or (needs_message and not message.strip()):
        return None
    thinking = value.get("thinking")
    warnings = [ReplyWarning("json_converted", "the reply was one JSON object")]
    return ParsedReply(
        raw=text,
        message=message.strip(),
        thinking=thinking.strip() if isinstance(thinking, str) else None,
        actions=tuple(_actions(value, warnings)),
        content_updates=tuple(_updates(value.get("content_updates"), warnings)),
        warnings=tuple(warnings),
    )


def _read(text: str) -> dict[str, Any] | None:
    for candidate in (text, without_trailing_commas(text)):
        try:
            value = read_json(candidate)
        except ValueError:
            continue
        return cast("dict[str, Any]", value) if isinstance(value, dict) else None
    return None


def _actions(value: dict[str, Any], warnings: list[ReplyWarning]) -> list[Action]:
    listed = value.get("actions")
    entries: list[Any] = cast("list[Any]", listed) if isinstance(listed, list) else []
    single = value.get("action")
    if isinstance(single, str):
        entries = [{k: v for k, v in value.items() if k not in _OWN_KEYS}, *entries]
    elif single is not None:
        entries = [single, *entries]
    actions: list[Action] = []
    for entry in entries:
        action = _action(cast("dict[str, Any]", entry)) if isinstance(entry, dict) else None
        if action is None:
            warnings.append(ReplyWarning("malformed_action", "a JSON action has no type"))
        else:
            actions.append(action)
    return actions


def _action(entry: dict[str, Any]) -> Action | None:
    type_key = next((key for key in _TYPE_KEYS if isinstance(entry.get(key), str)), None)
    if type_key is None or not entry[type_key].strip():
        return None
    content_key = next((key for key in _CONTENT_KEYS if isinstance(entry.get(key), dict)), None)
    rest: Mapping[str, Json] = entry[content_key] if content_key else entry
    content = {k: v for k, v in rest.items() if content_key or k != type_key}
    return Action(entry[type_key].strip(), content, compact_json(entry))


def _updates(listed: Any, warnings: list[ReplyWarning]) -> list[ContentUpdate]:
    updates: list[ContentUpdate] = []
    for entry in cast("list[Any]", listed) if isinstance(listed, list) else []:
        update = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
        target, content = update.get("target"), update.get("content")
        if isinstance(target, str) and target.strip() and isinstance(content, str):
            updates.append(ContentUpdate(target.strip(), content.strip(), compact_json(update)))
        else:
            warnings.append(ReplyWarning("malformed_content_update", "no target or no text"))
    return updates
