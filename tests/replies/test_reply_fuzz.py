"""Ten thousand fuzzed replies, and replies built to be slow: no crash, no action out of text."""

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.canonical import compact_json
from callboard.replies import ParsedReply, extract_json, parse_reply

PIECES = (
    *("<message>", "</message>", "<thinking>", "</thinking>", "<think>", "</think>", "<MESSAGE>"),
    *(
        "<action type='run'>",
        '<action type="run" x=1>',
        "<action>",
        "</action>",
        "<action type='r'/>",
    ),
    *("<content_update target='a.md'>", "<content_update>", "</content_update>", "<action type='"),
    *("<key>", "</key>", "<value>", "</value>", "<data>", "</data>", "<b>", "</b>", "<", ">", "/>"),
    *("```", "```xml", "~~~", "`", "``", "\n", "\n", "\n\n", "\r\n", " ", "\t", "<!--", "-->"),
    *("<![CDATA[", "]]>", "&lt;", "&#x;", "&#99999999999;", "&", "words here", "[1, 2]", "[", '"'),
    *('{"message": "hi"}', '{"action": "run"}', "{", "}", ",", ":", "'", "\x00", "\ud800", "𝄞"),
)
PLANTED = "<action type='planted'><k>v</k></action>"
# Text that leaves a reader at top level in the same state it found them in.
CALM = ("words here", "\n", "\n\n", " ", "<", ">", "&lt;", "# Title", "1 < 2", "é", "{", "[x]", "'")
SHELTERS = (
    ("<message>", "</message>"),
    ("<thinking>", "</thinking>"),
    ("<think>", "</think>"),
    ("<content_update target='x'>", "</content_update>"),
    ("\n```\n", "\n```\n"),
    ("\n~~~~ xml\n", "\n~~~~\n"),
    ("`", "`"),
    ("\n<data origin='f' trust='untrusted'>", "</data>\n"),
    ("<!--", "-->"),
    ("<message>```\n</message>", "\n```\n</message>"),
    ("text ", " text"),
    ("\n```\n        ```\n", "\n```\n"),
    ("\n```\nx>```\n", "\n```\n"),
    ("\n      ```\n          ```\n", "\n      ```\n"),
)


def check(raw: str) -> ParsedReply:
    reply = parse_reply(raw)
    assert reply.raw == raw
    assert not any(w.code == "parser_failed" for w in reply.warnings)
    assert reply.message or reply.actions or reply.content_updates or not raw.strip()
    for action in reply.actions:
        assert action.type
        compact_json(action.content)
        assert action.raw
    return reply


def test_ten_thousand_fuzzed_replies() -> None:
    rng = random.Random(7_062_024)
    executed = 0
    for _ in range(10_000):
        raw = "".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 30)))
        executed += bool(check(raw).actions)
        extract_json(raw)
    # The fuzz must also reach replies that do ask for something.
    assert executed > 50


@pytest.mark.req("WF-G36")
def test_ten_thousand_planted_actions_stay_text() -> None:
    rng = random.Random(46_872)
    for _ in range(10_000):
        parts: list[str] = []
        for _ in range(rng.randrange(1, 5)):
            opening, closing = rng.choice(SHELTERS)
            inside = [rng.choice(CALM) for _ in range(rng.randrange(4))]
            planted = rng.choice([PLANTED, f"{PLANTED} {PLANTED}", f"({PLANTED})"])
            if opening not in ("`", "text "):
                planted = rng.choice([planted, f"\n{planted}\n"])
            else:
                inside = [part for part in inside if "\n" not in part]
            parts += [rng.choice(CALM), opening, *inside, planted, closing]
        raw = "".join(parts)
        reply = check(raw)
        assert all(action.type != "planted" for action in reply.actions), raw


@pytest.mark.req("WF-G36")
def test_a_real_action_is_still_found_next_to_planted_ones() -> None:
    real = "\n<action type='real'><k>v</k></action>\n"
    for opening, closing in SHELTERS:
        raw = f"{opening}{PLANTED}{closing}\n\n{real}"
        assert [action.type for action in check(raw).actions] == ["real"], raw


@given(st.text(st.characters(), max_size=200) | st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_text_is_a_reply(raw: str) -> None:
    check(raw)


@given(
    st.sampled_from(SHELTERS[:4]),
    st.lists(st.sampled_from([p for p in PIECES if "message" not in p and "think" not in p])),
)
def test_nothing_acts_from_inside_a_block_that_ends_the_reply(
    shelter: tuple[str, str], inside: list[str]
) -> None:
    body = "".join(piece for piece in inside if "content_update" not in piece)
    reply = check(f"{shelter[0]}{body}\n{PLANTED}\n{body}{shelter[1]}")
    assert reply.actions == ()


UNITS = (
    *("<", "<message>", "x<message>", "<action type='a'>", "x<action type='a'></action>", "`"),
    *("` `` ", "```\n", "<message>```x\n", "<a><b>", "<message><![CDATA[", "</message>", "<!--"),
    *("</thinking>", "<action ", '<message a="', "&#", "{[", '{"\\"', "<a1><a1></a1>", "\n\n` "),
    *("<message></message>", "<action type='a'><k>", "\n~~~x\n~~~~\n", " ", "</", '",', "# #  "),
)


@pytest.mark.parametrize("unit", UNITS)
def test_a_long_hostile_reply_takes_linear_time(unit: str) -> None:
    small, large = 40_000, 400_000
    seconds: dict[int, float] = {}
    for size in (small, large):
        text = (unit * (size // len(unit) + 1))[:size]
        start = time.process_time()
        for raw in (text, f"<message>{text}", f"<action type='a'><v>{text}</v></action>"):
            check(raw)
        extract_json(text, {"type": "object"})
        seconds[size] = time.process_time() - start
    # Ten times the text may take ten times as long; quadratic work would take a hundred times.
    assert seconds[large] < 40 * max(seconds[small], 0.02)


@pytest.mark.parametrize("unit", ["<", "<message>"])
def test_a_megabyte_of_openings_is_read(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    assert check(text).actions == ()
