"""Markup: words with emphasis as Markdown that reads back as the same words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from callboard.core.canonical import compact_json
from callboard.library.binding.prose_tree import Node, blocks_of

# A star or stroke between spaces is none; a backslash escapes what follows it, a line's end too.
_MARKS: Final = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]|[ \t]*+(?:\n|$))|`|(?<!\s)\*|\*(?!\s)"
    r"|(?<![\w\s])_|_(?![\w\s])|(?<=\s)_(?=\w)|(?<=\w)_(?=\s)"
    r"|\[(?=\^)|\](?=\()|<(?=[A-Za-z][A-Za-z0-9+.-]{1,40}:|[^\s@]{1,200}@)|&(?=#?\w+;)"
)
_OPENINGS: Final = re.compile(r"(?m)^( *)(#{1,6}(?=\s|$)|>|[-+*](?=\s|$)|=+\s*$|-{2,}\s*$|~{3,})")
_COUNTED: Final = re.compile(r"(?m)^( *\d{1,9})([.)])(?=\s|$)")


@dataclass(frozen=True, slots=True)
class StyledWords:
    """Words that look alike; a reference to a footnote is taken as it is."""

    text: str
    is_bold: bool = False
    is_italic: bool = False
    is_note: bool = False


def markdown_of_runs(runs: Sequence[StyledWords]) -> tuple[str, bool]:
    """Return a paragraph as Markdown, and whether its emphasis had to be given up."""
    joined = _joined(runs)
    dressed = _finished("".join(_dressed(run) for run in joined))
    plain = _finished(
        "".join(_dressed(replace(run, is_bold=False, is_italic=False)) for run in joined)
    )
    if dressed == plain or _words(dressed) == _words(plain):
        return dressed, False
    return plain, True


def _joined(runs: Sequence[StyledWords]) -> list[StyledWords]:
    found: list[StyledWords] = []
    for run in runs:
        last = found[-1] if found else None
        # Emphasis of nothing but spaces is none, and joins what stands around it.
        look = (
            replace(run, is_bold=last.is_bold, is_italic=last.is_italic)
            if last and run.text.isspace()
            else run
        )
        if last is not None and not run.is_note and replace(look, text=last.text) == last:
            found[-1] = replace(last, text=last.text + run.text)
        elif run.text:
            found.append(run if not run.text.isspace() else StyledWords(run.text))
    return found


def _dressed(run: StyledWords) -> str:
    if run.is_note:
        return run.text
    mark = "*" * (run.is_italic + 2 * run.is_bold)
    inside = run.text.strip()
    if not mark or not inside:
        return _escaped(run.text)
    before = run.text[: len(run.text) - len(run.text.lstrip())]
    return f"{before}{mark}{_escaped(inside)}{mark}{run.text[len(run.text.rstrip()) :]}"


def _escaped(text: str) -> str:
    return _MARKS.sub(r"\\\g<0>", text)


def _finished(text: str) -> str:
    """Return a paragraph whose lines begin nothing but themselves, with breaks that hold."""
    lines = (" ".join(line.split(" ")).strip(" \t") for line in text.strip().split("\n"))
    whole = "\n".join(re.sub(r"[ \t]+", " ", line) for line in lines)
    whole = _COUNTED.sub(r"\1\\\2", _OPENINGS.sub(r"\1\\\2", whole))
    return re.sub(r"\n+", "\\\\\n", whole)


def _words(text: str) -> str:
    """Return the words a reader of Markdown sees, and the breaks between them."""
    return compact_json(_flat(blocks_of(text)))


def _flat(nodes: Sequence[Node]) -> str:
    told: list[str] = []
    for node in nodes:
        held = node.get("c")
        if node["t"] == "Str":
            told.append(str(held))
        elif node["t"] in ("Emph", "Strong", "Para", "BlockQuote"):
            told.append(_flat(held))  # type: ignore[arg-type]
        else:
            told.append(" ")
    return "".join(told)
