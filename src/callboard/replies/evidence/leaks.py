"""What must not stand in a reply: reasoning aloud before it, and calls of tools inside it."""

import re
from collections.abc import Collection
from typing import Final

_PREFACES: Final = re.compile(
    r"[\s>*_#-]*(?:"
    r"let(?:['\u2019]s| us| me) "
    r"(?:think|reason|work (?:this|it) (?:out|through)|break (?:this|it) down)"
    r"|(?:okay|ok|alright|all right|hmm+|so)\b[,.…: ]*(?:so[, ]+)?"
    r"(?:let me|let['\u2019]s|i need to|i should|i have to|the user|we need to|first[, ])"
    r"|the user (?:wants|is asking|asks|asked|needs|says|has asked)\b"
    r"|(?:first,? )?(?:i|we) (?:need to|should|have to|must) "
    r"(?:think|figure out|understand|respond|answer|produce|reply|analy[sz]e)\b"
    r"|(?:my )?(?:thinking|thoughts?|thought process|reasoning|chain of thought|scratchpad)"
    r"[*_]*\s*[:\n]"
    r"|<(?:reasoning|scratchpad|analysis|reflection|thought)s?>"
    r")",
    re.IGNORECASE,
)
_TAGS: Final = re.compile(r"<(?:tool_call|tool_use|function_calls?|invoke)\b", re.IGNORECASE)
_TOOL_KEY: Final = re.compile(
    r'"(?P<key>tool|tool_id|tool_name|function|name|action)"\s*:\s*"(?P<value>[^"\n]{1,80})"'
)
_ARGS_KEY: Final = re.compile(r'"(?:args|arguments|parameters|input|nonce)"\s*:')
_ARGUMENTS: Final = r"\s*(?:\)|[\"'{\[]|[a-z_]\w*\s*[=:])"
_NEAR_CHARS: Final = 600


def thinks_aloud(body: str) -> bool:
    """Say whether a reply opens with reasoning that was not meant for its reader."""
    return _PREFACES.match(body) is not None


def tool_call_in(body: str, tool_ids: Collection[str]) -> str | None:
    """Return a call of a tool that is written out in a reply, or None."""
    tag = _TAGS.search(body)
    if tag is not None:
        return tag[0]
    return _written_call(body, tool_ids) or _json_call(body, tool_ids)


def _written_call(body: str, tool_ids: Collection[str]) -> str | None:
    for tool_id in sorted(tool_ids):
        if tool_id not in body:
            continue
        # A name of several words is nobody's prose; a single word may well stand before a bracket.
        arguments = "" if "_" in tool_id else _ARGUMENTS
        found = re.search(rf"(?<![\w./-]){re.escape(tool_id)}\({arguments}", body)
        if found is not None:
            return f"{tool_id}(…)"
    return None


def _json_call(body: str, tool_ids: Collection[str]) -> str | None:
    for found in _TOOL_KEY.finditer(body):
        is_call = found["key"].startswith("tool") or (
            found["key"] == "action" and found["value"] == "tool"
        )
        if not is_call and found["value"] not in tool_ids:
            continue
        near = body[max(0, found.start() - _NEAR_CHARS) : found.end() + _NEAR_CHARS]
        if "{" in near and _ARGS_KEY.search(near):
            return found[0]
    return None
