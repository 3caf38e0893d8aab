"""The pages on keys, cassettes and telemetry: what they show works as printed."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from callboard.core.settings import LayerName, SettingsLayer, resolve
from callboard.studio.keys import key_names, provider_configs
from callboard.studio.overrides import project_agents
from callboard.studio.packs import installed_packs

DOCS = Path(__file__).parents[3] / "docs"
CREDENTIALS = (DOCS / "credentials.md").read_text("utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", CREDENTIALS, re.DOTALL)
EXAMPLES = [
    (page, code)
    for page in ("credentials.md", "cassettes.md")
    for code in re.findall(r"```python\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL)
]


def settings_of(block: str) -> Any:
    return resolve([SettingsLayer(LayerName.USER, "config.yaml", yaml.safe_load(block))], [])


def test_there_is_something_to_check() -> None:
    assert len(BLOCKS) == 3
    assert {page for page, _ in EXAMPLES} == {"credentials.md", "cassettes.md"}


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_runs(number: int) -> None:
    command = [sys.executable, "-W", "error", "-c", EXAMPLES[number][1]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.req("LLM-09")
def test_the_settings_shown_are_accepted_and_mean_what_is_said() -> None:
    loaded = settings_of(BLOCKS[0])
    assert loaded.warnings == ()
    configs = provider_configs(loaded)
    assert configs["vllm"].base_url == "http://localhost:8000/v1"
    assert configs["lmstudio"].base_url == "http://localhost:1234/v1"
    assert configs["openai"].aliases == {"fast": "gpt-4o-mini"}
    assert not configs["groq"].enabled
    names = dict(key_names(loaded.settings))
    assert names["house"] == ("HOUSE_API_KEY",)
    assert names["vllm"] == ()
    assert names["openai"] == ("OPENAI_API_KEY",)
    assert settings_of(BLOCKS[2]).warnings == ()


def test_each_agent_gets_the_model_the_page_gives_it(tmp_path: Path) -> None:
    (tmp_path / "agents.yaml").write_text(BLOCKS[1])
    base = tuple(agent for pack in installed_packs() for agent in pack.agents)
    agents = project_agents(tmp_path / "agents.yaml", base)
    assert {name: agent.model for name, agent in agents.items()} == {
        "planner": "anthropic:claude-sonnet-4-5",
        "writer": "openai:gpt-4o",
        "critic": "ollama:llama3.2",
    }
    contracts = {agent.id: agent.contract for agent in base}
    assert agents["planner"].contract == contracts["planner"], "the rest stays the pack's"


def test_every_attribute_in_the_code_stands_on_the_page() -> None:
    from callboard.core import tracing
    from callboard.models import telemetry

    page = (DOCS / "telemetry.md").read_text("utf-8")
    names = {
        value
        for module in (tracing, telemetry)
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, str) and not value.startswith("gen_ai.request.")
    }
    assert len(names) > 20
    assert [name for name in sorted(names) if f"`{name}" not in page] == []
