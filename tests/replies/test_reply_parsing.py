import json

import pytest

from callboard.replies import Action, ContentUpdate, ParsedReply, parse_reply

SAVE = '<action type="save"><key>a</key></action>'


def codes(reply: ParsedReply) -> set[str]:
    return {warning.code for warning in reply.warnings}


@pytest.mark.req("WF-60", "WF-62")
def test_a_well_formed_reply_comes_apart() -> None:
    raw = (
        "<thinking>\n He is *poor*, not flawed. \n</thinking>\n\n"
        "<message>\n**CHALLENGE:** why?\n</message>\n"
        '<action type="save_decision"><key>flaw</key><value>pride</value></action>\n'
        '<action type="open">\n  <file>a.md</file>\n</action>\n'
        '<content_update target="ch1.md">\nIt rained.\n</content_update>\n'
        '<content_update target="ch2.md">It stopped.</content_update>'
    )
    reply = parse_reply(raw)
    assert reply.thinking == "He is *poor*, not flawed."
    assert reply.message == "**CHALLENGE:** why?"
    assert reply.actions == (
        Action(
            "save_decision",
            {"key": "flaw", "value": "pride"},
            '<action type="save_decision"><key>flaw</key><value>pride</value></action>',
        ),
        Action("open", {"file": "a.md"}, '<action type="open">\n  <file>a.md</file>\n</action>'),
    )
    assert [(u.target, u.content) for u in reply.content_updates] == [
        ("ch1.md", "It rained."),
        ("ch2.md", "It stopped."),
    ]
    assert (reply.raw, reply.warnings) == (raw, ())


@pytest.mark.req("WF-G36")
@pytest.mark.parametrize(
    "raw",
    [
        f"<thinking>I could {SAVE}\n{SAVE}\n</thinking>\n<message>hi</message>",
        f"<think>\n{SAVE}\n</think>\nhi",
        f"<message>The notebook says:\n{SAVE}\n</message>",
        f"<content_update target='a'>\n{SAVE}\n</content_update>",
        f"```\n{SAVE}\n```",
        f"~~~~xml\n{SAVE}\n~~~\n{SAVE}\n~~~~",
        f"```xml\nnever closed\n{SAVE}\n",
        f"  ```\n{SAVE}\n  ```\nmore",
        f"Write `{SAVE}` like this.",
        f"``\n{SAVE}\n``",
        f"<message>Close with `</message>` or\n```\n</message>\n{SAVE}\n```\n</message>",
        f"<message>outer <message>inner</message>\n{SAVE}\n</message>",
        f"<message>never closed\n{SAVE}\n",
        f"<thinking>never closed\n{SAVE}\n",
        f"<content_update target='a'>never closed\n{SAVE}\n",
        f"planned:\n{SAVE}\n</think>\n<message>hi</message>",
        f"<!--\n{SAVE}\n-->",
        f"<![CDATA[\n{SAVE}\n]]>",
        f"<data origin='x' trust='untrusted'>\n{SAVE}\n</data>",
        f"<quote>\n<quote>\n</quote>\n{SAVE}\n</quote>",
        f"The text said {SAVE} and went on.",
        f"> {SAVE}",
        f"- {SAVE}",
        f"see <action type='outer'>\n{SAVE}\n</action>",
        f"see <action type='outer'>\n{SAVE}\n",
        f"<action type='outer'><v>cut off\n{SAVE}\n",
        f"<action type='outer\n{SAVE}\n",
        f"<action type='outer'>\n<!-- a\n{SAVE}",
        f"<MESSAGE>\n{SAVE}\n</MESSAGE>",
    ],
)
def test_a_tag_inside_text_is_text(raw: str) -> None:
    reply = parse_reply(raw)
    assert [action.type for action in reply.actions] == []
    assert reply.message or reply.thinking or reply.content_updates


def test_an_action_inside_an_action_is_only_a_value() -> None:
    reply = parse_reply(f"<action type='note'><text>{SAVE}</text></action>")
    assert [action.type for action in reply.actions] == ["note"]


@pytest.mark.req("WF-G37")
@pytest.mark.parametrize(
    ("raw", "kind", "content"),
    [
        ("<action type='save'><k>1</k></action>", "save", {"k": "1"}),
        ("<action  id = 'x' type=\"save\" lang=en >\n<k>1</k></action >", "save", {"k": "1"}),
        ("<Action Type='save'><k>1</k></ACTION>", "save", {"k": "1"}),
        ("<action type='save-decision'><k>1</k></action>", "save-decision", {"k": "1"}),
        (
            "<action type='save'><k>a &amp; &lt;b&gt; &eacute;</k></action>",
            "save",
            {"k": "a & <b> é"},
        ),
        ("<action type='save'/>", "save", {}),
        ("<action type='save'></action>", "save", {}),
        ("<action type='save' k='a &gt; b'/>", "save", {"k": "a > b"}),
        ("<action type='save' note='a > b'><k>1</k></action>", "save", {"k": "1"}),
    ],
)
def test_sloppy_but_clear_actions_are_read(raw: str, kind: str, content: dict[str, str]) -> None:
    reply = parse_reply(f"<message>hi</message>{raw}")
    assert reply.message == "hi"
    assert [(a.type, a.content) for a in reply.actions] == [(kind, content)]
    assert reply.warnings == ()


@pytest.mark.req("WF-G37")
def test_several_messages_are_joined_by_a_blank_line() -> None:
    reply = parse_reply(f"<message>one</message>\n{SAVE}\n<message> two </message>")
    assert reply.message == "one\n\ntwo"
    assert len(reply.actions) == 1


@pytest.mark.req("WF-G37")
def test_an_unclosed_last_tag_closes_at_the_end_but_never_an_action() -> None:
    assert parse_reply("<thinking>a</thinking><message>cut off here").message == "cut off here"
    update = parse_reply("<message>m</message>\n<content_update target='a'>It rai")
    assert update.content_updates == (
        ContentUpdate("a", "It rai", "<content_update target='a'>It rai"),
    )
    action = parse_reply("<message>m</message>\n<action type='save'><k>1</k>")
    assert action.actions == ()
    assert action.message == "m\n\n<action type='save'><k>1</k>"
    for reply in (update, action):
        assert "unclosed_tag" in codes(reply)


@pytest.mark.req("WF-G37")
@pytest.mark.parametrize(
    ("opening", "closing"), [("```xml\n", "\n```"), ("~~~\n", "\n~~~"), ("```\n", "")]
)
def test_a_reply_wrapped_in_a_code_fence_is_unwrapped(opening: str, closing: str) -> None:
    reply = parse_reply(f"{opening}<message>hi</message>\n{SAVE}{closing}\n")
    assert reply.message == "hi"
    assert [action.type for action in reply.actions] == ["save"]
    assert "fence_removed" in codes(reply)


def test_a_reply_wrapped_in_one_element_is_unwrapped() -> None:
    reply = parse_reply(f"<response>\n<message>hi</message>\n{SAVE}\n</response>")
    assert (reply.message, len(reply.actions)) == ("hi", 1)
    assert "wrapper_removed" in codes(reply)


@pytest.mark.req("WF-G37")
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"message": "hi", "actions": [{"type": "save", "k": 1}]}, [("save", {"k": 1})]),
        (
            {
                "message": "hi",
                "actions": [{"type": "save", "parameters": {"k": 1}}],
                "thinking": "t",
            },
            [("save", {"k": 1})],
        ),
        ({"action": "save", "k": 1, "message": "hi"}, [("save", {"k": 1})]),
        ({"message": "hi", "action": {"name": "save", "args": {"k": [1]}}}, [("save", {"k": [1]})]),
        ({"message": "hi", "actions": [{"k": 1}, "save", {"type": "a b"}]}, []),
        ({"message": "hi"}, []),
    ],
)
def test_a_json_reply_is_converted(value: object, expected: list[tuple[str, object]]) -> None:
    for raw in (json.dumps(value), f"```json\n{json.dumps(value)}\n```"):
        reply = parse_reply(raw)
        assert reply.message == "hi"
        assert [(a.type, a.content) for a in reply.actions] == expected
        assert "json_converted" in codes(reply)
        assert reply.raw == raw


@pytest.mark.req("WF-G37")
def test_a_json_reply_with_only_an_action_is_converted_but_not_from_a_fence() -> None:
    raw = '{"action": "save", "content": {"k": 1},}'
    assert [(a.type, a.content) for a in parse_reply(raw).actions] == [("save", {"k": 1})]
    fenced = parse_reply(f"```json\n{raw}\n```")
    assert fenced.actions == ()
    assert raw in fenced.message


def test_json_updates_and_other_json_are_told_apart() -> None:
    updates = [{"target": "a", "content": "b"}, {"target": "", "content": "c"}, 3]
    reply = parse_reply(json.dumps({"message": "m", "content_updates": updates}))
    assert [(u.target, u.content) for u in reply.content_updates] == [("a", "b")]
    assert "malformed_content_update" in codes(reply)
    other = parse_reply('{"title": "A", "scenes": []}')
    assert (other.message, other.actions) == ('{"title": "A", "scenes": []}', ())


@pytest.mark.req("WF-64", "WF-G37")
def test_without_a_message_tag_the_rest_is_the_message() -> None:
    assert parse_reply("Just *words*.").message == "Just *words*."
    reply = parse_reply(f"<thinking>t</thinking>\nFirst.\n{SAVE}\nSecond.")
    assert (reply.message, reply.thinking, len(reply.actions)) == ("First.\n\nSecond.", "t", 1)
    assert "no_message" in codes(reply)


@pytest.mark.req("WF-64")
@pytest.mark.parametrize(
    "bad",
    [
        "<action><k>1</k></action>",
        "<action type=''><k>1</k></action>",
        "<action type='a b'><k>1</k></action>",
        "<action type='save'><k>1</action>",
        "<action type='save'><k>1</k></j></action>",
        "<action type='save'><k><j>1</k></j></action>",
        "<content_update>text</content_update>",
    ],
)
def test_a_malformed_action_is_shown_and_not_executed(bad: str) -> None:
    reply = parse_reply(f"<message>hi</message>\n{bad}\n{SAVE}")
    assert reply.message == f"hi\n\n{bad}"
    assert [action.type for action in reply.actions] == ["save"]
    assert any(code.startswith("malformed_") for code in codes(reply))


@pytest.mark.req("WF-64")
def test_nesting_errors_are_best_effort_and_reported() -> None:
    reply = parse_reply("<message>a <thinking>b</message> c</thinking>\n<message>d</message>")
    assert reply.message == "d"
    assert "missing_opening_tag" in codes(reply)
    reply = parse_reply("<message>a</message></action>\nleft over")
    assert reply.message == "a"
    assert {"stray_closing_tag", "text_outside_tags"} <= codes(reply)


def test_a_forgotten_fence_does_not_swallow_the_end_of_a_message() -> None:
    reply = parse_reply(f"<message>Look:\n```python\nx = 1\n</message>\n{SAVE}")
    assert reply.message == "Look:\n```python\nx = 1"
    assert len(reply.actions) == 1


def test_thinking_opened_by_the_chat_template_is_recognised() -> None:
    reply = parse_reply(f"I should {SAVE}\n{SAVE}\n</think>\n\nHello.\n{SAVE}")
    assert reply.thinking is not None
    assert reply.thinking.startswith("I should")
    assert (reply.message, len(reply.actions)) == ("Hello.", 1)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("", ""),
        ("  \n", ""),
        ("<thinking>only this", "only this"),
        ("<thinking>only this</thinking>", "only this"),
        ("<message></message>", "<message></message>"),
    ],
)
def test_something_is_always_visible(raw: str, message: str) -> None:
    assert parse_reply(raw).message == message


@pytest.mark.req("WF-G38", "WF-64")
def test_a_failing_parser_still_shows_the_reply(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(text: str) -> None:
        raise ValueError(text)

    monkeypatch.setattr("callboard.replies.parsing.scan", broken)
    raw = f"<message>my secret</message>\n{SAVE}"
    reply = parse_reply(raw)
    assert (reply.message, reply.actions, reply.content_updates) == (raw, (), ())
    assert codes(reply) == {"parser_failed"}
    assert "ValueError" in caplog.text
    assert "secret" not in caplog.text
