"""The catalog of models: facts, names and the fallback for what nobody knows."""

import pytest

from callboard.core.errors import InvalidInput
from callboard.core.vocabulary import ModelTier
from callboard.models import Catalog, Reliability, tier_for_window

LISTED = [
    ("gpt-4o", 128000, "full", "high", "high"),
    ("gpt-4o-mini", 128000, "full", "high", "high"),
    ("claude-sonnet-4", 200000, "full", "very_high", "very_high"),
    ("claude-opus-4", 200000, "full", "very_high", "very_high"),
    ("gemini-2.0-flash", 1000000, "full", "medium", "high"),
    ("grok-2", 131072, "full", "high", "high"),
    ("mistral-large", 128000, "full", "high", "high"),
    ("deepseek-chat", 64000, "medium", "medium", "medium"),
    ("qwen-plus", 131072, "medium", "medium", "medium"),
    ("qwen-max", 32768, "medium", "medium", "medium"),
    ("mistral:7b", 32768, "medium", "medium", "medium"),
    ("llama3.2:3b", 8192, "minimal", "low", "low"),
    ("local", 8192, "minimal", "low", "low"),
]


@pytest.mark.req("WF-55")
@pytest.mark.parametrize(("model", "window", "tier", "xml", "instructions"), LISTED)
def test_listed_models_have_their_facts(
    model: str, window: int, tier: str, xml: str, instructions: str
) -> None:
    facts = Catalog.load().facts(model)
    assert facts.is_known
    assert (facts.window_tokens, facts.tier) == (window, tier)
    assert (facts.xml_reliability, facts.instruction_following) == (xml, instructions)


@pytest.mark.req("WF-55")
@pytest.mark.parametrize("model", ["brand-new-model", "openai:gpt-99", "script", "", ":", "a/b:c"])
def test_an_unknown_model_is_medium(model: str) -> None:
    facts = Catalog.load().facts(model)
    assert not facts.is_known
    assert facts.tier is ModelTier.MEDIUM
    assert facts.xml_reliability is Reliability.MEDIUM
    assert facts.instruction_following is Reliability.MEDIUM


@pytest.mark.req("WF-G31")
@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("claude-sonnet", "claude-sonnet-4"),
        ("anthropic:claude-sonnet", "claude-sonnet-4"),
        ("openrouter:anthropic/claude-sonnet-4", "claude-sonnet-4"),
        ("anthropic:claude-sonnet-4-20250514", "claude-sonnet-4"),
        ("anthropic:claude-sonnet-4-0", "claude-sonnet-4"),
        ("openai:gpt-4o", "gpt-4o"),
        ("openai:GPT-4o", "gpt-4o"),
        ("openai:gpt-4o-2024-08-06", "gpt-4o"),
        ("openai:gpt-4o-mini", "gpt-4o-mini"),
        ("google-gla:gemini-2.0-flash-001", "gemini-2.0-flash"),
        ("mistral:mistral-large-latest", "mistral-large"),
        ("mistral:mistral-large-2411", "mistral-large"),
        ("ollama:mistral:7b", "mistral:7b"),
        ("ollama:llama3.2:3b", "llama3.2:3b"),
    ],
)
def test_aliases_prefixes_and_versions_lead_to_the_entry(asked: str, found: str) -> None:
    assert Catalog.load().facts(asked).id == found


def test_a_name_of_nothing_but_marks_is_unknown() -> None:
    catalog = Catalog.load()
    # With every mark a start of its own this would go through five gigabytes.
    assert not catalog.facts(":" * 100_000).is_known
    assert catalog.facts("a/" * 100_000 + "openai:gpt-4o").id == "gpt-4o"


@pytest.mark.req("WF-G31")
@pytest.mark.parametrize(
    ("window", "tier"),
    [
        (1_000_000, ModelTier.FULL),
        (128_000, ModelTier.FULL),
        (127_999, ModelTier.MEDIUM),
        (32_000, ModelTier.MEDIUM),
        (31_999, ModelTier.MINIMAL),
        (1, ModelTier.MINIMAL),
    ],
)
def test_a_configured_window_gives_an_unlisted_model_its_tier(window: int, tier: ModelTier) -> None:
    catalog = Catalog.load({"house-model": {"window": window}})
    assert catalog.facts("house:house-model").tier is tier
    assert tier_for_window(window) is tier


@pytest.mark.req("WF-G31")
def test_an_explicit_tier_beats_the_window() -> None:
    assert Catalog.load().facts("qwen-plus").tier is ModelTier.MEDIUM
    catalog = Catalog.load({"mine": {"window": 8000, "tier": "full"}})
    assert catalog.facts("mine").tier is ModelTier.FULL


def test_an_override_changes_only_what_it_names() -> None:
    catalog = Catalog.load({"gpt-4o": {"xml_reliability": "low"}, "script": {"tier": "minimal"}})
    facts = catalog.facts("openai:gpt-4o")
    assert (facts.xml_reliability, facts.window_tokens) == (Reliability.LOW, 128_000)
    assert catalog.facts("script:some/file.yaml").tier is ModelTier.MEDIUM
    assert catalog.facts("script").tier is ModelTier.MINIMAL
    assert Catalog.load().facts("gpt-4o").xml_reliability is Reliability.HIGH


@pytest.mark.parametrize(
    ("entry", "named"),
    [
        ({"windw": 3}, "windw"),
        ({"tier": "huge"}, "tier"),
        ({"window": -1}, "window"),
        ({"xml_reliability": "so-so"}, "xml_reliability"),
    ],
)
def test_a_bad_entry_is_named(entry: dict[str, object], named: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Catalog.load({"mine": entry})
    assert "mine" in caught.value.message
    assert named in caught.value.message
