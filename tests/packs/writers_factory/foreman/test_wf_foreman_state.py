"""The session state: well-formed whatever it holds, sized by tier, sectioned by mode."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from foreman_stage import MODES, TIERS, bundled_texts, sections
from hypothesis import given, settings
from random_states import HOSTILE, states

from callboard.choreography.conversation import Listener, agent_turn, user_turn
from callboard.core.vocabulary import Content, ModelTier, Trust
from callboard.models import Catalog
from callboard.packs.writers_factory.foreman.sandwich import Sandwich, TurnText, layer_budgets
from callboard.packs.writers_factory.foreman.state import (
    BundleLine,
    ForemanState,
    MemoryLine,
    NotebookLine,
    OverrideLine,
    PatternLine,
    ProjectLine,
    SceneLine,
    StateMarkup,
    TemplateLine,
    VoiceLine,
    describe,
    read_templates,
)
from callboard.packs.writers_factory.health.values import Alert
from callboard.packs.writers_factory.memory.scenery import KnowledgeLine
from callboard.packs.writers_factory.model import Severity
from callboard.prompts import (
    AssembledPrompt,
    Assembler,
    FittingOutcome,
    OfflineTokenCounter,
    PromptTooLarge,
    load_layout,
)

COUNTER = OfflineTokenCounter()
MARKUP = StateMarkup(COUNTER)
CATALOG = Catalog.load()
SANDWICH = Sandwich(bundled_texts(), CATALOG, layer_budgets(), COUNTER)
ASSEMBLER = Assembler(COUNTER, load_layout())
GOLD = "The tide log lay open. She did not look at it. " * 60
LAYERS = [
    "identity",
    "process_map",
    "mode_rules",
    "guardrails",
    "session_state",
    "protocols",
    "reminders",
    "history",
    "message",
]


def rich(mode: str) -> ForemanState:
    """Return a state in which every section has something to say."""
    return ForemanState(
        mode=mode,
        sections=sections(mode),
        rules=f"modes/{mode.lower()}",
        completion_pct=45,
        project=ProjectLine("Fire & <Ice>", "Ines Varga", "mystery", "dry"),
        templates=(
            TemplateLine("protagonist", "in_progress", ("fatal_flaw",), ("arc_resolution",)),
            TemplateLine("beat_sheet", "not_started", (), ("beat_1", "beat_2")),
            TemplateLine("theme", "complete", ("central_theme", "theme_statement"), ()),
            TemplateLine("world_rules", "not_started", (), ("fundamental_rules",)),
        ),
        unmet=("world_rules: 1 more",),
        next_mode="VOICE_CALIBRATION",
        active={"file": "content/Manuscript/Chapter_04/Scene_02.md", "beat": "Midpoint"},
        voice=VoiceLine(
            True,
            "gpt-4o",
            "BALANCED",
            "tense_watchful",
            (PatternLine("with surgical precision"), PatternLine("adverb run", "deduction")),
        ),
        bundle=BundleLine(
            "gold.md",
            "sheet.md",
            "guide.md",
            "First person, past. " * 6,
            GOLD,
            GOLD,
            "First person; short sentences.",
        ),
        scene=SceneLine("ch4-sc2", "Midpoint", "Ines", 1500, ("the key",), ("the flood",)),
        scaffold={
            "scaffold_id": "ch4-sc2",
            "title": "The lamp",
            "beat_alignment": "Midpoint, false victory",
            "pov_character": "Ines",
            "characters_present": ["Ines", "Jun"],
            "location": "Saltmere",
            "weather": "fog",
            "scene_goal": "win the hearing",
            "protagonist_constraint": "cannot leave between tides",
            "callbacks": ["the key"],
            "foreshadowing": ["the flood"],
            "word_target": 1500,
        },
        knowledge=(
            KnowledgeLine("character", "ines_fatal_flaw", "decides for others"),
            KnowledgeLine("character", "ines_the_lie", "nobody stays"),
            KnowledgeLine("constraint", "magic", "costs memory"),
            *(KnowledgeLine("structure", f"note_{n}", f"decision {n}") for n in range(12)),
            KnowledgeLine("character", "jun_age", "14", origin="graph"),
        ),
        notebooks=(NotebookLine("harbour", "world_building", "Harbour notes"),),
        memory=(
            MemoryLine("correction", "The gun was lost in chapter 3"),
            MemoryLine("preference", "British spelling"),
        ),
        alerts=(Alert(Severity.WARNING, "B1_flaw_challenge", "12 scenes", "Test the flaw."),),
        overrides=(OverrideLine("ARCHITECT", "VOICE_CALIBRATION", ("rules",), "Risk: thin world"),),
    )


def parsed(markup: str) -> ElementTree.Element:
    return ElementTree.fromstring(markup)  # noqa: S314


def root_of(state: ForemanState, tier: ModelTier = ModelTier.FULL) -> ElementTree.Element:
    return parsed(MARKUP.content(state, tier).text)


def assembled(
    state: ForemanState,
    model: str,
    message: str = "What now?",
    exchanges: int = 0,
    thinking: bool = True,
) -> AssembledPrompt:
    facts = CATALOG.facts(model)
    turns = [
        turn
        for n in range(exchanges)
        for turn in (
            user_turn(f"Line {n}. " + "I wonder about her choice. " * 12),
            agent_turn(
                "foreman", f"<message>Reply {n}. " + "Look at the beat. " * 20 + "</message>"
            ),
        )
    ]
    text = TurnText(Content(message, "user", Trust.TRUSTED), tuple(turns), thinking)
    listener = Listener(model, facts.tier, facts.window_tokens, 1000)
    return ASSEMBLER.assemble(SANDWICH.compose(state, text, listener))


@given(states())
@pytest.mark.req("WF-G25", "WF-G87", "WF-03", "WF-47")
def test_the_state_is_well_formed_whatever_it_holds(state: ForemanState) -> None:
    for tier in ModelTier:
        root = root_of(state, tier)
        assert root.tag == "session_state"
        assert root.findtext("current_mode") == state.mode
        assert root.findtext("completion_pct") == str(state.completion_pct)
        assert len(root.findall("current_mode")) == 1
        assert root.find(".//action") is None
        for reduction in MARKUP.reductions(state, tier):
            made = reduction.content() if callable(reduction.content) else reduction.content
            assert parsed(made.text).findtext("current_mode") == state.mode


@given(states())
@settings(max_examples=60)
@pytest.mark.req("WF-59", "WF-G32", "WF-54", "WF-G51")
def test_every_tier_stays_within_its_budget_for_any_state(state: ForemanState) -> None:
    budgets = layer_budgets()
    for tier, model in TIERS.items():
        prompt = assembled(state, model, exchanges=14)
        assert prompt.tier is tier
        assert prompt.total_tokens <= budgets[tier].input
        assert COUNTER.count(prompt.text) <= budgets[tier].input * 1.01
        kept = {line.name: line for line in prompt.bill}
        for name in ("identity", "mode_rules", "protocols", "message"):
            assert kept[name].outcome is FittingOutcome.KEPT


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.req("WF-48", "WF-49", "WF-50", "WF-G23", "WF-09")
def test_sections_follow_the_mode(mode: str) -> None:
    root = root_of(rich(mode))
    there = {child.tag for child in root}
    assert {"project", "knowledge_context", "notebooks", "agent_memory", "active_context"} <= there
    expected = {
        "ARCHITECT": {"work_order"},
        "VOICE_CALIBRATION": {"work_order", "voice_context"},
        "DIRECTOR": {"voice_context", "voice_bundle", "active_scaffold", "health_alerts"},
        "EDITOR": {"voice_context", "voice_bundle", "health_alerts"},
    }[mode]
    assert expected <= there
    never = {
        "ARCHITECT": {"voice_context", "scene_context", "active_scaffold", "health_alerts"},
        "VOICE_CALIBRATION": {"scene_context", "active_scaffold", "health_alerts"},
        "DIRECTOR": {"scene_context"},
        "EDITOR": {"work_order", "scene_context", "active_scaffold"},
    }[mode]
    assert not never & there
    override = root.find("gate_override")
    assert override is not None and override.text == "Risk: thin world"


@pytest.mark.req("WF-49", "WF-52", "WF-G23")
def test_director_has_the_scene_until_a_scaffold_is_active_and_a_short_work_order() -> None:
    state = replace(rich("DIRECTOR"), scaffold=None)
    root = root_of(state)
    assert root.findtext("scene_context/beat_alignment") == "Midpoint"
    assert root.find("active_scaffold") is None
    assert root.findtext("work_order") == "1 of 4 templates complete"
    assert root.find("work_order/template") is None


@pytest.mark.req("WF-26", "WF-G24")
def test_templates_are_written_as_attributes_and_read_in_both_shapes() -> None:
    markup = MARKUP.content(rich("ARCHITECT"), ModelTier.FULL).text
    assert 'name="protagonist" status="in_progress"' in markup
    assert 'missing="arc_resolution"' in markup
    read = read_templates(markup)
    assert read[0] == TemplateLine(
        "protagonist", "in_progress", ("fatal_flaw",), ("arc_resolution",)
    )
    other = (
        "<session_state><work_order><template name='Beat Sheet' status='in_progress'>"
        "<completed>beat_1</completed><missing>beat_2, beat_3</missing>"
        "</template></work_order></session_state>"
    )
    assert read_templates(other) == (
        TemplateLine("beat_sheet", "in_progress", ("beat_1",), ("beat_2", "beat_3")),
    )


@pytest.mark.req("WF-51", "WF-G34", "WF-59")
def test_the_voice_bundle_shrinks_with_the_tier() -> None:
    state = rich("DIRECTOR")
    full = root_of(state)
    gold = full.findtext("voice_bundle/gold_standard") or ""
    sheet = full.findtext("voice_bundle/antipattern_sheet") or ""
    assert gold == GOLD[:2000] and sheet == GOLD[:1500]
    medium = root_of(state, ModelTier.MEDIUM)
    assert medium.find("voice_bundle/gold_standard") is None
    assert (medium.findtext("voice_bundle/voice_summary") or "").startswith("First person")
    minimal = root_of(state, ModelTier.MINIMAL)
    line = minimal.findtext("voice_bundle/voice_summary") or ""
    assert line == "First person; short sentences."
    patterns = [each.text for each in minimal.iterfind("voice_bundle/pattern")]
    assert patterns == ["with surgical precision"]


@pytest.mark.req("WF-59")
def test_the_scaffold_shrinks_with_the_tier() -> None:
    state = rich("DIRECTOR")
    shown = {
        tier: {child.tag for child in root_of(state, tier).find("active_scaffold") or ()}
        for tier in ModelTier
    }
    assert {"title", "weather"} <= shown[ModelTier.FULL]
    essential = {"scaffold_id", "beat_alignment", "pov_character", "characters_present"}
    assert essential <= shown[ModelTier.MEDIUM] and "weather" not in shown[ModelTier.MEDIUM]
    assert shown[ModelTier.MINIMAL] == {
        "scaffold_id",
        "beat_alignment",
        "scene_goal",
        "protagonist_constraint",
    }


@pytest.mark.req("WF-54", "WF-G26")
def test_the_minimal_state_is_made_of_the_real_one() -> None:
    state = rich("DIRECTOR")
    root = root_of(state, ModelTier.MINIMAL)
    assert root.findtext("current_mode") == "DIRECTOR"
    assert root.findtext("active_file") == state.active["file"]
    assert root.findtext("voice_locked") == "true"
    assert root.findtext("current_beat") == "Midpoint"
    keys = [each.get("key") for each in root.iterfind("knowledge_context/entry")]
    assert keys == ["ines_fatal_flaw", "ines_the_lie"]
    assert (
        root_of(replace(state, mode="EDITOR"), ModelTier.MINIMAL).findtext("current_mode")
        == "EDITOR"
    )


@pytest.mark.req("WF-78", "WF-79", "WF-G50", "WF-G51")
def test_two_hundred_decisions_never_flood_and_never_hide_the_flaw() -> None:
    facts = [KnowledgeLine("character", f"person_{n}_trait", f"fact {n}") for n in range(25)]
    volatile = [KnowledgeLine("structure", f"decision_{n}", f"volatile {n}") for n in range(200)]
    flaw = KnowledgeLine("character", "ines_fatal_flaw", "decides for others")
    lie = KnowledgeLine("character", "ines_the_lie", "nobody stays")
    state = replace(rich("ARCHITECT"), knowledge=(flaw, lie, *facts, *volatile))
    for tier, most in ((ModelTier.FULL, 27), (ModelTier.MEDIUM, 5), (ModelTier.MINIMAL, 2)):
        rows = list(root_of(state, tier).iterfind("knowledge_context/entry"))
        assert [each.get("key") for each in rows[:2]] == ["ines_fatal_flaw", "ines_the_lie"]
        assert len(rows) <= most
        assert not any("volatile" in (each.text or "") for each in rows)
        prompt = assembled(state, TIERS[tier], exchanges=10)
        assert prompt.total_tokens <= layer_budgets()[tier].input
    few = replace(state, knowledge=(flaw, *volatile))
    rows = list(root_of(few).iterfind("knowledge_context/entry"))
    assert len(rows) == 10


@pytest.mark.req("WF-G32")
def test_what_gives_way_gives_way_in_order() -> None:
    state = rich("DIRECTOR")
    request = SANDWICH.compose(
        state,
        TurnText(Content("x", "user", Trust.TRUSTED), (user_turn("old"), agent_turn("f", "old"))),
        Listener("openai:gpt-4o", ModelTier.FULL, 128_000, 1000),
    )
    assert request.trim_order is not None
    order = list(request.trim_order)
    assert order[0] == "history"
    wanted = [
        "session_state/foundational_only",
        "session_state/essential_scaffold",
        "session_state/voice_summary",
        "session_state/no_alerts",
        "process_map/summary",
    ]
    assert order[1:6] == wanted
    whole = ASSEMBLER.assemble(request).total_tokens
    limit, seen = whole, []
    while limit > 0:
        try:
            prompt = ASSEMBLER.assemble(replace(request, limit_tokens=limit))
        except PromptTooLarge as error:
            assert "session_state" in error.message and "identity" in error.message
            break
        markup = next(line for line in prompt.bill if line.name == "session_state").text
        root = parsed(markup)
        has_map_summary = "fifteen beats" in prompt.text and "## ARCHITECT" not in prompt.text
        seen.append(
            (
                prompt.bill[-2].outcome is not FittingOutcome.KEPT,
                len(root.findall("knowledge_context/entry")) < 10,
                root.find("active_scaffold/weather") is None,
                root.find("voice_bundle/gold_standard") is None,
                root.find("health_alerts") is None,
                has_map_summary,
            )
        )
        # Foundational facts are in every form of the state.
        assert root.find("knowledge_context/entry[@key='ines_fatal_flaw']") is not None
        limit = prompt.total_tokens - 1
    for step in seen:
        # Nothing gives way before what stands earlier in the order has.
        assert list(step) == sorted(step, reverse=True), step
    assert any(all(step) for step in seen)


@pytest.mark.req("WF-37", "WF-42", "WF-43", "WF-44", "WF-G21", "WF-01", "WF-07", "WF-40")
def test_the_order_of_layers_is_the_same_for_every_model() -> None:
    models = ("openai:gpt-4o", "openai:deepseek-chat", "ollama:llama3.2:3b", "x:unknown-model")
    for model in models:
        prompt = assembled(rich("DIRECTOR"), model, "Which scene is next?", exchanges=3)
        assert [line.name for line in prompt.bill] == LAYERS
        assert prompt.text.rstrip().endswith("User: Which scene is next?")
        flat = prompt.text
        assert prompt.messages[0].content == flat.split(load_layout().history_heading)[0].rstrip(
            "-\n "
        )
        assert "USER: Line 2" in flat and "ASSISTANT: <message>Reply 2" in flat
        assert prompt.layout.separator == "\n\n---\n\n"


@pytest.mark.req("WF-56", "WF-57", "WF-58", "WF-G18", "WF-G33", "WF-G35")
def test_scenario_6_three_tiers_same_turn() -> None:
    state = rich("DIRECTOR")
    sizes = {"openai:gpt-4o": 8400, "openai:deepseek-chat": 5000, "ollama:llama3.2:3b": 1850}
    prompts = {model: assembled(state, model, exchanges=25) for model in sizes}
    for model, most in sizes.items():
        assert prompts[model].total_tokens <= most
        assert [line.name for line in prompts[model].bill] == LAYERS
    small = prompts["ollama:llama3.2:3b"]
    assert "fifteen" not in small.messages[0].content
    assert small.bill[1].outcome is FittingOutcome.EMPTY
    assert "generate_scaffold(chapter, scene, title)" in small.text
    assert "Ask for one action at most" in small.text and "plan_scenes" in small.text
    for model in ("openai:deepseek-chat", "ollama:llama3.2:3b"):
        assert "Shape of your reply" in prompts[model].text
    assert "Shape of your reply" not in prompts["openai:gpt-4o"].text
    gemini = assembled(state, "google:gemini-2.0-flash").text
    assert "Do not answer with a JSON object" in gemini
    assert gemini.index("Shape of your reply") < gemini.index("Do not answer with a JSON object")
    exchanges = {model: prompts[model].text.count("USER: Line") for model in sizes}
    assert exchanges["openai:gpt-4o"] <= 10 and exchanges["ollama:llama3.2:3b"] <= 2
    assert "USER: Line 24." in prompts["openai:gpt-4o"].text
    assert "<thinking> element of one to three" in assembled(state, "openai:gpt-4o").text.replace(
        "`", ""
    )
    silent = assembled(state, "openai:gpt-4o", thinking=False).text
    assert "Leave out the `<thinking>` element" in silent


@pytest.mark.req("WF-44", "WF-G32")
def test_a_message_is_never_cut_and_too_much_is_an_error_with_sizes() -> None:
    long = "word " * 700
    assert long.strip() in assembled(rich("ARCHITECT"), "openai:deepseek-chat", long).text
    with pytest.raises(PromptTooLarge) as caught:
        assembled(rich("ARCHITECT"), "ollama:llama3.2:3b", "word " * 4000)
    assert "message" in caught.value.message and "identity" in caught.value.message


@pytest.mark.req("WF-09", "WF-G01")
def test_the_state_reads_as_prose() -> None:
    text = describe(rich("DIRECTOR"))
    for part in (
        "Fire & <Ice> is in DIRECTOR, 45 % done.",
        "Ines Varga",
        "British spelling",
        "The gun was lost in chapter 3",
        "B1_flaw_challenge: 12 scenes",
        "ines fatal flaw: decides for others",
        "with rules unmet",
        "Harbour notes",
    ):
        assert part in text
    assert "missing arc resolution" in describe(rich("ARCHITECT"))


@given(states())
@pytest.mark.req("WF-09")
def test_prose_is_made_of_any_state(state: ForemanState) -> None:
    assert state.mode.replace("_", " ") in describe(state)


@pytest.mark.req("WF-G25")
def test_keys_of_the_active_context_are_names_or_nothing() -> None:
    state = replace(rich("EDITOR"), active={"file": "a.md", "<x>": "y", "UPPER": "z", "beat": "b"})
    active = root_of(state).find("active_context")
    assert active is not None
    assert [child.tag for child in active] == ["file", "beat"]


@pytest.mark.req("WF-53")
def test_alerts_are_shown_with_severity_check_finding_and_recommendation() -> None:
    alerts = tuple(Alert(Severity.WARNING, f"A{n}", f"finding {n}", "do") for n in range(9))
    root = root_of(replace(rich("EDITOR"), alerts=alerts))
    rows = list(root.iterfind("health_alerts/alert"))
    assert len(rows) == 5
    assert rows[0].get("check") == "A0" and rows[0].findtext("finding") == "finding 0"
    assert rows[0].findtext("recommendation") == "do"


def test_hostile_values_are_shown_escaped() -> None:
    state = replace(rich("ARCHITECT"), project=ProjectLine(title=HOSTILE[1]))
    assert root_of(state).findtext("project/title") == HOSTILE[1]
    assert "<action" not in MARKUP.content(state, ModelTier.FULL).text
