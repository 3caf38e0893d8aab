"""Manner and routing: deterministic rules over messages, and which model is asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.packs.writers_factory.foreman.talk import classify, route, style_lint
from callboard.packs.writers_factory.foreman.talk.asking import ModelRoute, Wishes, has_next_step

CLEAN = (
    "**CHALLENGE:** Poverty is a circumstance. What does he do wrong?",
    "The midpoint holds because it costs her the post.\n\nNext: beat 10. Who closes in?",
    "I'll now check the beats against the outline.",
    "Beat 4 has no event.\n\nTell me what ends her old life.",
    "Two readings fit.\n\n- pride\n- envy\n\nPick one.",
    'He says "great question" twice in chapter 2. Which one goes?',
)
BROKEN = {
    "sycophantic_opener": (
        "Great question! Which beat is it?",
        "What a wonderful idea. Which beat is it?",
        "I love this. Which beat is it?",
    ),
    "hedge": ("I think maybe the flaw works. Which beat?", "It is kind of weak. Which beat?"),
    "passive_offer": (
        "The flaw is set. Let me know if you want more?",
        "Feel free to change it. Which beat?",
        "Would you like me to draft it?",
    ),
    "corporate_word": ("We can leverage the beat. Which one?", "Let us circle back. Which one?"),
    "missing_next_step": ("The flaw is set.", "Which one?\n\nThe flaw is set.", ""),
}


@pytest.mark.parametrize("text", CLEAN)
@pytest.mark.req("WF-12", "WF-13", "WF-G05", "WF-05")
def test_a_good_message_breaks_no_rule(text: str) -> None:
    assert style_lint(text) == ()


@pytest.mark.parametrize(("rule", "text"), [(r, t) for r, ts in BROKEN.items() for t in ts])
@pytest.mark.req("WF-13", "WF-G05")
def test_a_broken_rule_is_named(rule: str, text: str) -> None:
    assert style_lint(text) == (rule,)


@given(st.text())
@pytest.mark.req("WF-G05")
def test_any_text_is_judged_the_same_twice(text: str) -> None:
    first = style_lint(text)
    assert first == style_lint(text)
    assert ("missing_next_step" in first) is not has_next_step(text)


@pytest.mark.parametrize(
    ("mode", "said", "intent"),
    [
        ("ARCHITECT", "Her flaw is pride", "structure"),
        ("ARCHITECT", "Good morning", "chat"),
        ("ARCHITECT", "Write me the first scene", "chat"),
        ("DIRECTOR", "Draft the scene at the harbour", "prose"),
        ("DIRECTOR", "Rewrite this paragraph", "prose"),
        ("DIRECTOR", "Which scaffold is next?", "structure"),
        ("EDITOR", "Tighten the last line", "prose"),
        ("EDITOR", "Analyse chapter 3", "judging"),
        ("VOICE_CALIBRATION", "List all characters with a voice", "extraction"),
    ],
)
@pytest.mark.req("WF-G03")
def test_a_turn_is_classified_by_rules(mode: str, said: str, intent: str) -> None:
    assert classify(mode, said) == intent


def wishes(mode: str, said: str, **changes: object) -> Wishes:
    values: dict[str, object] = {
        "chosen": None,
        "voice_model": None,
        "routes": {},
        "fallback": (),
        **changes,
    }
    return Wishes(mode, said, **values)  # type: ignore[arg-type]


@pytest.mark.req("WF-G03")
def test_routes_are_tried_in_order_each_model_once() -> None:
    found = route(
        wishes(
            "DIRECTOR",
            "Draft the scene",
            voice_model="claude-sonnet-4",
            routes={"prose": "gpt-4o", "default": "gpt-4o-mini"},
            fallback=["mistral-large", "gpt-4o"],
        )
    )
    assert found.intent == "prose"
    assert [each.model for each in found.candidates] == [
        "claude-sonnet-4",
        "gpt-4o",
        "gpt-4o-mini",
        "mistral-large",
    ]
    assert "voice tournament" in found.candidates[0].reason
    assert ModelRoute.from_json(found.to_json()) == found


@pytest.mark.req("WF-G03")
def test_prose_goes_to_the_winner_only_in_director() -> None:
    edited = route(wishes("EDITOR", "Rewrite this line", voice_model="winner"))
    assert [each.model for each in edited.candidates] == [None]
    chosen = route(wishes("DIRECTOR", "Draft the scene", voice_model="winner", chosen="mine"))
    assert [each.model for each in chosen.candidates] == ["mine", "winner"]
