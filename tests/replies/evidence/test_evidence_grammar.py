"""The grammar of an evidence line, and its way back to text."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from callboard.replies.evidence import (
    Citation,
    CitationKind,
    EvidenceCode,
    EvidenceSyntaxError,
    parse_sources,
    render_evidence_line,
)

QUOTE, LINES, SECTION = (
    CitationKind.FILE_QUOTE,
    CitationKind.FILE_LINES,
    CitationKind.FILE_SECTION,
)
TOOLS = ("canon_checker", "file_locator")


@pytest.mark.req("CR-28")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('Story/a.md "grey eyes"', Citation(QUOTE, "Story/a.md", "grey eyes")),
        ("Story/a.md \u201cgrey eyes\u201d", Citation(QUOTE, "Story/a.md", "grey eyes")),
        ("Story/a.md \u201egrey eyes\u201c", Citation(QUOTE, "Story/a.md", "grey eyes")),
        ("Story/a.md \u00abgrey eyes\u00bb.", Citation(QUOTE, "Story/a.md", "grey eyes")),
        ("Story/a.md 'Kael's grey eyes'", Citation(QUOTE, "Story/a.md", "Kael's grey eyes")),
        ("Story/a.md \u2018grey eyes\u2019.", Citation(QUOTE, "Story/a.md", "grey eyes")),
        ('Story/a.md "one; two; three"', Citation(QUOTE, "Story/a.md", "one; two; three")),
        (
            r'Story/a.md "he said \"go\" to her"',
            Citation(QUOTE, "Story/a.md", 'he said "go" to her'),
        ),
        ('Story/a.md "he said "go" to her"', Citation(QUOTE, "Story/a.md", 'he said "go" to her')),
        (
            'Story/a.md "he said "go"; then left"',
            Citation(QUOTE, "Story/a.md", 'he said "go"; then left'),
        ),
        (
            'My Story/the long night.md "grey eyes"',
            Citation(QUOTE, "My Story/the long night.md", "grey eyes"),
        ),
        ('"My Story/night; one.md" L3', Citation(LINES, "My Story/night; one.md", lines=(3, 3))),
        (r'Story\Scenes\a.md "grey eyes"', Citation(QUOTE, "Story/Scenes/a.md", "grey eyes")),
        ('./Story/a.md: "grey eyes"', Citation(QUOTE, "Story/a.md", "grey eyes")),
        ('`Story/a.md` \u2014 "grey eyes"', Citation(QUOTE, "Story/a.md", "grey eyes")),
        ('**Story/a.md** "grey eyes"', Citation(QUOTE, "Story/a.md", "grey eyes")),
        ('[the scene](Story/a.md) "grey eyes"', Citation(QUOTE, "Story/a.md", "grey eyes")),
        (
            'Story/a.md "grey eyes" (as the card has it).',
            Citation(QUOTE, "Story/a.md", "grey eyes"),
        ),
        ('Story/a.md "grey eyes" \u2014 not green', Citation(QUOTE, "Story/a.md", "grey eyes")),
        ("Story/a.md L12-18", Citation(LINES, "Story/a.md", lines=(12, 18))),
        ("Story/a.md L12\u201318", Citation(LINES, "Story/a.md", lines=(12, 18))),
        ("Story/a.md L12-L18.", Citation(LINES, "Story/a.md", lines=(12, 18))),
        ("Story/a.md L12", Citation(LINES, "Story/a.md", lines=(12, 12))),
        ("Story/a.md#L12", Citation(LINES, "Story/a.md", lines=(12, 12))),
        ("Story/a.md (L12-18)", Citation(LINES, "Story/a.md", lines=(12, 18))),
        ("Story/a.md L12 where he turns", Citation(LINES, "Story/a.md", lines=(12, 12))),
        ('Notes L2 draft.md "grey eyes"', Citation(QUOTE, "Notes L2 draft.md", "grey eyes")),
        ('Story/a.md L3 "grey eyes"', Citation(QUOTE, "Story/a.md", "grey eyes", (3, 3))),
        ('Story/a.md "grey eyes" (L3-4)', Citation(QUOTE, "Story/a.md", "grey eyes", (3, 4))),
        ("Story/a.md \u00a7 Act One", Citation(SECTION, "Story/a.md", heading="Act One")),
        (
            "Story/a.md \u00a7Act One: The Gate",
            Citation(SECTION, "Story/a.md", heading="Act One: The Gate"),
        ),
        ("receipt_id: rcpt_01ab", Citation(CitationKind.RECEIPT, "rcpt_01ab")),
        ("`receipt_id`: `rcpt_01ab`.", Citation(CitationKind.RECEIPT, "rcpt_01ab")),
        ("receipt_id=rcpt_01ab", Citation(CitationKind.RECEIPT, "rcpt_01ab")),
        ("rcpt_01ab (canon check)", Citation(CitationKind.RECEIPT, "rcpt_01ab")),
        ('slot:draft "grey eyes"', Citation(CitationKind.SLOT, "draft", "grey eyes")),
        (
            'slot: `edited_draft`: "grey eyes"',
            Citation(CitationKind.SLOT, "edited_draft", "grey eyes"),
        ),
        ("issue:#12", Citation(CitationKind.ISSUE, "12")),
        ("issue: 12", Citation(CitationKind.ISSUE, "12")),
        ("scope: checked scenes 1-4", Citation(CitationKind.SCOPE, "scenes 1-4")),
        (
            "Scope: checked Story/a.md, Story/b.md.",
            Citation(CitationKind.SCOPE, "Story/a.md, Story/b.md"),
        ),
    ],
)
def test_one_source_is_read_whatever_it_wears(line: str, expected: Citation) -> None:
    assert parse_sources(line, TOOLS) == (expected,)


@pytest.mark.req("CR-28")
def test_sources_are_separated_by_semicolons_outside_of_quotes() -> None:
    line = (
        'Story/a.md "one; two" ; Compendium/k.md "grey; as slate" (the card); receipt_id: rcpt_1;'
        " Story/SCN-outline.md \u00a7 Act One; slot:draft \u201crain; more rain\u201d; "
    )
    assert parse_sources(line) == (
        Citation(QUOTE, "Story/a.md", "one; two"),
        Citation(QUOTE, "Compendium/k.md", "grey; as slate"),
        Citation(CitationKind.RECEIPT, "rcpt_1"),
        Citation(SECTION, "Story/SCN-outline.md", heading="Act One"),
        Citation(CitationKind.SLOT, "draft", "rain; more rain"),
    )


def test_several_receipts_may_follow_one_keyword() -> None:
    assert [each.source for each in parse_sources("receipt_id: rcpt_1, rcpt_2; rcpt_3")] == [
        "rcpt_1",
        "rcpt_2",
        "rcpt_3",
    ]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("", EvidenceCode.EVIDENCE_UNPARSEABLE),
        (" ; .", EvidenceCode.EVIDENCE_UNPARSEABLE),
        ("I read the whole scene", EvidenceCode.EVIDENCE_UNPARSEABLE),
        ("Story/a.md", EvidenceCode.EVIDENCE_UNPARSEABLE),
        ('"grey eyes"', EvidenceCode.EVIDENCE_UNPARSEABLE),
        ('Story/a.md "grey eyes', EvidenceCode.EVIDENCE_UNPARSEABLE),
        ('Story/a.md ""', EvidenceCode.EVIDENCE_UNPARSEABLE),
        ("Story/a.md \u00a7 ", EvidenceCode.EVIDENCE_UNPARSEABLE),
        ("slot:draft", EvidenceCode.EVIDENCE_UNPARSEABLE),
        ("scope: everything", EvidenceCode.EVIDENCE_UNPARSEABLE),
        ("scope: checked", EvidenceCode.EVIDENCE_UNPARSEABLE),
        ("Story/a.md L99999999999999999999", EvidenceCode.EVIDENCE_UNPARSEABLE),
        # A second source behind a remark is not passed over unread.
        ("Story/a.md L3 and rcpt_9", EvidenceCode.EVIDENCE_UNPARSEABLE),
        ("receipt_id: rcpt_1 and Story/b.md", EvidenceCode.EVIDENCE_UNPARSEABLE),
        ("Story/a.md L3, slot:draft", EvidenceCode.EVIDENCE_UNPARSEABLE),
        ("receipt_id:", EvidenceCode.RECEIPT_MISSING),
        ("receipt_id: 12345", EvidenceCode.RECEIPT_MISSING),
        ("canon_checker found nothing", EvidenceCode.RECEIPT_MISSING),
        ('canon_checker "no conflicts here"', EvidenceCode.RECEIPT_MISSING),
        ("x" * 9_000, EvidenceCode.EVIDENCE_UNPARSEABLE),
        ("Story/a.md L3; " * 31, EvidenceCode.EVIDENCE_UNPARSEABLE),
    ],
)
def test_what_cannot_be_read_says_why(line: str, code: EvidenceCode) -> None:
    with pytest.raises(EvidenceSyntaxError) as raised:
        parse_sources(line, TOOLS)
    assert raised.value.code is code
    assert raised.value.detail


_pieces = st.sampled_from(
    [
        "Story/a.md",
        '"',
        "\u201c",
        "\u201d",
        "'",
        ";",
        " L3-4",
        "L",
        "\u00a7",
        "receipt_id:",
        "rcpt_1",
        "slot:",
        "draft",
        "issue:#",
        "scope: checked",
        "\\",
        "**",
        "`",
        "\n",
        " ",
        "word",
    ]
)


@given(st.one_of(st.text(max_size=120), st.lists(_pieces, max_size=25).map("".join)))
@example("'" * 50)
@example('a.md "' + '";' * 60)
def test_no_line_breaks_the_parser(line: str) -> None:
    try:
        citations = parse_sources(line, TOOLS)
    except EvidenceSyntaxError:
        return
    assert citations


_names = st.from_regex(r"[A-Za-z][A-Za-z0-9 _'-]{0,12}[A-Za-z0-9]", fullmatch=True)
_paths = st.lists(_names, min_size=1, max_size=3).map(lambda parts: "/".join(parts) + ".md")
_quotes = st.text(min_size=1, max_size=60).filter(lambda text: text.strip())
_line_ranges = st.tuples(st.integers(1, 500), st.integers(0, 20)).map(lambda p: (p[0], p[0] + p[1]))
_citations = st.one_of(
    st.builds(Citation, st.just(QUOTE), _paths, _quotes),
    st.builds(Citation, st.just(QUOTE), _paths, _quotes, _line_ranges),
    st.builds(Citation, st.just(LINES), _paths, st.just(""), _line_ranges),
    st.builds(Citation, st.just(CitationKind.SLOT), st.just("draft"), _quotes),
    st.builds(Citation, st.just(CitationKind.RECEIPT), st.just("rcpt_01ab")),
    st.builds(Citation, st.just(CitationKind.ISSUE), st.integers(1, 999).map(str)),
)


@given(st.lists(_citations, min_size=1, max_size=5))
def test_what_is_rendered_is_read_back(citations: list[Citation]) -> None:
    line = render_evidence_line(citations)
    assert line.startswith("Evidence: ")
    expected = [
        Citation(each.kind, each.source, " ".join(each.quote.split()), each.lines, each.heading)
        for each in citations
    ]
    assert list(parse_sources(line.removeprefix("Evidence: "))) == expected
