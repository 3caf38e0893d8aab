"""Writes the module table of `docs/architecture.md` from the files' own first sentences.

Told of are modules, folders of them (with a slash at the end), and data files that open with a
comment; prompts, samples and what has no comment are found beside who reads it.
"""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "callboard"
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- modules -->", "<!-- /modules -->"
LISTED = (".py", ".yaml", ".txt")
ROOMS = (
    "core", "store", "engine", "models", "prompts", "replies", "tools", "knowledge", "studio",
    "operations", "choreography", "testing", "library", "api", "ui", "cli", "packs",
)  # fmt: skip


def sentence(path: Path) -> str:
    """Return the first paragraph of a module's docstring on one line."""
    told = ast.get_docstring(ast.parse(path.read_text("utf-8")))
    if not told:
        raise SystemExit(f"{path} does not say what it owns: give it a docstring.")
    return " ".join(told.split("\n\n")[0].split())


def is_ours(path: Path) -> bool:
    """Say whether a file belongs to the house, and not to a sample in it."""
    return path.suffix == ".py" or "sample" not in path.parts


def comment(path: Path) -> str:
    """Return the first sentence of the comment a data file opens with; empty if it has none."""
    lines: list[str] = []
    for line in path.read_text("utf-8").splitlines():
        if not line.startswith("# "):
            break
        lines.append(line.removeprefix("# "))
    return re.split(r"(?<=[.:])\s", " ".join(lines), maxsplit=1)[0]


def row(folder: Path, path: Path) -> str:
    """Return the row of a file; empty for one that is not told of."""
    if path.name == "__init__.py":
        inner = path.parent != folder
        name = f"{path.parent.relative_to(folder).as_posix()}/" if inner else ""
        told = sentence(path) if inner else ""
    elif path.suffix == ".py":
        name, told = path.relative_to(folder).with_suffix("").as_posix(), sentence(path)
    else:
        name, told = path.relative_to(folder).as_posix(), comment(path)
    return f"| `{name}` | {told.replace('|', '/')} |" if told else ""


def render() -> str:
    """Return the tables, one per room from the bottom up."""
    built = {init.parent.name for init in SOURCE.glob("*/__init__.py")}
    if built != set(ROOMS):
        raise SystemExit(f"These rooms are not told of, or gone: {sorted(built ^ set(ROOMS))}")
    parts: list[str] = []
    for room in ROOMS:
        folder = SOURCE / room
        parts.append(f"### {room}\n\n{sentence(folder / '__init__.py')}\n")
        rows = ["| module | owns |", "|---|---|"]
        kept = [path for path in folder.rglob("*") if path.suffix in LISTED]
        rows += filter(None, (row(folder, path) for path in sorted(kept) if is_ours(path)))
        parts.append("\n".join(rows) + "\n")
    return "\n".join(parts)


def page() -> str:
    """Return the page with a fresh table."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{render()}\n{END}{after}"


def main() -> int:
    """Write the page, or with `--check` say whether it is up to date."""
    wanted = page()
    if "--check" in sys.argv[1:]:
        if wanted != PAGE.read_text("utf-8"):
            print("docs/architecture.md is out of date: run tools/architecture.py")
            return 1
        return 0
    PAGE.write_text(wanted, "utf-8")
    print("wrote architecture.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
