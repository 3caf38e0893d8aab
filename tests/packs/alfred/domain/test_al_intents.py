"""What is most likely wanted: the same every time, and sure only where it may be."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from callboard.packs.alfred.kitchen.hearing.clauses import split_clauses
from callboard.packs.alfred.kitchen.hearing.intents import features, guess_intent

TOOL = Path(__file__).parents[4] / "tools" / "kitchen_intents.py"


def tool() -> Any:
    spec = importlib.util.spec_from_file_location("kitchen_intents", TOOL)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_shipped_weights_know_the_sentences_they_were_learned_from() -> None:
    learner = tool()
    lines = learner.read_sentences()
    block = learner.yaml.safe_load(learner.SENTENCES.read_text())
    sentences = [(i, learner.expand(line)[0]) for i, b in block.items() for line in b.splitlines()]
    assert len(sentences) == len(lines) >= 900
    known = sum(guess_intent(said).intent == intent for intent, said in sentences)
    assert known / len(sentences) > 0.95


@pytest.mark.parametrize(
    ("said", "intent"),
    [
        ("we ate the remaining salami", "use_stock"),
        ("please put yeast on the shopping list", "add_list"),
        ("how long does rice keep", "recipe_question"),
        ("is there any butter left", "show"),
        ("good evening", "small_talk"),
        ("for eight people please", "scale"),
    ],
)
def test_a_guess_carries_over_to_other_words(said: str, intent: str) -> None:
    assert guess_intent(said).intent == intent


def test_a_food_is_a_food_to_it_whichever_it_is() -> None:
    assert features("we need leeks") == features("we need parsnips")


def test_clauses_say_what_is_done_and_what_is_only_thought() -> None:
    first, second, third = split_clauses("Bought leeks, nearly got a lobster, what's for dinner?")
    assert (first.act, first.rest, first.is_unreal) == ("acquired", "leeks", False)
    assert (second.act, second.is_unreal) == ("acquired", True)
    assert third.is_question


def test_a_long_message_is_read_in_linear_time() -> None:
    assert len(split_clauses("bought milk and " * 120)) > 1
