"""Look for regular expressions in `src` whose time grows faster than the text they read.

Finds every `re.…(…)` call of the sources and every compiled expression a module holds, makes up
texts that are likely to hurt each of them (from its own parts and from a common list), and
compares the processor time of a text with that of one four times as long. A linear expression
takes four times as long, a quadratic one sixteen.

    python tools/pattern_growth.py [--chars 1200] [--only part.of.module]
"""

import argparse
import ast
import importlib
import pkgutil
import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from re import _constants as sre  # pyright: ignore[reportAttributeAccessIssue]
from re import _parser as parser  # pyright: ignore[reportAttributeAccessIssue]
from typing import Any

import callboard

SOURCES = Path(callboard.__file__).parent
CHARS = 800
# Faster than this per character at the first size, nothing quadratic can be hidden in it.
_QUICK_SECONDS = 0.000_000_15
GROWTH = 8.0
# What no linear expression needs for the first size.
_TOO_LONG_SECONDS = 0.05
_CALLS = {"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
_WHOLE = {"match", "fullmatch"}
_PUMPS = (
    *" \n\t\u200b\u2014\u00e9aA1.,'\"\u201c([{<-#*_`:=/\\",
    *(" \n", "\r\n", "\n\n", "Ab ", "ab ", "a b c, ", "1 ", "1,", "1.", "1/", ". ", ", ", "a, "),
    *(
        "\u201c\u201d",
        "()",
        "[[",
        "--",
        "- ",
        "# ",
        "> ",
        "| ",
        "* ",
        "a:",
        "a: ",
        ": ",
        "a/",
        "e\u0301",
    ),
    *("and ", "the ", "her eyes were green and ", "a\n", "- a\n", "1. a\n", "| a |\n", "# A\n"),
    *("---\n", "```\n"),
)
# What hardly any expression can end with.
_END = "\x00"


@dataclass(frozen=True, slots=True)
class Found:
    """An expression of the sources, where it stands, and whether it is only tried at the start."""

    place: str
    pattern: str
    flags: int
    is_anchored: bool


@dataclass(frozen=True, slots=True)
class Slow:
    """An expression that grows too fast, and the text that shows it."""

    found: Found
    text: str
    seconds: float
    growth: float


# --- what there is -------------------------------------------------------------------------


def modules() -> Iterator[str]:
    """Go through the names of all modules of the sources."""
    for info in pkgutil.walk_packages([str(SOURCES)], "callboard."):
        if not info.name.endswith("__main__") and ".migrations" not in info.name:
            yield info.name


def expressions(only: str = "") -> tuple[list[Found], list[str]]:
    """Return all expressions, and the places where one is made of what only a run knows."""
    found: dict[tuple[str, int, bool], Found] = {}
    unknown: list[str] = []
    uses = _uses()
    for name in modules():
        if only and only not in name:
            continue
        module = importlib.import_module(name)
        file = getattr(module, "__file__", None)
        if file is None:
            continue
        for each in _held(name, vars(module), uses):
            found.setdefault((each.pattern, each.flags, each.is_anchored), each)
        for each in _called(name, Path(file), vars(module), uses):
            if isinstance(each, str):
                unknown.append(each)
            else:
                found.setdefault((each.pattern, each.flags, each.is_anchored), each)
    return list(found.values()), unknown


def _uses() -> Mapping[str, set[str]]:
    """Return for each name how it is used: `module:NAME` for private ones, `NAME` for public."""
    uses: defaultdict[str, set[str]] = defaultdict(set)
    used = re.compile(rf"(?<![\w.])(\w+)\.({'|'.join(_CALLS)})\b(\([^()\n]*,)?")
    for file in SOURCES.rglob("*.py"):
        text = file.read_text()
        for match in used.finditer(text):
            how = match[2]
            if how == "match" and match[3]:
                how = "scan"  # With a place to start from: called again and again.
            uses[f"{file}:{match[1]}"].add(how)
            uses[match[1]].add(how)
        # Named without a method: handed on, nobody knows to whom.
        for match in re.finditer(r"(?<![\w.])(_?[A-Z][A-Z_0-9]*)\b(?!\s*[.:=]|\w)", text):
            uses[f"{file}:{match[1]}"].add("handed")
    return uses


def _is_anchored(file: str, name: str, uses: Mapping[str, set[str]]) -> bool:
    known = uses.get(f"{file}:{name}" if name.startswith("_") else name, set())
    return bool(known) and known <= _WHOLE


def _held(name: str, held: Mapping[str, Any], uses: Mapping[str, set[str]]) -> Iterator[Found]:
    for key, value in held.items():
        for pattern in _inside(value, 3):
            if isinstance(pattern.pattern, str) and getattr(value, "__module__", name) == name:
                anchored = value is pattern and _is_anchored(str(held.get("__file__")), key, uses)
                yield Found(f"{name}:{key}", pattern.pattern, pattern.flags, anchored)


def _inside(value: Any, depth: int) -> Iterator["re.Pattern[Any]"]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, tuple | list | set | frozenset):
        for each in value:
            yield from _inside(each, depth - 1)
    elif depth and isinstance(value, Mapping):
        for key, each in value.items():
            yield from _inside(key, depth - 1)
            yield from _inside(each, depth - 1)
    elif depth and is_dataclass(value) and not isinstance(value, type):
        for each in fields(value):
            yield from _inside(getattr(value, each.name, None), depth - 1)


def _called(
    name: str, file: Path, held: Mapping[str, Any], uses: Mapping[str, set[str]]
) -> Iterator[Found | str]:
    tree = ast.parse(file.read_text())
    named: dict[int, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target: ast.expr | None = node.targets[0]
        else:
            target = node.target if isinstance(node, ast.AnnAssign) else None
        if isinstance(target, ast.Name):
            named[id(node.value)] = target.id
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        owner = node.func.value
        if not (isinstance(owner, ast.Name) and owner.id == "re" and node.func.attr in _CALLS):
            continue
        place = f"{name}:{named.get(id(node), node.lineno)}"
        pattern = _value(node.args[0], held) if node.args else None
        if not isinstance(pattern, str):
            yield place
            continue
        flags = _flags(node, held)
        if node.func.attr == "compile":
            variable = named.get(id(node), "")
            anchored = bool(variable) and _is_anchored(str(file), variable, uses)
        else:
            anchored = node.func.attr in _WHOLE
        try:
            yield Found(place, pattern, re.compile(pattern, flags).flags, anchored)
        except re.error:
            yield place


def _flags(node: ast.Call, held: Mapping[str, Any]) -> int:
    given = [each.value for each in node.keywords if each.arg == "flags"]
    given += node.args[1:] if node.func.attr == "compile" else node.args[2:]
    for each in given:
        try:
            value = eval(compile(ast.Expression(each), "", "eval"), dict(held))  # noqa: S307
        except Exception:  # noqa: BLE001, S112
            continue
        if isinstance(value, re.RegexFlag):
            return int(value)
    return 0


def _value(node: ast.expr, held: Mapping[str, Any]) -> Any:
    """Return what an expression makes, with a word in place of what only a run knows."""

    class Known(ast.NodeTransformer):
        def visit_FormattedValue(self, part: ast.FormattedValue) -> ast.expr:
            try:
                eval(compile(ast.Expression(part.value), "", "eval"), dict(held))  # noqa: S307
            except Exception:  # noqa: BLE001
                return ast.copy_location(ast.Constant("Xy"), part)
            return part

    try:
        made = ast.fix_missing_locations(Known().visit(ast.parse(ast.unparse(node), mode="eval")))
        value = eval(compile(made, "", "eval"), dict(held))  # noqa: S307
        return value.decode("latin-1") if isinstance(value, bytes) else value
    except Exception:  # noqa: BLE001
        return None


# --- texts that hurt -----------------------------------------------------------------------


def texts(pattern: str, flags: int) -> Iterator[tuple[str, str]]:
    """Go through what comes first and what is repeated after it."""
    seen: set[tuple[str, str]] = set()
    for before, pump in (*_own(pattern, flags), *(("", pump) for pump in _PUMPS)):
        if pump and (before, pump) not in seen:
            seen.add((before, pump))
            yield before, pump


def _own(pattern: str, flags: int) -> Iterator[tuple[str, str]]:
    tree = parser.parse(pattern, flags & ~re.DEBUG)
    alphabet = sorted({char for each in _sets(tree) for char in each})[:40]
    for before, body in _repeats(tree, ""):
        pumps = {"".join(_sample(body, 0)), "".join(_sample(body, 1)), "".join(_sample(body, 2))}
        for pump in pumps:
            yield before, pump
            yield "", before + pump
            yield "", pump + " "
            yield "", pump + "\n"
    whole = _sample(tree, 0)
    yield "", whole
    yield "", whole[:-1]
    yield "", whole + " "
    for char in alphabet:
        yield "", char
        yield whole[:1], char


def _sets(tree: Iterable[Any]) -> Iterator[list[str]]:
    for op, value in tree:
        if op is sre.LITERAL:
            yield [chr(value)]
        elif op is sre.IN:
            yield _members(value)
        else:
            for part in _parts(op, value):
                yield from _sets(part)


def _parts(op: Any, value: Any) -> list[Any]:
    if op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        return [value[2]]
    if op is sre.SUBPATTERN:
        return [value[3]]
    if op is sre.BRANCH:
        return list(value[1])
    if op is sre.ATOMIC_GROUP:
        return [value]
    if op in (sre.ASSERT, sre.ASSERT_NOT):
        return [value[1]]
    if op is sre.GROUPREF_EXISTS:
        return [each for each in value[1:] if each is not None]
    return []


def _repeats(tree: Any, before: str) -> Iterator[tuple[str, Any]]:
    """Go through the repetitions without a near end, each with what stands before it."""
    for op, value in tree:
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT) and value[1] > 20:
            yield before, value[2]
        for part in _parts(op, value):
            yield from _repeats(part, before)
        before += _sample([(op, value)], 0)


_CATEGORIES = {
    sre.CATEGORY_DIGIT: "17",
    sre.CATEGORY_NOT_DIGIT: "a ",
    sre.CATEGORY_SPACE: " \n\t",
    sre.CATEGORY_NOT_SPACE: "a,",
    sre.CATEGORY_WORD: "a1_",
    sre.CATEGORY_NOT_WORD: " ,.",
}


def _members(items: Any) -> list[str]:
    negated = bool(items) and items[0][0] is sre.NEGATE
    members: list[str] = []
    for op, value in items:
        if op is sre.LITERAL:
            members.append(chr(value))
        elif op is sre.RANGE:
            members += [chr(value[0]), chr(value[1])]
        elif op is sre.CATEGORY:
            members += _CATEGORIES[value]
    if not negated:
        return members
    return [char for char in 'a ,1\n"(#' if char not in members][:3] or ["~"]


def _sample(tree: Any, variant: int) -> str:
    """Return a text a part of an expression may match."""
    made: list[str] = []
    for op, value in tree:
        if op is sre.LITERAL:
            made.append(chr(value))
        elif op is sre.NOT_LITERAL:
            made.append("a" if value != ord("a") else "b")
        elif op is sre.ANY:
            made.append(("a", " ", ",")[variant % 3])
        elif op is sre.IN:
            members = _members(value)
            made.append(members[variant % len(members)] if members else "")
        elif op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            made.append(_sample(value[2], variant) * min(max(value[0], 1), 3))
        elif op is sre.BRANCH:
            made.append(_sample(value[1][variant % len(value[1])], variant))
        elif op in (sre.SUBPATTERN, sre.ATOMIC_GROUP):
            made.append(_sample(value[3] if op is sre.SUBPATTERN else value, variant))
    return "".join(made)


# --- measuring -----------------------------------------------------------------------------


def slowest(found: Found, chars: int = CHARS) -> Slow | None:
    """Return the first text on which an expression grows too fast, or None."""
    pattern = re.compile(found.pattern, found.flags)

    def run(text: str) -> object:
        if found.is_anchored:
            return pattern.match(text), pattern.fullmatch(text)
        return sum(1 for _ in pattern.finditer(text))

    for before, pump in texts(found.pattern, found.flags):

        def make(size: int, before: str = before, pump: str = pump) -> str:
            return before + pump * max(size // len(pump), 2) + _END

        slow = _growth(run, make, chars)
        if slow is not None:
            return Slow(found, f"{before!r} + {pump!r} * n", *slow)
    return None


def _growth(
    run: Callable[[str], object], make: Callable[[int], str], chars: int
) -> tuple[float, float] | None:
    # Short ones first: an exponential expression would never come back from a long one.
    few = 20
    while few < chars:
        if (took := _seconds(run, make(few))) > _TOO_LONG_SECONDS:
            return took, float("inf")
        few *= 3
    one, four = make(chars), make(4 * chars)
    first = _seconds(run, one)
    if first < _QUICK_SECONDS * chars or (second := _seconds(run, four)) < GROWTH * first:
        return None
    if second > _TOO_LONG_SECONDS and second > 3 * GROWTH * first:
        # No cache explains this: to measure it again would only take as long again.
        return second, second / first
    # Again, and the best of several: something else may have had the processor's caches.
    first = min(_seconds(run, one) for _ in range(4))
    second = min(_seconds(run, four) for _ in range(3))
    return (second, second / first) if second > GROWTH * first else None


def _seconds(run: Callable[[str], object], text: str) -> float:
    start = time.thread_time()
    run(text)
    return time.thread_time() - start


BOUNDED = {
    "choreography.small_models.forms:_LOOSE_END": "one line of at most a few dozen tokens",
    "choreography.turn.understanding.signals": "a message of at most 400 characters",
    "core.settings.quantities:_DURATION_PART": "used on what has matched as a whole",
    "packs.alfred.kitchen.recipes.lines": "one line of at most 2,000 characters, blanks folded",
    "packs.alfred.kitchen.recipes.reading.figures": "one such line",
    "packs.alfred.kitchen.router": "a message of at most 2,000 characters, gaps folded",
    "library.story.facts": "a sentence of at most 3,000 characters",
    "packs.writers_factory.memory.extraction:_SENTENCE_END": "40 characters",
    "packs.writers_factory.prose.checks": "tried at the end of one quotation",
    "replies.evidence.quotes": "a line of at most 8,000 characters, at 30 places",
    "replies.evidence.grammar": "a line of at most 8,000 characters, at 30 places",
    "replies.json_text:_CLOSER": "tried behind one comma",
}
"""Expressions that may grow, by the beginning of their place, and what bounds their text."""


def is_bounded(found: Found) -> bool:
    """Say whether something else bounds what an expression reads."""
    return found.place.removeprefix("callboard.").startswith(tuple(BOUNDED))


def main() -> int:
    """Print every expression that grows too fast."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--chars", type=int, default=CHARS)
    arguments.add_argument("--only", default="")
    given = arguments.parse_args()
    found, unknown = expressions(given.only)
    print(f"{len(found)} expressions; {len(unknown)} made of what only a run knows:", *unknown)
    slow = 0
    for each in found:
        worst = None if is_bounded(each) else slowest(each, given.chars)
        if worst is not None:
            slow += 1
            print(
                f"{each.place}{' (at the start)' if each.is_anchored else ''}\n"
                f"    {each.pattern[:300]!r}\n"
                f"    {worst.text}: {worst.seconds * 1000:.1f} ms, x{worst.growth:.1f}",
                flush=True,
            )
    print(f"{slow} grow too fast")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
