"""The one top-level scanner: which parts of a reply are blocks, and which are only text.

One pass, linear in the length of the reply. A tag counts only at top level: inside another block,
inside any other element, inside code, a comment or a sentence it is text. When in doubt it is text.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from callboard.replies.code import FENCE_START, CodeMap, Tag, read_closing_tag, read_tag
from callboard.replies.reply import ReplyWarning

THINKING: Final = "thinking"
MESSAGE: Final = "message"
ACTION: Final = "action"
CONTENT_UPDATE: Final = "content_update"

_BLOCKS: Final[Mapping[str, str]] = {
    "thinking": THINKING,
    "think": THINKING,
    "message": MESSAGE,
    "action": ACTION,
    "content_update": CONTENT_UPDATE,
}
_MAX_WARNINGS: Final = 100
_EFFECTS: Final = frozenset({ACTION, CONTENT_UPDATE})
_CODE: Final = rf"(?P<fence>{FENCE_START})|(?P<ticks>`+)|(?P<cdata><!\[CDATA\[)"
_TOP: Final = re.compile(
    _CODE + r"|(?P<comment><!--)|(?P<close></[A-Za-z_])|(?P<open><[A-Za-z_])", re.MULTILINE
)
_INSIDE: Final[Mapping[str, re.Pattern[str]]] = {
    name: re.compile(
        rf"{_CODE}|(?P<close></(?:{words})(?=[\s>]))|(?P<open><(?:{words})(?=[\s/>]))",
        re.MULTILINE | re.IGNORECASE | re.ASCII,
    )
    for name, words in {
        THINKING: "thinking|think",
        MESSAGE: "message",
        ACTION: "action",
        CONTENT_UPDATE: "content[_-]update",
    }.items()
}
_CLOSING_NAME: Final = re.compile(r"</([A-Za-z_][A-Za-z0-9_.-]*)")
_ANY_NAME: Final = re.compile(r"<(/?)([A-Za-z_][A-Za-z0-9_.-]*)")


@dataclass(frozen=True, slots=True)
class ReplyBlock:
    """A recognised element at top level."""

    name: str
    attributes: Mapping[str, str]
    body: str
    raw: str
    start: int
    is_closed: bool = True
    self_closing: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """What is not a block; `must_show` marks text that was meant as something else."""

    text: str
    must_show: bool = False


Segment = ReplyBlock | Text


@dataclass(frozen=True, slots=True)
class Scan:
    """A reply cut into blocks and text, in order."""

    segments: tuple[Segment, ...]
    warnings: tuple[ReplyWarning, ...]


def scan(text: str) -> Scan:
    """Cut a reply into its top-level blocks and the text between them."""
    scanner = _Scanner(text)
    scanner.run()
    return Scan(tuple(scanner.segments), tuple(scanner.warnings))


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.segments: list[Segment] = []
        self.warnings: list[ReplyWarning] = []
        self._code = CodeMap(text)
        self._last_close = {m[1].lower(): m.start() for m in _CLOSING_NAME.finditer(text)}
        self._text_start = 0
        self._last_cdata_end = text.rfind("]]>")
        self._has_thinking = False
        # Whether the current line is blank from its start, or from the last block, to this place.
        self._seen_to = 0
        self._line_is_blank = True
        self._effects_allowed = True  # an action that never ends takes this away for good
        self._steps: Mapping[str, Callable[[int, int], int]] = {
            "fence": self._on_fence,
            "ticks": self._on_ticks,
            "cdata": lambda _, end: self._past("]]>", end),
            "comment": lambda _, end: self._past("-->", end),
            "close": self._on_close,
            "open": self._on_open,
        }

    def run(self) -> None:
        position = 0
        while (match := _TOP.search(self.text, position)) is not None:
            position = self._steps[match.lastgroup or ""](match.start(), match.end())
        self._flush(len(self.text))

    def _on_fence(self, start: int, end: int) -> int:
        if self._code.opens_fence(start):
            return self._code.fence_end(start) or len(self.text)
        ticks = self.text.find("`", start)
        return self._on_ticks(ticks, end)

    def _on_ticks(self, start: int, end: int) -> int:
        return self._code.span_end(start, end - start, one_line=False) or end

    def _past(self, mark: str, start: int) -> int:
        end = self.text.find(mark, start)
        return len(self.text) if end < 0 else end + len(mark)

    def _on_close(self, start: int, end: int) -> int:
        closing = read_closing_tag(self.text, start)
        name = _block_name(closing[0]) if closing else None
        if closing is None or name is None:
            return end
        if name == THINKING and not self._has_thinking:
            self._adopt_thinking(start, closing[1])
            return closing[1]
        self._warn("stray_closing_tag", f"</{closing[0]}> closes nothing", start)
        self._flush(start)
        self._text_start = closing[1]
        return closing[1]

    def _adopt_thinking(self, start: int, end: int) -> None:
        # Some chat templates open the thinking block themselves, so the reply only closes it.
        # Everything before was thought, not said: whatever it held is taken back.
        self._warn("missing_opening_tag", "thinking was closed but never opened", start)
        self.segments = [ReplyBlock(THINKING, {}, self.text[:start], self.text[:end], 0)]
        self._effects_allowed = self._has_thinking = True
        self._text_start = end
        self._start_blank_line(end)

    def _on_open(self, start: int, end: int) -> int:
        tag = read_tag(self.text, start)
        if tag is None:
            return self._on_broken_tag(start, end)
        name = _block_name(tag.name)
        if name is None:
            return tag.end if tag.self_closing else self._skip_element(tag)
        if name in _EFFECTS and not (self._effects_allowed and self._at_line_start(start)):
            return self._keep_as_text(name, tag, start)
        return self._on_block(name, tag, start)

    def _on_block(self, name: str, tag: Tag, start: int) -> int:
        found = (tag.end, tag.end) if tag.self_closing else self._find_end(name, tag.end)
        if found is None:
            return self._on_unclosed(name, tag, start)
        body_end, end = found
        self._add(name, tag, start, body_end, end)
        return end

    def _on_unclosed(self, name: str, tag: Tag, start: int) -> int:
        self._warn("unclosed_tag", f"<{tag.name}> is never closed", start)
        if name == ACTION:
            self._lose_effects(start)
            return tag.end
        end = len(self.text)
        if self._at_line_start(start):
            self._add(name, tag, start, end, end, is_closed=False)
        return end

    def _on_broken_tag(self, start: int, end: int) -> int:
        name = re.match(r"[A-Za-z_-]+", self.text[start + 1 : start + 30])
        if name and _block_name(name[0]) in _EFFECTS:
            self._warn("malformed_tag", f"<{name[0]} is not a complete tag", start)
            self._lose_effects(start)
        return end

    def _keep_as_text(self, name: str, tag: Tag, start: int) -> int:
        if not self._effects_allowed:
            return tag.end
        self._warn("tag_in_text", f"<{tag.name}> inside a line of text is text", start)
        if tag.self_closing:
            return tag.end
        found = self._find_end(name, tag.end)
        if found is None:
            self._lose_effects(start)
            return tag.end
        return found[1]

    def _lose_effects(self, start: int) -> None:
        self._flush(start)
        self._effects_allowed = False

    def _find_end(self, name: str, position: int) -> tuple[int, int] | None:
        depth = 1
        pattern = _INSIDE[name]
        while (match := pattern.search(self.text, position)) is not None:
            start, position = match.span()
            if match.lastgroup == "open":
                tag = read_tag(self.text, start)
                if tag is not None:
                    depth += not tag.self_closing
                    position = tag.end
            elif match.lastgroup == "close":
                closing = read_closing_tag(self.text, start)
                if closing is not None:
                    depth -= 1
                    position = closing[1]
                    if depth == 0:
                        return start, position
            else:
                position = self._past_code_inside(match)
        return None

    def _past_code_inside(self, match: re.Match[str]) -> int:
        # Inside a block, code that is never closed is not code, or a forgotten fence would hide
        # the end of the block.
        start, end = match.span()
        if match.lastgroup == "cdata":
            return self._past("]]>", start) if self._last_cdata_end > start else end
        if match.lastgroup == "fence":
            if self._code.opens_fence(start):
                return self._code.fence_end(start) or end
            start = self.text.find("`", start)
        return self._code.span_end(start, end - start, one_line=True) or end

    def _skip_element(self, tag: Tag) -> int:
        """Go past another element, so that nothing in it counts; an unclosed one is just a word."""
        name = tag.name.lower()
        last = self._last_close.get(name, -1)
        if last < tag.end:
            return tag.end
        end = last + len(name) + 2
        depth = 1
        for match in _ANY_NAME.finditer(self.text, tag.end, end):
            if match[2].lower() != name:
                continue
            inner = None if match[1] else read_tag(self.text, match.start())
            depth += -1 if match[1] else int(inner is not None and not inner.self_closing)
            if depth == 0:
                end = match.end()
                break
        if any(_block_name(m[1]) for m in _CLOSING_NAME.finditer(self.text, tag.end, end)):
            self._warn("nested_tag", f"tags inside <{tag.name}> are text", tag.end)
        return end

    def _at_line_start(self, start: int) -> bool:
        passed = self.text[self._seen_to : start]
        newline = passed.rfind("\n")
        was_blank = self._line_is_blank or newline >= 0
        self._line_is_blank = was_blank and not passed[newline + 1 :].strip()
        self._seen_to = start
        return self._line_is_blank

    def _start_blank_line(self, position: int) -> None:
        self._seen_to, self._line_is_blank = position, True

    def _add(
        self, name: str, tag: Tag, start: int, body_end: int, end: int, *, is_closed: bool = True
    ) -> None:
        self._flush(start)
        body, raw = self.text[tag.end : body_end], self.text[start:end]
        self.segments.append(
            ReplyBlock(name, tag.attributes, body, raw, start, is_closed, tag.self_closing)
        )
        self._has_thinking = self._has_thinking or name == THINKING
        self._text_start = end
        self._start_blank_line(end)

    def _flush(self, end: int) -> None:
        if self.text[self._text_start : end].strip():
            text = self.text[self._text_start : end]
            self.segments.append(Text(text, must_show=not self._effects_allowed))
        self._text_start = end

    def _warn(self, code: str, detail: str, position: int) -> None:
        if len(self.warnings) < _MAX_WARNINGS:
            self.warnings.append(ReplyWarning(code, detail, position))


def _block_name(name: str) -> str | None:
    return _BLOCKS.get(name.lower().replace("-", "_"))
