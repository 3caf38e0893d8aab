"""Packs: known by their data, their code imported when it is needed, and only then."""

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from textwrap import dedent

import pytest

from callboard.models import Script
from callboard.studio.packs import PackInvalid, installed_packs, load_pack
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing.opening import open_scripted
from callboard.tools import InvalidTool

LISTING = """
import sys
from callboard.cli.main import main
code = main(["init", sys.argv[1], "--for", "alfred"])
code = code or main(["alfred", "list", "shopping_items", "--project", sys.argv[1]])
print(*sorted(sys.modules), sep="\\n", file=sys.stderr)
sys.exit(code)
"""
TOOLS = """
from callboard.tools import ToolArgs, ToolContext, ToolResult, tool

class Nothing(ToolArgs):
    pass

@tool()
def wave(context: ToolContext, args: Nothing) -> ToolResult:
    "Wave."
    return ToolResult({{}}, "waved")

bow = wave
curtsy = "no tool at all"
{more}
"""


def write_pack(root: Path, *tools: str, more: str = "", name: str = "gestures") -> Path:
    root.mkdir(exist_ok=True)
    (root / "gestures.py").write_text(TOOLS.format(more=more))
    listed = "".join(f"  - gestures.py:{each}\n" for each in tools)
    (root / "pack.yaml").write_text(f"name: {name}\ntools:\n{listed}")
    return root


@asynccontextmanager
async def opened(tmp_path: Path, *packs: Path) -> AsyncIterator[Studio]:
    project = tmp_path / "project"
    project.mkdir()
    Project.init(project)
    async with open_scripted(project, Script([]), *packs) as studio:
        yield studio


def test_a_project_imports_code_of_its_own_pack_only(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", LISTING, str(tmp_path / "home")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    modules = ran.stderr.splitlines()
    packs = {name.split(".")[2] for name in modules if name.startswith("callboard.packs.")}
    assert packs == {"alfred"}
    assert "callboard.packs.alfred.kitchen.domain" in modules
    assert [name for name in modules if ".story" in name] == []
    loaded = {name for name in modules if name.startswith("callboard_pack_")}
    assert {name for name in loaded if not name.startswith("callboard_pack_alfred_")} == set()


@pytest.mark.anyio
async def test_a_tool_is_known_before_its_code_is_loaded(tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pack", "wave", more="raise RuntimeError('loaded')")
    async with opened(tmp_path, pack) as studio:
        registry = studio.tools.registry
        assert "wave" in registry
        assert "wave" in registry.ids
        assert registry.parse_allowed("wave") == {"wave"}
        assert registry.origin_of("wave") == "pack gestures"
        for _ in range(2):
            with pytest.raises(PackInvalid, match="loaded"):
                registry.get("wave")
        assert registry.get("text_stats").id == "text_stats"


@pytest.mark.anyio
async def test_every_pack_can_use_every_tool(tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pack", "wave")
    async with opened(tmp_path, pack) as studio:
        registry = studio.tools.registry
        assert registry.get("wave").description == "Wave."
        assert registry.get("file_locator").id == "file_locator"
        assert tuple(tool.id for tool in registry) == registry.ids
        assert len(registry) == len(registry.ids)


@pytest.mark.anyio
async def test_a_loaded_tool_keeps_to_the_limits_of_the_settings(tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pack", "wave")
    async with opened(tmp_path, pack) as studio:
        limits = studio.settings.tools
        tool = studio.tools.registry.get("wave")
        assert tool.timeout_seconds <= limits.timeout_seconds
        assert tool.max_output_bytes <= limits.max_output_bytes


@pytest.mark.parametrize(("name", "told"), [("bow", "another id: 'wave'"), ("curtsy", "no tool")])
def test_what_a_pack_names_must_be_a_tool_of_that_id(tmp_path: Path, name: str, told: str) -> None:
    pack = load_pack(write_pack(tmp_path / "pack", name))
    assert pack.tools == (name,)
    with pytest.raises(PackInvalid, match=told):
        pack.tool(name)


@pytest.mark.anyio
async def test_two_packs_cannot_bring_the_same_tool(tmp_path: Path) -> None:
    one = write_pack(tmp_path / "one", "wave")
    two = write_pack(tmp_path / "two", "wave", name="greetings")
    with pytest.raises(InvalidTool, match="already registered by pack gestures"):
        async with opened(tmp_path, one, two):
            pass


@pytest.mark.parametrize("entry", ["gestures.py", "gestures.py:"])
def test_a_tool_without_a_name_is_refused_with_its_place(tmp_path: Path, entry: str) -> None:
    (tmp_path / "pack.yaml").write_text(f"name: gestures\ntools: ['{entry}']\n")
    with pytest.raises(PackInvalid, match=r"tools\.0: .*file\.py:name"):
        load_pack(tmp_path)


def test_a_changed_pack_is_seen_at_once(tmp_path: Path) -> None:
    root = write_pack(tmp_path / "pack", "wave")
    assert load_pack(root).tool("wave").description == "Wave."
    source = root / "gestures.py"
    source.write_text(source.read_text().replace('"Wave."', '"Wave back."'))
    assert load_pack(root).tool("wave").description == "Wave back."
    # As long as before, and perhaps within the same tick of the file system's clock.
    (root / "pack.yaml").write_text((root / "pack.yaml").read_text().replace("wave", "ware"))
    assert load_pack(root).tools == ("ware",)


def test_installed_packs_are_looked_for_once() -> None:
    assert installed_packs() is installed_packs()
    assert "alfred" in {pack.name for pack in installed_packs()}


def test_a_pack_that_nests_too_deeply_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pack.yaml").write_text("name: " + "[" * 100_000)
    with pytest.raises(PackInvalid, match="nests more than"):
        load_pack(tmp_path)


def test_a_pack_may_use_yaml_aliases(tmp_path: Path) -> None:
    (tmp_path / "pack.yaml").write_text(
        dedent("""
        name: twins
        agents:
          - {id: one, owns: &work prose}
          - {id: two, owns: *work}
        """)
    )
    assert [agent.contract.owns for agent in load_pack(tmp_path).agents] == ["prose", "prose"]
