"""The gate: exactly one evidence line, whose sources hold and befit the role."""

import pytest
from evidence_library import CANON, OUTLINE, SCENE, Library
from hypothesis import given
from hypothesis import strategies as st

from callboard.replies.evidence import EvidenceRules, EvidenceVerdict, check_reply, cut_reply

TOOLS = ("canon_checker", "file_locator", "outline_analyzer", "read")
TRUE_QUOTE = f'{SCENE} "His eyes were green"'
CANON_QUOTE = f'{CANON} "Eyes: grey as slate"'


class Gate:
    """Judges replies as the tests write them."""

    def __init__(self, rules: EvidenceRules, library: Library) -> None:
        """Take the rules and the sources."""
        self.rules = rules
        self.library = library

    def __call__(self, text: str, role: str = "critic") -> EvidenceVerdict:
        """Judge one reply."""
        return check_reply(text, role=role, rules=self.rules, sources=self.library, tool_ids=TOOLS)


@pytest.fixture
def gate(rules: EvidenceRules, library: Library) -> Gate:
    """Return the gate with the rules as shipped."""
    return Gate(rules, library)


@pytest.mark.req("CR-23", "CR-25")
@pytest.mark.parametrize(
    "mark",
    [
        "Evidence:",
        "**Evidence:**",
        "__Evidence:__",
        "**Evidence**:",
        "*Evidence:*",
        "_Evidence_:",
        "EVIDENCE:",
        "  - Evidence:",
        "> **Evidence:**",
        "### Evidence:",
        "Evidence\uff1a",
    ],
)
def test_one_line_with_a_true_quote_is_accepted(gate: Gate, mark: str) -> None:
    verdict = gate(f"The eyes are wrong.\n\n{mark} {TRUE_QUOTE}")
    assert verdict.accepted, verdict.detail
    assert verdict.codes == ()
    assert verdict.body == "The eyes are wrong."
    assert verdict.evidence == TRUE_QUOTE


def test_the_whole_line_may_be_bold(gate: Gate) -> None:
    assert gate(f"Wrong.\n**Evidence: {TRUE_QUOTE}**").accepted


@pytest.mark.req("CR-23")
def test_none_and_two_are_refused_each_with_its_own_code(gate: Gate) -> None:
    assert gate("The eyes are wrong.").codes == ("evidence_missing",)
    twice = gate(f"Evidence: {TRUE_QUOTE}\nWrong.\n**Evidence:** {TRUE_QUOTE}")
    assert twice.codes == ("evidence_multiple",)
    assert "Evidence" not in twice.body


@pytest.mark.req("CR-23")
@pytest.mark.parametrize("text", ["The evidence: none.", "Evidence is scarce.", "No Evidence: x"])
def test_the_word_in_a_sentence_is_no_evidence_line(text: str) -> None:
    assert cut_reply(text).evidence == ()
    assert cut_reply(text).body == text


@pytest.mark.req("CR-24", "CR-25", "CR-26", "CR-28", "CR-30")
@pytest.mark.parametrize(
    ("role", "sources", "code"),
    [
        ("critic", f'{SCENE} "His eyes were violet"', "quote_not_found"),
        ("critic", f'{SCENE} "eyes"', "quote_not_found"),
        ("critic", 'Story/Scenes/SCN-99.md "His eyes were green"', "file_not_found"),
        ("critic", '../../etc/passwd "root:x:0:0"', "file_not_found"),
        ("critic", '/etc/passwd "root:x:0:0"', "file_not_found"),
        ("planner", f"{OUTLINE} L40-50", "line_out_of_range"),
        ("planner", f"{OUTLINE} L5-3", "line_out_of_range"),
        ("planner", f"{OUTLINE} L0", "line_out_of_range"),
        ("planner", f"{OUTLINE} \u00a7 Act Nine", "section_not_found"),
        ("writer", 'slot:secret "The rain had stopped"', "slot_not_visible"),
        ("writer", 'slot:draft "The sun had risen"', "quote_not_found"),
        ("chief", "receipt_id: rcpt_made_up", "receipt_unknown"),
        ("chief", "receipt_id: rcpt_other", "receipt_foreign_session"),
        ("chief", "receipt_id: rcpt_forged", "receipt_signature_invalid"),
        ("chief", "receipt_id:", "receipt_missing"),
        ("continuity", "canon_checker says it is fine", "receipt_missing"),
        ("librarian", "issue:#999", "issue_unknown"),
        ("critic", "I simply know", "evidence_unparseable"),
        ("critic", "", "evidence_unparseable"),
        ("continuity", "scope: checked Story/Scenes/SCN-99.md", "file_not_found"),
        ("continuity", "scope: checked everything there is", "file_not_found"),
    ],
)
def test_every_reason_has_its_own_code(gate: Gate, role: str, sources: str, code: str) -> None:
    verdict = gate(f"Something.\nEvidence: {sources}", role)
    assert not verdict.accepted
    assert verdict.codes == (code,)
    assert verdict.detail


@pytest.mark.req("CR-24")
@pytest.mark.parametrize(
    ("role", "sources", "accepted"),
    [
        ("chief", "receipt_id: rcpt_1", True),
        ("chief", TRUE_QUOTE, False),
        ("librarian", "receipt_id: rcpt_1", True),
        ("librarian", "issue:#7", True),
        ("librarian", TRUE_QUOTE, False),
        ("planner", f"{OUTLINE} L3", True),
        ("planner", f"{OUTLINE} \u00a7 act one", True),
        ("planner", f"{OUTLINE} \u00a7 Scene 1: The Gate", True),
        ("planner", f'{OUTLINE} "Scene 1: The Gate"', True),
        ("planner", "receipt_id: rcpt_2", True),
        ("planner", "receipt_id: rcpt_1", False),
        ("planner", TRUE_QUOTE, False),
        ("writer", TRUE_QUOTE, True),
        ("writer", 'slot:draft "The rain had stopped"', True),
        ("writer", f"{SCENE} L3", False),
        ("writer", CANON_QUOTE, False),
        ("writer", "receipt_id: rcpt_1", False),
        ("editor", 'slot:draft "The rain had stopped"', True),
        ("critic", TRUE_QUOTE, True),
        ("critic", "receipt_id: rcpt_1", False),
        ("continuity", f"{TRUE_QUOTE}; {CANON_QUOTE}", True),
        ("continuity", f'slot:draft "The rain had stopped"; {CANON_QUOTE}', True),
        ("continuity", TRUE_QUOTE, False),
        ("continuity", CANON_QUOTE, False),
        ("continuity", "receipt_id: rcpt_1", True),
        ("continuity", "receipt_id: rcpt_2", False),
        ("continuity", "receipt_id: rcpt_failed", False),
        ("continuity", "scope: checked scenes 1-4", True),
        ("continuity", f"scope: checked {SCENE}, {CANON}", True),
        ("continuity", f"scope: checked scenes 1-2 and 4, {CANON}", True),
        ("continuity", f"scope: checked {SCENE} and {CANON}", True),
        ("critic", f"{TRUE_QUOTE}; receipt_id: rcpt_1", True),
    ],
)
def test_what_a_role_may_rest_on(gate: Gate, role: str, sources: str, *, accepted: bool) -> None:
    verdict = gate(f"Something.\nEvidence: {sources}", role)
    assert verdict.codes == (() if accepted else ("evidence_source_role",)), verdict.detail
    assert verdict.accepted is accepted


@pytest.mark.req("CR-25")
def test_one_false_source_beside_a_true_one_is_refused(gate: Gate) -> None:
    verdict = gate(f'Wrong.\nEvidence: {TRUE_QUOTE}; {SCENE} "His eyes were violet"')
    assert verdict.codes == ("quote_not_found",)
    assert [check.holds for check in verdict.checks] == [True, False]


@pytest.mark.req("CR-29")
def test_a_quote_with_lines_must_stand_on_them(gate: Gate) -> None:
    assert gate(f'Wrong.\nEvidence: {SCENE} L3 "His eyes were green"').accepted
    elsewhere = gate(f'Wrong.\nEvidence: {SCENE} L6 "His eyes were green"')
    assert elsewhere.codes == ("quote_not_found",)


def test_a_heading_in_a_code_block_is_no_heading(gate: Gate, library: Library) -> None:
    text = "Title\n=====\n\n```\n# Not this\n```\n\n## *This* one ##\n"
    library.files[OUTLINE] = type(library.files[OUTLINE])(OUTLINE, text, "outline")
    assert gate(f"x\nEvidence: {OUTLINE} \u00a7 This one", "planner").accepted
    assert gate(f"x\nEvidence: {OUTLINE} \u00a7 title.", "planner").accepted
    assert gate(f"x\nEvidence: {OUTLINE} \u00a7 Not this", "planner").codes == (
        "section_not_found",
    )


@pytest.mark.req("CR-13")
@pytest.mark.parametrize(
    "text",
    ["ABSTAIN", " abstain \n", "**ABSTAIN**", "ABSTAIN.", "<think>not my field</think>\nABSTAIN"],
)
def test_abstaining_needs_no_evidence(gate: Gate, text: str) -> None:
    verdict = gate(text)
    assert verdict.accepted
    assert verdict.abstained
    assert verdict.body == ""


@pytest.mark.req("CR-13")
@pytest.mark.parametrize("text", ["I ABSTAIN from this", "ABSTAIN because it is style"])
def test_the_word_in_a_sentence_is_no_abstention(gate: Gate, text: str) -> None:
    assert gate(text).codes == ("evidence_missing",)


@pytest.mark.req("CR-31")
@pytest.mark.parametrize(
    "text",
    [
        "<think>Evidence: nothing yet\ncanon_checker(x)</think>The eyes are wrong.",
        "Evidence: thought of\n</think>\nThe eyes are wrong.",
        "<thinking>hm</thinking>\nThe eyes are wrong.",
    ],
)
def test_thinking_is_taken_out_before_anything_is_judged(gate: Gate, text: str) -> None:
    verdict = gate(f"{text}\nEvidence: {TRUE_QUOTE}")
    assert verdict.accepted, verdict.detail
    assert verdict.body == "The eyes are wrong."


@pytest.mark.req("CR-31")
@pytest.mark.parametrize(
    "preface",
    [
        "Let me think about this.",
        "Let's think step by step.",
        "Okay, so the user wants a review.",
        "Hmm, I need to look at the eyes.",
        "The user is asking about eyes.",
        "First, I need to understand the scene.",
        "Thinking: the eyes differ.",
        "**Reasoning:**\nthe eyes differ",
        "Fine. <think>but the eyes",
    ],
)
def test_thinking_aloud_is_a_leak(gate: Gate, preface: str) -> None:
    verdict = gate(f"{preface}\nThe eyes are wrong.\nEvidence: {TRUE_QUOTE}")
    assert verdict.codes == ("cot_leak",)


@pytest.mark.req("CR-31")
@pytest.mark.parametrize(
    "text",
    [
        "\u201cLet me think,\u201d said Mira, and closed the gate.",
        "Kael thought: let me think no more of it.",
        "The gate stood open (as gates do), and so did the door.",
        "So the first thing he did was run.",
        "Okay was not a word he used.",
        "The canon_checker (see its receipt) found two conflicts.",
        "The user of the lantern asks for oil.",
        "He would read(and how he read) all night.",
        "Thoughts of home kept him awake.",
        'The card says {"name": "Kael", "eyes": "grey"} and nothing else.',
        'Findings:\n```json\n{"tool": "canon_checker", "count": 2}\n```',
    ],
)
def test_ordinary_prose_is_neither_a_leak_nor_a_call(gate: Gate, text: str) -> None:
    verdict = gate(f"{text}\nEvidence: {TRUE_QUOTE}")
    assert verdict.codes == (), verdict.detail


@pytest.mark.req("CR-31")
@pytest.mark.parametrize(
    "call",
    [
        'file_locator("Kael")',
        "I ran `canon_checker(scene_path=Story/a.md)` first.",
        '{"tool": "canon_checker", "args": {}, "nonce": "n1"}',
        '```json\n{"action": "tool", "args": {"a": 1}}\n```',
        '{"name": "file_locator", "arguments": {"x": "y"}}',
        "<tool_call>anything</tool_call>",
        'read("Story/a.md")',
        "read(path=1)",
    ],
)
def test_a_written_tool_call_is_refused(gate: Gate, call: str) -> None:
    verdict = gate(f"The eyes are wrong. {call}\nEvidence: {TRUE_QUOTE}")
    assert verdict.codes == ("tool_syntax",)


def test_several_problems_are_all_named(gate: Gate) -> None:
    verdict = gate("Let me think. file_locator(x)")
    assert set(verdict.codes) == {"evidence_missing", "cot_leak", "tool_syntax"}
    assert verdict.code == "evidence_missing"


@pytest.mark.req("CR-32")
def test_prose_keeps_its_shape_when_the_evidence_line_goes(gate: Gate) -> None:
    text = f"# Scene\n\nOne.\n\n\u201cTwo,\u201d she said.\n\nEvidence: {TRUE_QUOTE}\n\nThree.\r\n"
    assert gate(text, "writer").body == "# Scene\n\nOne.\n\n\u201cTwo,\u201d she said.\n\nThree."


_shards = st.sampled_from(
    [
        "Evidence:",
        "**Evidence:**",
        TRUE_QUOTE,
        CANON_QUOTE,
        "\n",
        ";",
        '"',
        "<think>",
        "</think>",
        "ABSTAIN",
        "receipt_id: rcpt_1",
        "slot:draft",
        "L3-4",
        "\u00a7",
        "file_locator(",
        "{",
        "```",
        " ",
    ]
)


@given(
    st.one_of(st.text(max_size=200), st.lists(_shards, max_size=20).map("".join)),
    st.sampled_from(["critic", "continuity", "chief", "planner", "nobody", ""]),
)
def test_no_reply_breaks_the_gate(rules: EvidenceRules, text: str, role: str) -> None:
    verdict = Gate(rules, Library())(text, role)
    assert verdict.accepted is (not verdict.codes)
    if not verdict.abstained:
        assert bool(verdict.codes) or len(cut_reply(text).evidence) == 1
    assert cut_reply(verdict.body).evidence == ()
