"""What is written about the settings is what the settings are."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from callboard.core.settings import Settings, json_schema
from callboard.core.settings.schema import key_text, values

ROOT = Path(__file__).parents[3]
TOOL = ROOT / "tools" / "settings_docs.py"


def check(docs: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOL), "--check", "--docs", str(docs)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_page_and_the_schema_are_up_to_date() -> None:
    result = check(ROOT / "docs")
    assert result.returncode == 0, result.stdout


def test_a_page_that_lacks_a_key_is_found(tmp_path: Path) -> None:
    for name in ("settings.md", "config.schema.json"):
        text = (ROOT / "docs" / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text, encoding="utf-8")
    page = tmp_path / "settings.md"
    page.write_text(re.sub(r"\n\| `log.level`.*", "", page.read_text(encoding="utf-8")))
    result = check(tmp_path)
    assert result.returncode == 1
    assert "settings.md is out of date" in result.stdout


def test_every_key_has_a_meaning_and_stands_on_the_page() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    keys = list(values())
    assert len(keys) > 30
    for key, node in keys:
        assert node.info is not None
        assert node.info.description
        assert f"| `{key_text(key)}` |" in page


def test_the_example_in_the_page_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert result.stdout.split("\n")[:2] == ["debug", "flags"]


@pytest.mark.req("TOOL-74")
def test_the_schema_describes_every_key_and_refuses_others() -> None:
    schema = json.loads((ROOT / "docs" / "config.schema.json").read_text(encoding="utf-8"))
    assert schema == json.loads(json.dumps(json_schema()))
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == set(Settings.model_fields)
    for definition in schema["$defs"].values():
        for field in definition.get("properties", {}).values():
            assert field.get("description"), field


@pytest.mark.req("TOOL-74")
def test_the_schema_accepts_texts_for_durations_and_sizes() -> None:
    definitions: dict[str, Any] = json_schema()["$defs"]
    timeout = definitions["ModelsSettings"]["properties"]["timeout_seconds"]
    size = definitions["ToolsSettings"]["properties"]["max_output_bytes"]
    for field, good, bad in ((timeout, "1h30m", "soon"), (size, "10MB", "big")):
        pattern = next(each["pattern"] for each in field["anyOf"] if each["type"] == "string")
        assert re.search(pattern, good)
        assert not re.search(pattern, bad)
