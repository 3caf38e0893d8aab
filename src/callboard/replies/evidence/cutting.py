"""A reply cut into what was said, its evidence lines, and what must not stand in it."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from callboard.replies.scanner import THINKING, ReplyBlock, scan

ABSTAIN: Final = "ABSTAIN"

_EVIDENCE: Final = re.compile(
    r"^[ \t>#+•-]*(?:[0-9]{1,3}[.)][ \t]+)?(?:\*[ \t]+)?[`*_]*"
    r"evidence[*_`]*[ \t]*[:\uff1a][ \t]*(?P<sources>.*)$",
    re.IGNORECASE,
)
_THINK_TAG: Final = re.compile(
    # Between backticks it is a name somebody mentions.
    r"(?<!`)</?think(?:ing)?\s*>|</?think(?:ing)?\s*>(?!`)",
    re.IGNORECASE,
)
_MANY_BLANK_LINES: Final = re.compile(r"\n{3,}")


@dataclass(frozen=True, slots=True)
class CutReply:
    """`body` is the reply as it is kept; `evidence` what follows each `Evidence:`."""

    body: str
    evidence: tuple[str, ...]
    leaks_thinking: bool = False

    @property
    def is_abstention(self) -> bool:
        """Whether the reply is the one word that says: not my field."""
        return not self.evidence and self.body.strip(" \t\r\n.*_`\"'").upper() == ABSTAIN


def cut_reply(text: str) -> CutReply:
    """Take thinking and evidence lines out of a reply."""
    said, leaks = _without_thinking(text)
    kept: list[str] = []
    evidence: list[str] = []
    for line in said.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        found = _EVIDENCE.match(line)
        if found is None:
            kept.append(line)
        else:
            evidence.append(_undressed(found["sources"]))
    body = "\n".join(kept)
    if evidence:
        body = _MANY_BLANK_LINES.sub("\n\n", body)
    return CutReply(body.strip(), tuple(evidence), leaks)


def _without_thinking(text: str) -> tuple[str, bool]:
    parts: list[str] = []
    place, leaks = 0, False
    for segment in scan(text).segments:
        if isinstance(segment, ReplyBlock) and segment.name == THINKING:
            parts.append(text[place : segment.start])
            place = segment.start + len(segment.raw)
            leaks = leaks or not segment.is_closed
    parts.append(text[place:])
    said = "".join(parts)
    while _THINK_TAG.search(said) is not None:
        # Whatever is left has no other half; the words stay, the leak is told.
        leaks, said = True, _THINK_TAG.sub("", said)
    return said, leaks


def _undressed(sources: str) -> str:
    """Drop what closes the emphasis of `**Evidence:**` or of the whole line."""
    stripped = sources.strip()
    while stripped[:2] in ("**", "__"):
        stripped = stripped[2:].strip()
    if stripped[:1] in ("*", "_") and stripped[1:2] in (" ", ""):
        stripped = stripped[1:].strip()
    return stripped


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
