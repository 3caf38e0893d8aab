"""Which keys a project's file may set: marked one by one, and no mark contradicts another."""

import pytest

from callboard.core.settings import LayerName, Settings, SettingsLayer, WarningKind, resolve
from callboard.core.settings.schema import Key, find, key_text, values


def test_only_what_can_do_no_harm_is_taken_from_any_project() -> None:
    assert {key_text(key) for key, node in values() if node.is_harmless} == {"pack", "log.format"}


def test_no_key_is_both_harmless_and_restricted() -> None:
    both = [key for key, node in values() if node.is_harmless and node.restricted_because]
    assert both == []


@pytest.mark.parametrize("key", [("log",), ("models", "default"), ("models", "providers", "acme")])
def test_what_bears_no_mark_is_not_harmless(key: Key) -> None:
    node = find(key)
    assert node is not None
    assert not node.is_harmless


GUARDED = [
    "pipeline.evidence_enforcement",
    "pipeline.single_flight",
    "engine.durability",
    "engine.mirror",
    "errors.transient_patterns",
    "errors.retry.transient.max_attempts",
    "tools.max_output_bytes",
    "circuit.llm.consecutive_failures",
    "circuit.notify_on_state_change",
    "models.fallback_default",
    "models.fallbacks.<name>",
    "models.catalog.<name>.input_usd",
    "models.providers.<name>.aliases.<name>",
    "budgets.subscriptions.<name>.month_starts_on",
    "structure.max_questions",
    "chat.max_tool_steps",
]


@pytest.mark.parametrize("key", GUARDED)
def test_a_project_cannot_weaken_what_protects_the_user(key: str) -> None:
    named = {key_text(found): node for found, node in values()}
    assert named[key].restricted_because


def test_evidence_durability_and_mirrors_are_not_taken_from_a_project() -> None:
    project = {
        "pipeline": {"evidence_enforcement": "warn", "single_flight": False},
        "engine": {"durability": "normal", "mirror": False},
    }
    loaded = resolve([SettingsLayer(LayerName.PROJECT, "project.yaml", project)])
    assert loaded.settings == Settings()
    assert {each.kind for each in loaded.warnings} == {WarningKind.RESTRICTED}
    assert len(loaded.warnings) == 4


@pytest.mark.parametrize("spelling", [False, "off"])
def test_off_is_off_however_yaml_reads_it(spelling: object) -> None:
    own = SettingsLayer(LayerName.USER, "user.yaml", {"pipeline": {"single_flight": spelling}})
    loaded = resolve([own])
    assert loaded.warnings == ()
    assert loaded.settings.pipeline.single_flight == "off"
