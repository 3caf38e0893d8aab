import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.vocabulary import Trust
from callboard.prompts import StateInvalid, build_state, state_content


class Mode(StrEnum):
    ARCHITECT = "ARCHITECT"


@dataclass(frozen=True)
class Project:
    title: str
    genre: str | None = None
    notes: list[str] = field(default_factory=list)


def test_plain_data_becomes_nested_elements() -> None:
    data: dict[str, Any] = {
        "current_mode": Mode.ARCHITECT,
        "completion_pct": 45,
        "locked": False,
        "project": Project("Fire & <Ice>", notes=["a", "b"]),
        "work_order": {
            "template": [
                {"@name": "theme", "@status": "complete"},
                {"@name": "rules", "#text": "one more"},
            ]
        },
        "matrix": [[1, 2], [3]],
        "nothing": None,
    }
    state = build_state("session_state", data)
    root = ElementTree.fromstring(state)  # noqa: S314
    assert root.findtext("current_mode") == "ARCHITECT"
    assert root.findtext("completion_pct") == "45"
    assert root.findtext("locked") == "false"
    assert root.findtext("project/title") == "Fire & <Ice>"
    assert [e.text for e in root.findall("project/notes")] == ["a", "b"]
    assert root.find("project/genre") is None
    assert root.find("nothing") is None
    assert [dict(e.attrib) for e in root.findall("work_order/template")] == [
        {"name": "theme", "status": "complete"},
        {"name": "rules"},
    ]
    assert root.findall("work_order/template")[1].text == "one more"
    assert [[i.text for i in m] for m in root.findall("matrix")] == [["1", "2"], ["3"]]
    assert '<template name="theme" status="complete" />' in state


def test_state_enters_a_prompt_as_trusted_structure() -> None:
    content = state_content("state", {"title": "<action type='x'/>"})
    assert (content.origin, content.trust) == ("state:state", Trust.TRUSTED)
    assert "<action" not in content.text


@pytest.mark.parametrize("name", ["", "a b", "1a", "a>", "xmlns", "ä", "a:b", "#x"])
def test_names_xml_would_not_take_are_refused(name: str) -> None:
    for build in (
        lambda: build_state(name, {}),
        lambda: build_state("r", {name: 1}),
        lambda: build_state("r", {"@" + name: 1}),
    ):
        with pytest.raises(StateInvalid):
            build()


@pytest.mark.parametrize("value", [{1, 2}, b"x", object(), float("nan"), {1: "a"}, {"@a": {}}])
def test_data_without_a_text_form_is_refused(value: Any) -> None:
    with pytest.raises(StateInvalid):
        build_state("r", {"a": value})


def test_data_that_contains_itself_is_refused() -> None:
    data: dict[str, Any] = {}
    data["self"] = data
    with pytest.raises(StateInvalid, match="nested deeper"):
        build_state("r", data)


names = st.from_regex(re.compile(r"[a-wA-W_][A-Za-z0-9_-]{0,8}"), fullmatch=True)
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)
values = st.recursive(
    scalars | st.text(st.characters(), max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=15,
)


@given(st.dictionaries(names, values, max_size=5), st.text(st.characters(), max_size=30))
def test_state_is_always_well_formed(data: dict[str, Any], attribute: str) -> None:
    state = build_state("state", {"@note": attribute, **data})
    root = ElementTree.fromstring(state)  # noqa: S314
    assert root.tag == "state"
    assert {child.tag for child in root} <= set(data)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"]), max_size=60))
def test_text_reads_back_unchanged(text: str) -> None:
    root = ElementTree.fromstring(build_state("s", {"v": text, "@a": text}))  # noqa: S314
    assert (root.findtext("v"), root.get("a")) == (text, text)
