"""Take a reply apart: the one entry point. Never raises; a bad reply becomes a visible message."""

import logging
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from callboard.replies.code import CodeMap, read_tag
from callboard.replies.coercion import coerce
from callboard.replies.parameters import Malformed, read_parameters
from callboard.replies.reply import Action, ContentUpdate, ParsedReply, ReplyWarning, convert_json
from callboard.replies.scanner import (
    ACTION,
    CONTENT_UPDATE,
    MESSAGE,
    THINKING,
    ReplyBlock,
    Segment,
    Text,
    scan,
)

_log: Final = logging.getLogger(__name__)
_TYPE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]{0,99}")
_WRAPPERS: Final = frozenset({"response", "reply", "answer", "output", "root"})

Schemas = Mapping[str, Mapping[str, Any]]
"""JSON schemas of the known actions, by type."""


def parse_reply(text: str, schemas: Schemas | None = None) -> ParsedReply:
    """Return the parts of a reply; with schemas, parameters come in the types they ask for."""
    try:
        reply = replace(_parse(text), raw=text)
        return _apply_schemas(reply, schemas) if schemas else reply
    except Exception as error:  # noqa: BLE001
        # The border that keeps a hostile reply from ending a run: show it, do nothing with it.
        # The text itself, and a message that may quote it, stay out of the log.
        _log.error("reply parser: %s on %d characters", type(error).__name__, len(text))
        return ParsedReply(text, text.strip(), warnings=(ReplyWarning("parser_failed"),))


def _parse(text: str) -> ParsedReply:
    converted = convert_json(text, needs_message=False)
    if converted is not None:
        return _checked_types(converted)
    inner = _without_outer_fence(text)
    if inner is not None:
        converted = convert_json(inner, needs_message=True)
        if converted is not None:
            return _checked_types(converted)
        opened = _parse_tagged(inner)
        # A fence around everything is packing only if the reply itself is inside.
        if opened[1]:
            note = ReplyWarning("fence_removed", "the whole reply was in a code fence")
            return replace(opened[0], warnings=(note, *opened[0].warnings))
    return _parse_tagged(text)[0]


def _parse_tagged(text: str) -> tuple[ParsedReply, bool]:
    unwrapped, notes = _without_wrapper(text)
    found = scan(unwrapped)
    collected = _Collected([*notes, *found.warnings])
    for segment in found.segments:
        collected.add(segment)
    return collected.reply(text), collected.has_message


class _Collected:
    def __init__(self, warnings: list[ReplyWarning]) -> None:
        self.has_message = False
        self._warnings = warnings
        self._thinking: list[str] = []
        self._messages: list[str] = []
        self._outside: list[str] = []
        self._must_show: list[str] = []
        self._hidden_chars = 0
        self._actions: list[Action] = []
        self._updates: list[ContentUpdate] = []

    def add(self, segment: Segment) -> None:
        if isinstance(segment, Text):
            self._add_text(segment.text, must_show=segment.must_show)
        elif segment.name == MESSAGE:
            self.has_message = True
            self._messages.append(segment.body.strip())
        elif segment.name == THINKING:
            self._thinking.append(segment.body.strip())
        elif segment.name == ACTION:
            self._add_action(segment)
        elif segment.name == CONTENT_UPDATE:
            self._add_update(segment)

    def reply(self, raw: str) -> ParsedReply:
        thinking = "\n\n".join(filter(None, self._thinking))
        message = "\n\n".join(filter(None, self._messages if self.has_message else self._outside))
        if self.has_message:
            if self._hidden_chars:
                self._warn("text_outside_tags", f"{self._hidden_chars} characters not shown")
            message = "\n\n".join(filter(None, [message, *self._must_show]))
        else:
            self._warn("no_message", "no message element; the text outside the others is shown")
        if not message and not self._actions and not self._updates:
            message = thinking or raw.strip()
        return ParsedReply(
            raw=raw,
            message=message,
            thinking=thinking or None,
            actions=tuple(self._actions),
            content_updates=tuple(self._updates),
            warnings=tuple(self._warnings),
        )

    def _add_text(self, text: str, *, must_show: bool) -> None:
        self._outside.append(text.strip())
        if must_show:
            self._must_show.append(text.strip())
        else:
            self._hidden_chars += len(text.strip())

    def _add_action(self, block: ReplyBlock) -> None:
        action = _read_action(block)
        if isinstance(action, Malformed):
            self._warn("malformed_action", action.reason, block.start)
            self._add_text(block.raw, must_show=True)
        else:
            self._actions.append(action)

    def _add_update(self, block: ReplyBlock) -> None:
        target = block.attributes.get("target", "").strip()
        if not target:
            self._warn("malformed_content_update", "it names no target", block.start)
            self._add_text(block.raw, must_show=True)
        else:
            self._updates.append(ContentUpdate(target, block.body.strip(), block.raw))

    def _warn(self, code: str, detail: str, position: int = 0) -> None:
        self._warnings.append(ReplyWarning(code, detail, position))


def _read_action(block: ReplyBlock) -> Action | Malformed:
    kind = block.attributes.get("type", "").strip()
    if not _TYPE.fullmatch(kind):
        return Malformed(f"{kind[:60]!r} is not the type of an action")
    if block.self_closing:
        own = {key: value for key, value in block.attributes.items() if key != "type"}
        return Action(kind, dict(own), block.raw)
    content = read_parameters(block.body)
    return content if isinstance(content, Malformed) else Action(kind, content, block.raw)


def _without_outer_fence(text: str) -> str | None:
    stripped = text.strip()
    if not stripped.startswith(("```", "~~~")):
        return None
    code = CodeMap(stripped)
    if not code.opens_fence(0):
        return None
    body_start = code.fence_body(0)
    end = code.fence_end(0)
    if end is None:
        return stripped[body_start:]
    if end != len(stripped):
        return None
    return stripped[body_start : stripped.rfind("\n")]


def _without_wrapper(text: str) -> tuple[str, list[ReplyWarning]]:
    stripped = text.strip()
    tag = read_tag(stripped, 0) if stripped.startswith("<") else None
    if tag is None or tag.name.lower() not in _WRAPPERS or tag.self_closing:
        return text, []
    closing = f"</{tag.name}>"
    if stripped[-len(closing) :].lower() != closing.lower():
        return text, []
    note = ReplyWarning("wrapper_removed", f"the whole reply was in <{tag.name}>")
    return stripped[tag.end : -len(closing)], [note]


def _checked_types(reply: ParsedReply) -> ParsedReply:
    good = tuple(action for action in reply.actions if _TYPE.fullmatch(action.type))
    bad = len(reply.actions) - len(good)
    warnings = (ReplyWarning("malformed_action", "a JSON action has no usable type"),) * bad
    return replace(reply, actions=good, warnings=(*reply.warnings, *warnings))


def _apply_schemas(reply: ParsedReply, schemas: Schemas) -> ParsedReply:
    by_folded = {_folded(name): name for name in schemas}
    actions: list[Action] = []
    warnings: list[ReplyWarning] = []
    for action in reply.actions:
        name = action.type if action.type in schemas else by_folded.get(_folded(action.type))
        if name is None:
            actions.append(action)
            continue
        content, problems = coerce(action.content, schemas[name])
        actions.append(Action(name, content, action.raw))
        warnings.extend(ReplyWarning("not_coerced", f"{name}.{each}") for each in problems)
    return replace(reply, actions=tuple(actions), warnings=(*reply.warnings, *warnings))


def _folded(name: str) -> str:
    return name.lower().replace("-", "_")
