"""Write the table of settings into docs/settings.md and the JSON Schema beside it.

python tools/settings_docs.py           writes both
python tools/settings_docs.py --check   fails when either is out of date
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from callboard.core.settings import Settings, json_schema
from callboard.core.settings.layers import get, has
from callboard.core.settings.quantities import format_bytes, format_seconds
from callboard.core.settings.schema import Key, SettingsNode, key_text, values

BEGIN = "<!-- settings: begin, written by tools/settings_docs.py -->"
END = "<!-- settings: end -->"


def table() -> str:
    """Return all keys as a Markdown table."""
    lines = ["| key | default | meaning |", "|---|---|---|"]
    lines += [_row(key, node) for key, node in values()]
    return "\n".join(lines)


def with_table(page: str) -> str:
    """Return a page whose marked part is the current table."""
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise SystemExit(f"The page must hold one {BEGIN} and one {END}.")
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def _row(key: Key, node: SettingsNode) -> str:
    meaning = (node.info.description or "") if node.info is not None else ""
    if node.restricted_because:
        meaning += " *Not taken from the project's file.*"
    if node.is_harmless:
        meaning += " *Taken from any project's file.*"
    return f"| `{key_text(key)}` | {_default(key, node)} | {meaning} |"


def _default(key: Key, node: SettingsNode) -> str:
    defaults = Settings().model_dump(mode="json")
    value = get(defaults, key) if has(defaults, key) else None
    if value is None:
        return ""
    if isinstance(value, list) and any(isinstance(each, str) for each in value):
        return f"{len(value)} patterns"
    return f"`{_text(key[-1], value)}`"


def _text(name: str, value: Any) -> str:
    if name.endswith("_seconds"):
        return format_seconds(value)
    if name.endswith("_bytes"):
        return format_bytes(value)
    return value if isinstance(value, str) else json.dumps(value)


def main(arguments: list[str]) -> int:
    """Write or check the generated files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--docs", type=Path, default=Path(__file__).parents[1] / "docs")
    options = parser.parse_args(arguments)
    page, schema = options.docs / "settings.md", options.docs / "config.schema.json"
    current = page.read_text(encoding="utf-8")
    wanted = {
        page: with_table(current),
        schema: json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n",
    }
    stale = [
        file
        for file, text in wanted.items()
        if not file.exists() or file.read_text(encoding="utf-8") != text
    ]
    if options.check:
        for file in stale:
            print(f"{file.name} is out of date; run: python tools/settings_docs.py")
        return 1 if stale else 0
    for file in stale:
        file.write_text(wanted[file], encoding="utf-8")
        print(f"wrote {file.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
