"""Writes the module table of `docs/architecture.md` from the modules' own first sentences."""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "callboard"
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- modules -->", "<!-- /modules -->"
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
        for path in sorted(folder.rglob("*.py")):
            if path.name == "__init__.py":
                continue
            name = path.relative_to(folder).with_suffix("").as_posix()
            rows.append(f"| `{name}` | {sentence(path).replace('|', '/')} |")
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
