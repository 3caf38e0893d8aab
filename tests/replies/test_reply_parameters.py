from typing import Any

import pytest

from callboard.replies import coerce, parse_reply


def content(body: str) -> dict[str, Any]:
    (action,) = parse_reply(f"<action type='a'>{body}</action>").actions
    return action.content


@pytest.mark.req("WF-63")
def test_a_json_list_is_read_and_a_bad_one_stays_text() -> None:
    assert content('<v>["a", 1, {"b": [2]}]</v>') == {"v": ["a", 1, {"b": [2]}]}
    assert content("<v>[a, b]</v><w>[NaN]</w>") == {"v": "[a, b]", "w": "[NaN]"}


@pytest.mark.req("WF-G39")
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<c><name>Kael</name><age>34</age></c>", {"c": {"name": "Kael", "age": "34"}}),
        ("<c><rule>a</rule><rule>b</rule></c>", {"c": {"rule": ["a", "b"]}}),
        ("<k>1</k><k>2</k><k>3</k>", {"k": ["1", "2", "3"]}),
        ("<c><d><e>x</e></d></c>", {"c": {"d": {"e": "x"}}}),
        ("<c/>", {"c": ""}),
    ],
)
def test_nested_elements_become_objects_and_lists(body: str, expected: dict[str, Any]) -> None:
    assert content(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<v>He was <em>not</em> well</v>", {"v": "He was <em>not</em> well"}),
        ("<v>use <b> here</v>", {"v": "use <b> here"}),
        ("<v>1 < 2 && 3 > 2</v>", {"v": "1 < 2 && 3 > 2"}),
        ("<v><![CDATA[</v> & <raw> &amp;]]></v>", {"v": "</v> & <raw> &amp;"}),
        ("<!-- note --><v>x<!-- y --></v>", {"v": "x"}),
        ("<parameter name='key'>x</parameter><param name='b'>y</param>", {"key": "x", "b": "y"}),
        ('{"key": "x", "n": 2}', {"key": "x", "n": 2}),
        ("just words", {"content": "just words"}),
        ("<v>&#" + "9" * 5000 + ";</v>", {"v": "&#" + "9" * 5000 + ";"}),
    ],
)
def test_odd_bodies_keep_their_text(body: str, expected: dict[str, Any]) -> None:
    assert content(body) == expected


def test_deep_nesting_is_refused_not_recursed() -> None:
    reply = parse_reply("<action type='a'>" + "<x>" * 5000 + "</x>" * 5000 + "</action>")
    assert reply.actions == ()
    assert reply.warnings[0].code == "malformed_action"


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "count": {"type": "integer"},
        "ratio": {"type": ["number", "null"]},
        "locked": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "numbers": {"type": "array", "items": {"type": "integer"}},
        "content": {"type": "object", "properties": {"age": {"type": "integer"}}},
        "note": {"type": "string"},
    },
}


@pytest.mark.req("WF-G39")
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"count": " 42 "}, {"count": 42}),
        ({"ratio": "-1.5e2"}, {"ratio": -150.0}),
        ({"locked": "Yes"}, {"locked": True}),
        ({"locked": "false"}, {"locked": False}),
        ({"tags": "a, b,, c "}, {"tags": ["a", "b", "c"]}),
        ({"tags": "- a\n- b, c\n3. d"}, {"tags": ["a", "b, c", "d"]}),
        ({"tags": '["a, b", "c"]'}, {"tags": ["a, b", "c"]}),
        ({"tags": "one"}, {"tags": ["one"]}),
        ({"tags": {"tag": ["a", "b"]}}, {"tags": ["a", "b"]}),
        ({"tags": {"tag": "a"}}, {"tags": ["a"]}),
        ({"numbers": "1\n2"}, {"numbers": [1, 2]}),
        ({"content": {"age": "34"}}, {"content": {"age": 34}}),
        ({"content": '{"age": 34}'}, {"content": {"age": 34}}),
        (
            {"content": "age: 34\n**Eye color:** grey"},
            {"content": {"age": 34, "eye_color": "grey"}},
        ),
        (
            {"content": "# Age\n34\n## Arc #\nrises\nfalls"},
            {"content": {"age": 34, "arc": "rises\nfalls"}},
        ),
        ({"note": "5", "extra": "6"}, {"note": "5", "extra": "6"}),
    ],
)
def test_values_are_coerced_by_schema(given: dict[str, Any], expected: dict[str, Any]) -> None:
    assert coerce(given, SCHEMA) == (expected, [])


@pytest.mark.req("WF-G39")
def test_what_cannot_be_coerced_stays_and_is_reported() -> None:
    raw = "<action type='Write-Template'><count>many</count><content>prose only</content></action>"
    reply = parse_reply(raw, {"write_template": SCHEMA})
    (action,) = reply.actions
    assert action.type == "write_template"
    assert action.content == {"count": "many", "content": "prose only"}
    assert [str(w) for w in reply.warnings if w.code == "not_coerced"] == [
        "not_coerced: write_template.count: 'many' is not a integer",
        "not_coerced: write_template.content: 'prose only' is not an object",
    ]
