"""The strict protocol of calls, and the words that make a call necessary."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.choreography.agent_calls import CallCode, Refused, fit_bytes, needs_tool, read_call
from callboard.choreography.agent_calls.protocol import WantsToFinish, WantsTool

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@pytest.mark.req("CR-21")
@given(st.text(min_size=1), st.dictionaries(st.text(), JSON), st.text(min_size=1), st.booleans())
def test_a_proper_call_is_read_as_it_is(
    tool: str, args: dict[str, Any], nonce: str, with_action: bool
) -> None:
    said = {"tool": tool, "args": args, "nonce": nonce}
    if with_action:
        said["action"] = "tool"
    assert read_call(f"  {json.dumps(said)}\n") == WantsTool(tool, args, nonce)


@pytest.mark.req("CR-21")
@given(st.text())
def test_any_text_is_read_without_a_crash(text: str) -> None:
    assert isinstance(read_call(text), WantsTool | WantsToFinish | Refused)


@pytest.mark.req("CR-21")
@given(JSON)
def test_any_json_without_the_keys_runs_nothing(value: Any) -> None:
    assert isinstance(read_call(json.dumps(value)), Refused)


@pytest.mark.req("CR-21")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", CallCode.INVALID_FORMAT),
        ("Sure! {}", CallCode.INVALID_FORMAT),
        ('{"tool": "a", "args": {}, "nonce": "n"} and that is it', CallCode.INVALID_FORMAT),
        ('{"tool": "a", "args": {}, "nonce": "n", "also": 1}', CallCode.INVALID_FORMAT),
        ('{"tool": "a", "tool": "b", "args": {}, "nonce": "n"}', CallCode.INVALID_FORMAT),
        ('{"action": "run", "nonce": "n"}', CallCode.INVALID_FORMAT),
        ('{"args": {}, "nonce": "n"}', CallCode.INVALID_FORMAT),
        ('{"tool": "a", "args": {"x": NaN}, "nonce": "n"}', CallCode.INVALID_FORMAT),
        ("[" * 100_000, CallCode.INVALID_FORMAT),
        ('[{"tool": "a", "args": {}, "nonce": "n"}]', CallCode.INVALID_FORMAT),
        ('{"tool": "a"}\n{"tool": "b"}', CallCode.MULTIPLE),
        ('[{"tool": "a"}, {"tool": "b"}]', CallCode.MULTIPLE),
        ('{"tool": "a", "args": "x", "nonce": "n"}', CallCode.INVALID_ARGS),
        ('{"tool": "a", "args": {}}', CallCode.NONCE_INVALID),
        ('{"action": "final"}', CallCode.NONCE_INVALID),
    ],
)
def test_what_breaks_the_protocol_has_a_code(text: str, code: CallCode) -> None:
    refused = read_call(text)
    assert isinstance(refused, Refused)
    assert refused.code is code


def test_thoughts_before_a_call_are_not_part_of_it() -> None:
    said = '<think>{"tool": "x"}</think>\n{"action": "final", "nonce": "n", "note": "done"}'
    assert read_call(said) == WantsToFinish("n", "done")


@pytest.mark.req("CR-17")
@pytest.mark.parametrize(
    ("message", "is_needed"),
    [
        ("Hello everybody, how are you?", False),
        ("Is the tone right?", False),
        ("Run canon_checker please", True),
        ("What about Story/Scenes/SCN-03-ashes.md?", True),
        ("Check the outline", True),
        ("Could you look up what Kael carries?", True),
        ("Compare both scenes", True),
        ("I checked out of the hotel", False),
        ("Kael is my favourite", False),
        ("Analyse this feeling", False),
    ],
)
def test_words_decide_whether_a_tool_is_needed(message: str, is_needed: bool) -> None:
    assert (
        needs_tool(message, ["canon_checker", "file_locator"], ["outline", "scenes", "Kael"])
        is is_needed
    )


@given(st.text(), st.integers(min_value=0, max_value=300))
def test_a_finding_never_takes_more_bytes_than_it_may(text: str, limit: int) -> None:
    fitted = fit_bytes(text, limit)
    assert len(fitted.encode("utf-8", "surrogatepass")) <= limit or len(text.encode()) <= limit
    if len(text.encode()) <= limit:
        assert fitted == text
