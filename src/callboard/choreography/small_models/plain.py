"""Plain text for small models: findings without their apparatus, replies without their echoes.

What is taken away is for machines (ids, paths, line numbers, tags) or was never said (a repeated
prompt, a half sentence at the end). No word is added.
"""

import re
from typing import Final

_RECEIPT: Final = re.compile(r"^(?:receipt_id: \S+|\[\d+\] \w+ \{.*\})$")
_QUOTED: Final = re.compile(r"\S+\.(?:md|markdown|txt) L\d+(?:-\d+)? \"(.*)\"")
_LINE_NUMBER: Final = re.compile(r"(?:(?<![ \t])[ \t]++)?+\((?:[^()\s]++ )?L\d++(?:-\d++)?\)")
_FILE: Final = re.compile(r"(?<![\w.-])(?<![\w.-]/)(?:[\w.-]++/)+([\w-]++)\.(?:md|markdown|txt)\b")
_TAG: Final = re.compile(r"^(-[ \t]+)(?:\[\w+\]|Canon:|(?:FAIL|WARN) \w+:)[ \t]*")
_FINDING: Final = re.compile(r"^- \[\w+\]", re.MULTILINE)
_FACT: Final = re.compile(r"- (?:Canon|PASS)\b")
_SUGGESTION: Final = re.compile(r"(?:(?<![ \t])[ \t]++)?+Suggestion:.*$")
_HEADING_MARK: Final = re.compile(r"^#+[ \t]*")
_SECTION: Final = re.compile(r"^\S.*:$")
_ITEM: Final = re.compile(r"(?:-|\d+[.)])[ \t]")
_COUNTS: Final = re.compile(r"(?<!\d)\d++ (?:findings?|conflicts?|FAIL)\b")
_ENOUGH_LINES: Final = 3

_MARKUP: Final = re.compile(r"</?data\b[^>\n]*>?|</?untrusted\b[^>\n]{0,300}>")
_LEAD_IN: Final = re.compile(
    r"^(?:sure|certainly|of course|here (?:is|are)|here's|the (?:answer|text) is)\b[^\n:.!]*[:.!]",
    re.IGNORECASE,
)
_END: Final = re.compile(r"[.!?…][\"”’')*_]*(?=\s|$)")


def plain_findings(summary: str, limit_chars: int) -> str:
    """Return what a tool found in a few plain lines, as many as fit whole.

    The first part that says something is enough: tools put what matters most first.
    """
    kept: list[str] = []
    size = 0
    has_findings = _FINDING.search(summary) is not None
    for line in summary.splitlines():
        if has_findings and _FACT.match(line):
            # What is as it should be can wait.
            continue
        if _SECTION.match(line):
            if len(kept) >= _ENOUGH_LINES:
                break
            continue
        plain = _plain_line(line)
        if not plain or plain in kept:
            continue
        if len(kept) >= _ENOUGH_LINES and _is_item(kept[-1]) and not _is_item(plain):
            break
        if kept and size + len(plain) > limit_chars:
            break
        kept.append(plain[:limit_chars])
        size += len(plain) + 1
    is_list = any(line.startswith("- ") for line in kept[1:])
    # The first line counts what the list below it tells.
    return "\n".join(kept[1:] if is_list and _COUNTS.search(kept[0]) else kept)


def _is_item(line: str) -> bool:
    return _ITEM.match(line) is not None


def _plain_line(line: str) -> str:
    stripped = line.strip()
    is_quote_of_the_line_above = line.startswith(" ") and _QUOTED.match(stripped)
    if not stripped or is_quote_of_the_line_above:
        return ""
    if _RECEIPT.match(stripped):
        return ""
    if stripped.startswith(("- ", "* ")):
        quoted = _QUOTED.match(stripped[2:])
        if quoted is not None:
            # A finding that is nothing but a place in a text: the place is what it says.
            return _HEADING_MARK.sub("", quoted[1])
        stripped = f"- {stripped[2:]}"
    bare = _SUGGESTION.sub("", _LINE_NUMBER.sub("", _TAG.sub(r"\1", stripped)))
    return _FILE.sub(r"\1", bare).strip()


def clean_reply(text: str, shown: str) -> str:
    """Return what a small model said itself.

    Marks of the prompt, lines it only repeated, a lead-in and a last sentence it did not finish
    are left out; if nothing is left, the reply stands as it was.
    """
    known = {_folded(line) for line in shown.splitlines() if line.strip()}
    bare = _LEAD_IN.sub("", _MARKUP.sub("", text).strip())
    kept: list[str] = []
    said: set[str] = set()
    for line in bare.splitlines():
        folded = _folded(line)
        if folded and (folded in known or folded in said):
            continue
        said.add(folded)
        kept.append(line.rstrip())
    whole = _ended("\n".join(kept).strip())
    return re.sub(r"\n{3,}", "\n\n", whole) or text.strip()


def _folded(line: str) -> str:
    return re.sub(r"[\W_]+", " ", line).strip().lower()


def _ended(text: str) -> str:
    """Return a text up to the end of its last whole sentence; a list is left alone."""
    last = text.rpartition("\n")[2]
    if not text or last.lstrip().startswith(("-", "*", "Evidence", "Verdict")):
        return text
    ends = [match.end() for match in _END.finditer(text)]
    return text[: ends[-1]] if ends else text
