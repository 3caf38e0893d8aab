"""Prices come from the settings first, then from the price list; a guess is never made."""

import subprocess
import sys

import pytest

from callboard.models import Catalog, Usage
from callboard.models.accounts import Prices

MILLION = Usage(1_000_000, 1_000_000, 0)


@pytest.mark.parametrize(
    ("model", "microusd"),
    [
        ("openai:gpt-4o", 12_500_000),
        ("openai-chat:gpt-4o", 12_500_000),
        ("record:talk.jsonl:openai:gpt-4o", 12_500_000),
        ("replay:talk.jsonl:openai:gpt-4o", 0),
        ("local", 0),
        ("script:some/file.yaml", 0),
        ("openai:never-heard-of", None),
        ("house:gpt-4o", None),
    ],
)
def test_a_call_costs_what_the_list_says_or_nobody_knows(model: str, microusd: int | None) -> None:
    prices = Prices()
    assert prices.cost(model, MILLION) == microusd
    assert prices.cost(model, MILLION) == microusd


def test_cached_tokens_are_cheaper() -> None:
    prices = Prices()
    full = prices.cost("openai:gpt-4o", Usage(1000, 0, 0))
    cached = prices.cost("openai:gpt-4o", Usage(1000, 0, 1000))
    assert full is not None
    assert cached is not None
    assert 0 < cached < full


def test_the_settings_win_over_the_list_and_over_what_is_free() -> None:
    catalog = Catalog.load(
        {
            "gpt-4o": {"input_usd": 1.0, "output_usd": 2.0},
            "local": {"input_usd": 0.1, "output_usd": 0.1},
            "house-model": {"input_usd": 4.0, "output_usd": 0.0, "cached_usd": 1.0},
        }
    )
    prices = Prices(catalog)
    assert prices.cost("openai:gpt-4o", MILLION) == 3_000_000
    assert prices.cost("local", MILLION) == 200_000
    assert prices.cost("record:talk.jsonl:openai:gpt-4o", MILLION) == 3_000_000
    assert prices.cost("replay:talk.jsonl:openai:gpt-4o", MILLION) == 0
    assert prices.cost("house:house-model", Usage(1000, 7, 400)) == 600 * 4 + 400


def test_the_price_list_is_not_loaded_before_it_is_needed() -> None:
    code = (
        "import sys; from callboard.models.accounts import Prices; from callboard.models import"
        " Usage; Prices().cost('local', Usage(1, 1)); print('genai_prices' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
