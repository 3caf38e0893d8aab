"""A secret shows itself nowhere; what looks like a key is cut out of texts."""

import copy
import dataclasses
import json
import logging
import pickle
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.canonical import plain
from callboard.models import ProviderConfig
from callboard.models.credentials import FoundKey, KeyPlace, Scrubber, Secret

KEYS = st.text(string.ascii_letters + string.digits + "-_", min_size=8, max_size=60)


@pytest.mark.req("LLM-08")
@given(KEYS)
def test_no_way_of_printing_or_storing_shows_the_key(value: str) -> None:
    key = f"k{value}!"
    secret = Secret(key)
    found = FoundKey(secret, KeyPlace.KEYRING)
    shown = [repr(secret), str(secret), f"{secret}", f"{secret:>80}", f"{secret!r:>9}"]
    shown += [repr(found), str(dataclasses.asdict(found)), json.dumps(plain({"key": secret}))]
    shown += [str(logging.makeLogRecord({"msg": "%s", "args": (secret,)}).getMessage())]
    assert not any(key in text for text in shown)
    for write in (pickle.dumps, json.dumps, lambda each: copy.deepcopy(each).__reduce__()):
        with pytest.raises(TypeError) as caught:
            write(secret)
        assert key not in str(caught.value)
    assert not hasattr(secret, "__dict__")
    assert secret.reveal() == key


def test_equality_is_by_value() -> None:
    assert Secret("a") == Secret("a")
    assert hash(Secret("a")) == hash(Secret("a"))
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"


@pytest.mark.parametrize(
    ("value", "ending"), [("sk-0123456789abcd", "abcd"), ("short", ""), ("", "")]
)
def test_only_a_long_key_shows_its_ending(value: str, ending: str) -> None:
    assert Secret(value).ending == ending


@pytest.mark.req("LLM-08")
def test_a_providers_configuration_has_no_place_for_a_key() -> None:
    names = {each.name for each in dataclasses.fields(ProviderConfig)}
    own = {"is_url_own", "is_key_own"}
    assert names == {"base_url", "api_key_env", "enabled", "aliases"} | own


@given(KEYS, st.text(max_size=40), st.text(max_size=40))
def test_a_known_key_is_cut_out_in_every_spelling(value: str, before: str, after: str) -> None:
    key = f"{value}/+ {value}'\\"
    scrubber = Scrubber([Secret(key)])
    for spelling in (key, repr(key)[1:-1], key.replace(" ", "%20").replace("/", "%2F")):
        assert key not in scrubber.scrub(f"{before}{spelling}{after}")
    assert scrubber.finds_in(f"{before}{key}{after}")


def test_a_key_that_begins_with_another_leaves_no_rest() -> None:
    scrubber = Scrubber([Secret("abcdefgh"), Secret("abcdefgh-and-more")])
    assert scrubber.scrub("x abcdefgh-and-more y") == "x [key removed] y"


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: " + "sk-" + "proj-0123456789abcdefghijk.",
        "x-api-key: " + "sk-" + "ant-api03-abcdefghij0123456789",
        "?key=" + "AIza" + "SyA0123456789abcdefghijklmnop",
        "{'Authorization': 'Bearer a1b2c3d4e5f6g7h8'}",
    ],
)
def test_what_looks_like_a_key_is_cut_out(text: str) -> None:
    shown = Scrubber().scrub(text)
    assert "[key removed]" in shown
    assert "0123456789" not in shown
    assert "a1b2c3" not in shown


@pytest.mark.parametrize(
    "text",
    [
        "a risk-assessment-and-mitigation-strategy for the harbour",
        "the bearer unconditionally surrendered at 12 o'clock",
        "task-2024-01-01-of-the-long-hyphenated-name",
        "hf_ and sk- are prefixes",
    ],
)
def test_prose_is_left_alone(text: str) -> None:
    assert Scrubber().scrub(text) == text
