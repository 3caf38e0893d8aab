import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from callboard.prompts import OfflineTokenCounter
from callboard.prompts.tokens import tokenizer_file

counter = OfflineTokenCounter()
forgetful = OfflineTokenCounter(max_remembered=0)


def test_tokens_are_counted_by_a_real_tokenizer() -> None:
    assert counter.count("") == 0
    assert counter.count("hello world") == 2
    words = "The quick brown fox jumps over the lazy dog. " * 100
    assert 900 < counter.count(words) < 1300


@given(st.text(st.characters(), max_size=60))
def test_any_text_can_be_counted_twice(text: str) -> None:
    first = counter.count(text)
    assert first >= (1 if text else 0)
    assert counter.count(text) == forgetful.count(text) == first


def test_the_memory_of_counts_is_bounded() -> None:
    small = OfflineTokenCounter(max_remembered=3)
    for number in range(10):
        small.count(f"text {number}")
    assert len(small._counts) == 3
    assert small.count("text 0") == counter.count("text 0")


def test_the_tokenizer_is_found_and_loaded_without_its_package() -> None:
    code = (
        "import sys; import callboard.prompts as p; assert 'tokenizers' not in sys.modules;"
        "c = p.OfflineTokenCounter(); assert 'tokenizers' not in sys.modules;"
        "assert c.count('hello world') == 2; assert 'wordllama' not in sys.modules;"
        "assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert tokenizer_file().name == "l2_supercat_tokenizer_config.json"
