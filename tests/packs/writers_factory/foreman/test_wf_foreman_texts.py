"""The authored prompt files: their sections, their sizes, and what replaces them."""

import re
from pathlib import Path

import pytest
from foreman_stage import MODES, bundled_texts, foreman, make_project, open_factory

from callboard.core.vocabulary import ModelTier
from callboard.models import Script
from callboard.packs.writers_factory.foreman.foreman import BUNDLED
from callboard.packs.writers_factory.foreman.sandwich import layer_budgets
from callboard.prompts import OfflineTokenCounter

pytestmark = pytest.mark.anyio

COUNTER = OfflineTokenCounter()
SECTIONS = (
    "Focus",
    "Persona",
    "Required artifacts",
    "Behavioural framework",
    "Available actions",
    "Guardrails",
    "Advancement criteria",
)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("tier", [ModelTier.FULL, ModelTier.MEDIUM])
@pytest.mark.req("WF-39", "WF-14", "WF-G22", "WF-G30")
def test_a_mode_file_has_every_section(mode: str, tier: ModelTier) -> None:
    text = bundled_texts().mode_rules(mode, tier).text
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert headings == list(SECTIONS)
    assert "NEVER" in text and "ALWAYS" in text


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.req("WF-39")
def test_a_full_mode_file_lists_its_actions_with_an_example(mode: str) -> None:
    texts = bundled_texts()
    text = texts.mode_rules(mode, ModelTier.FULL).text
    for spec in texts.catalogue.permitted(mode):
        listed = re.search(rf'<action type="{spec.name}"([^>]*)>([^<]+)</action>', text)
        assert listed is not None, spec.name
        for name in spec.required:
            assert name in listed[1]
        assert listed[2].strip() == spec.description
    assert "Example: <action type=" in text
    assert "When" in text.split("## Behavioural framework")[1]


@pytest.mark.req("WF-14")
def test_personas_differ_by_mode() -> None:
    texts = bundled_texts()
    words = {
        "ARCHITECT": "structural editor",
        "VOICE_CALIBRATION": "voice coach",
        "DIRECTOR": "encouraging partner",
        "EDITOR": "critical polisher",
    }
    for mode, persona in words.items():
        for tier in ModelTier:
            text = texts.mode_rules(mode, tier).text.lower()
            assert persona in text, (mode, tier)
            assert not any(other in text for other in words.values() if other != persona)


@pytest.mark.parametrize("tier", list(ModelTier))
@pytest.mark.req("WF-59", "WF-G29", "WF-G30")
def test_every_variant_is_within_its_budget(tier: ModelTier) -> None:
    texts, budget = bundled_texts(), layer_budgets()[tier].layers
    sizes = {
        "identity": [COUNTER.count(texts.identity(tier).text)],
        "protocols": [COUNTER.count(texts.protocols(tier).text)],
        "mode_rules": [COUNTER.count(texts.mode_rules(mode, tier).text) for mode in MODES],
    }
    if budget["process_map"]:
        sizes["process_map"] = [COUNTER.count(texts.process_map(tier).text)]
    for name, counts in sizes.items():
        for count in counts:
            assert 0 < count <= budget[name] * 1.1, (name, count)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.req("WF-G30", "WF-56")
def test_a_minimal_mode_file_names_what_is_permitted_and_what_never(mode: str) -> None:
    texts = bundled_texts()
    text = texts.mode_rules(mode, ModelTier.MINIMAL).text
    for spec in texts.catalogue.permitted(mode):
        assert f"{spec.name}({', '.join(spec.required)})" in text
    assert "NEVER" in text


@pytest.mark.req("WF-60", "WF-61", "WF-66", "WF-G30")
def test_protocols_name_the_four_elements_on_every_tier() -> None:
    texts = bundled_texts()
    for tier in ModelTier:
        text = texts.protocols(tier).text
        for tag in ("<thinking>", "<message>", '<action type="', "<content_update target="):
            assert tag in text, (tier, tag)
        assert "JSON" in text
        assert '<action type="save_decision">' in text
    assert "precision" in texts.protocols(ModelTier.FULL).text
    assert "precision" in texts.protocols(ModelTier.MEDIUM).text


@pytest.mark.req("WF-38", "WF-G88")
def test_the_process_map_tells_goal_deliverables_behaviour_and_gate() -> None:
    text = bundled_texts().process_map(ModelTier.FULL).text
    for mode in MODES:
        own = text.split(f"## {mode}\n")[1].split("\n## ")[0]
        for word in ("Goal:", "Deliverables:", "Behaviour:", "Gate:"):
            assert word in own, (mode, word)
    assert "current_mode" in text
    places = [text.index(f"{mode}  →") for mode in MODES]
    assert places == sorted(places)
    short = bundled_texts().process_map(ModelTier.MEDIUM).text
    assert all(re.search(rf"^- {mode}: .+", short, re.MULTILINE) for mode in MODES)


@pytest.mark.req("WF-11", "WF-12", "WF-13")
def test_identity_states_conviction_manner_and_what_is_forbidden() -> None:
    for tier in ModelTier:
        text = bundled_texts().identity(tier).text.lower()
        assert "structure" in text and "before" in text
        assert "next step" in text
        assert "challenge" in text or "challenged" in text
        assert "hedg" in text


@pytest.mark.req("WF-G19")
def test_guardrails_stand_in_the_modes_that_have_prose() -> None:
    texts = bundled_texts()
    for mode in ("DIRECTOR", "EDITOR"):
        assert len(texts.guardrails(mode, ModelTier.FULL).text) > 500
    for mode in ("ARCHITECT", "VOICE_CALIBRATION"):
        assert texts.guardrails(mode, ModelTier.FULL).text == ""


@pytest.mark.req("WF-02", "WF-106")
def test_prompts_lie_in_files_and_not_in_code() -> None:
    for name in ("identity", "process_map", "protocols", *(f"modes/{m.lower()}" for m in MODES)):
        assert (BUNDLED / f"{name}.md").is_file()
    assert (BUNDLED / "guardrails" / "voice_antipatterns.md").is_file()
    assert (BUNDLED / "guardrails" / "continuity_rules.md").is_file()
    sources = (BUNDLED.parent / "foreman").rglob("*.py")
    assert not any("You are the Foreman" in path.read_text("utf-8") for path in sources)


@pytest.mark.req("WF-41", "WF-G20", "WF-107")
async def test_a_project_replaces_files_and_bad_ones_do_not_break_a_turn(tmp_path: Path) -> None:
    root = make_project(tmp_path / "book")
    own = root / ".callboard" / "prompts"
    (own / "modes").mkdir(parents=True)
    (own / "identity.md").write_text("You are the Foreman of this very book.\n", "utf-8")
    (own / "identity.minimal.md").write_text("You are the Foreman of this very book.\n", "utf-8")
    async with open_factory(root, Script()) as studio:
        mine = foreman(studio)
        assert mine.texts.identity(ModelTier.FULL).text == "You are the Foreman of this very book."
        assert mine.problems() == ()
        (own / "identity.md").write_text("Changed while it runs.\n", "utf-8")
        assert mine.texts.identity(ModelTier.FULL).text == "Changed while it runs."

        (own / "protocols.md").write_text("{{never closed", "utf-8")
        (own / "modes" / "architect.md").write_text("\n\n", "utf-8")
        assert "<message>" in mine.texts.protocols(ModelTier.FULL).text
        assert "ARCHITECT" in mine.texts.mode_rules("ARCHITECT", ModelTier.FULL).text
        told = " ".join(mine.problems())
        assert "protocols.md" in told and "modes/architect.md" in told


@pytest.mark.req("WF-41", "WF-107")
async def test_a_placeholder_nobody_fills_is_told_and_does_not_break_a_turn(tmp_path: Path) -> None:
    root = make_project(tmp_path / "book")
    own = root / ".callboard" / "prompts"
    (own / "modes").mkdir(parents=True)
    (own / "protocols.md").write_text("Answer in the manner of {{somebody}}.\n", "utf-8")
    # A mode of the project's own: the pack has no file of this name to fall back to.
    (own / "modes" / "research.md").write_text("# {{subject}}\n{{available_actions}}\n", "utf-8")
    async with open_factory(root, Script()) as studio:
        texts = foreman(studio).texts
        assert "<message>" in texts.protocols(ModelTier.FULL).text
        rules = texts.mode_rules("RESEARCH", ModelTier.FULL).text
        assert "save_decision" in rules and "{{" not in rules
        told = texts.problems(("modes/research",))
        assert told == (
            "prompts/protocols.md says {{somebody}}, which nobody fills",
            "prompts/modes/research.md says {{subject}}, which nobody fills",
        )


@pytest.mark.req("WF-41")
async def test_a_missing_optional_file_leaves_an_empty_layer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    texts = bundled_texts()
    empty = type(texts)(
        registry=texts.packaged.__class__(()),
        packaged=texts.packaged,
        catalogue=texts.catalogue,
    )
    assert empty.identity(ModelTier.FULL).text == ""
    assert empty.process_map(ModelTier.FULL).text == ""
    assert "identity" in caplog.text
    assert "<message>" in empty.protocols(ModelTier.FULL).text
