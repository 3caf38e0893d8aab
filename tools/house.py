"""Counts what a house with many packs grows too much of, and fails when a count gets worse.

The counts are compared with `tools/house.json`. `--write` lowers what has become better; a number
is raised by hand only, where everybody who reads the change sees it. Shapes are counted in the
whole house; how large it is, room by room and pack by pack. A new pack adds lines of its own, by
`--write`; a room that is there cannot grow unseen.
"""

import argparse
import ast
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "callboard"
BASELINE = ROOT / "tools" / "house.json"
DOORS = ("api", "cli", "ui")
ROOMS = "rooms"
SIZES = ("modules", "folders", "lines")
# Of these every folder is a room of its own.
SHARED = ("packs", "library")
CLOSED = "additionalProperties"
LONG_LINES = 300
ROUND_LINES = 100
ALIKE_FIELDS = 4
ALIKE_SHARE = 0.6


@dataclass(frozen=True)
class Module:
    """One file of source, read once."""

    path: Path
    text: str
    lines: int
    tree: ast.Module


@dataclass(frozen=True)
class Class:
    """A class and the names of its annotated fields."""

    name: str
    place: str
    fields: frozenset[str]


def read(source: Path) -> list[Module]:
    """Return every module below a folder."""
    modules: list[Module] = []
    for path in sorted(source.rglob("*.py")):
        text = path.read_text("utf-8")
        tree = ast.parse(text, str(path))
        modules.append(Module(path.relative_to(source), text, len(text.splitlines()), tree))
    return modules


def doors_knowing_packs(modules: list[Module], package: str) -> list[str]:
    """Name the modules of doors that import a pack, inside of functions too."""
    packs = f"{package}.packs"
    return [
        str(module.path)
        for module in modules
        if module.path.parts[0] in DOORS
        and any(f"{name}.".startswith(f"{packs}.") for name in _imported(module.tree))
    ]


def ambiguous_names(classes: list[Class]) -> list[str]:
    """Name the class names that mean something in two or more modules, with their places."""
    places: dict[str, set[str]] = defaultdict(set)
    for each in classes:
        places[each.name].add(each.place)
    return [
        f"{name}: {', '.join(sorted(at))}" for name, at in sorted(places.items()) if len(at) > 1
    ]


def alike(classes: list[Class]) -> list[str]:
    """Name the pairs of classes that have most of their fields in common."""
    shapes = [each for each in classes if len(each.fields) >= ALIKE_FIELDS]
    return [
        f"{one.place}:{one.name} and {two.place}:{two.name}"
        for one, two in combinations(shapes, 2)
        if len(one.fields & two.fields) >= ALIKE_FIELDS
        and len(one.fields & two.fields) >= ALIKE_SHARE * len(one.fields | two.fields)
    ]


def hand_schemas(modules: list[Module]) -> list[str]:
    """Name the dictionaries that close a JSON schema by hand."""
    return [
        f"{module.path}:{node.lineno}"
        for module in modules
        # Walking a tree costs more than all else here, so it is asked for first.
        if CLOSED in module.text
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Dict)
        and any(isinstance(key, ast.Constant) and key.value == CLOSED for key in node.keys)
    ]


def found(source: Path) -> dict[str, list[str]]:
    """Return what is counted, each thing by its place; the counts are the lengths."""
    modules = read(source)
    looked_at = {module.path.parts[0] for module in modules}
    missing = [door for door in DOORS if door not in looked_at]
    if missing:
        raise SystemExit(f"Nothing was looked at in {', '.join(missing)} of {source}: no module.")
    classes = [each for module in modules for each in _classes(module)]
    own = [module for module in modules if module.path.name != "__init__.py"]
    shapes = {
        "door modules importing a pack": doors_knowing_packs(modules, source.name),
        "class names with two meanings": ambiguous_names(classes),
        "near-identical class pairs": alike(classes),
        "hand-written JSON schemas": hand_schemas(modules),
        f"modules above {LONG_LINES} lines": [
            f"{module.path}: {module.lines}" for module in own if module.lines > LONG_LINES
        ],
    }
    return shapes | sizes(modules)


def sizes(modules: list[Module]) -> dict[str, list[str]]:
    """Return what each room is made of; a module is named once for each of its lines."""
    rooms: dict[str, list[Module]] = defaultdict(list)
    for module in modules:
        parts = module.path.parts
        depth = 2 if parts[0] in SHARED and len(parts) > 2 else 1
        rooms["/".join(parts[:depth]) if len(parts) > 1 else "."].append(module)
    made: dict[str, list[str]] = {}
    for room, held in sorted(rooms.items()):
        own = [each for each in held if each.path.name != "__init__.py"]
        made[f"modules in {room}"] = [str(each.path) for each in held]
        made[f"folders in {room}"] = sorted({str(each.path.parent) for each in own})
        made[f"lines in {room}"] = [str(each.path) for each in held for _ in range(each.lines)]
    return made


def flat(stored: dict[str, Any]) -> dict[str, int]:
    """Return a baseline with every number under the name it is counted by."""
    told = {name: count for name, count in stored.items() if name != ROOMS}
    for room, numbers in stored.get(ROOMS, {}).items():
        told |= {f"{size} in {room}": numbers[size] for size in SIZES}
    return told


def nested(counts: dict[str, int]) -> dict[str, Any]:
    """Return counts as the baseline is stored: sizes by room."""
    stored: dict[str, Any] = {}
    rooms: dict[str, dict[str, int]] = defaultdict(dict)
    for name, count in counts.items():
        size, is_of_room, room = name.partition(" in ")
        if is_of_room and size in SIZES:
            rooms[room][size] = _rounded(count) if size == "lines" else count
        else:
            stored[name] = count
    return {**stored, ROOMS: dict(rooms)}


def _rounded(lines: int) -> int:
    # A mend of a few lines is nobody's growth.
    return -(-lines // ROUND_LINES) * ROUND_LINES


def compare(
    counts: dict[str, int], baseline: dict[str, int], *, may_add: bool = False
) -> list[str]:
    """Say what has become worse, or is not known; `may_add` lets in rooms that are new."""
    problems = [
        f"{name}: {counts[name]:,}, was {most:,}"
        for name, most in baseline.items()
        if name in counts and counts[name] > most
    ]
    unknown = sorted(counts.keys() ^ baseline.keys())
    if may_add:
        known = {name.partition(" in ")[2] for name in baseline}
        unknown = [name for name in unknown if name.partition(" in ")[2] in known]
    return [*problems, *(f"{name}: not in both the counts and the baseline" for name in unknown)]


def main() -> int:
    """Print the counts beside the baseline; say by the exit code whether one is worse."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, default=SOURCE, help="the package to look at")
    parser.add_argument("--baseline", type=Path, default=BASELINE, help="the counts to keep below")
    parser.add_argument("--write", action="store_true", help="lower the baseline to the counts")
    parser.add_argument("--show", metavar="NAME", help="list the places that one count is made of")
    asked = parser.parse_args()
    places = found(asked.source)
    if asked.show is not None:
        if asked.show not in places:
            parser.error(f"nothing is counted as {asked.show!r}; there is: {', '.join(places)}")
        print("\n".join(places[asked.show]))
        return 0
    counts = {name: len(each) for name, each in places.items()}
    baseline = flat(json.loads(asked.baseline.read_text("utf-8")))
    for name, count in counts.items():
        print(f"{name:40} {count:>9,}  of at most {baseline.get(name, 0):>9,}")
    for size in SIZES:
        total = sum(count for name, count in counts.items() if name.startswith(f"{size} in "))
        print(f"{size + ' in all':40} {total:>9,}")
    problems = compare(counts, baseline, may_add=asked.write)
    if problems:
        print("The house has become worse:", *problems, sep="\n  ", file=sys.stderr)
        print(
            "See `tools/house.py --show NAME`. If it is worth it, raise the number in"
            f" {asked.baseline.name} by hand and say why in the commit.",
            file=sys.stderr,
        )
        return 1
    if asked.write:
        asked.baseline.write_text(json.dumps(nested(counts), indent=2) + "\n", "utf-8")
    return 0


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _classes(module: Module) -> Iterator[Class]:
    waiting: list[ast.stmt] = list(module.tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If):
            waiting += [*node.body, *node.orelse]
        if isinstance(node, ast.ClassDef):
            waiting += node.body
            yield Class(node.name, str(module.path), frozenset(_fields(node)))


def _fields(node: ast.ClassDef) -> Iterator[str]:
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            kind = ast.unparse(each.annotation)
            if not kind.startswith(("ClassVar", "Final")):
                yield each.target.id


if __name__ == "__main__":
    sys.exit(main())
