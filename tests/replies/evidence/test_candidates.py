"""Candidates: whatever is offered can be cited, read back and believed."""

import pytest
from evidence_library import CANON, SCENE, Library
from hypothesis import given
from hypothesis import strategies as st

from callboard.replies.evidence import (
    EvidenceMaterial,
    EvidenceRules,
    SourceFile,
    SourcePassage,
    SourceReceipt,
    check_reply,
    find_candidates,
    quotable_sentences,
    render_evidence_line,
)

ROLES = ("chief", "librarian", "planner", "writer", "editor", "critic", "continuity", "nobody")

_texts = st.text(
    alphabet=st.one_of(
        st.sampled_from("abc AB. \n\"'*_;\u2026\u201c\u201d\\-#>|:`\u00a7L3"),
        st.characters(exclude_categories=("Cs",)),
    ),
    max_size=200,
)


@given(
    scene=_texts,
    canon=_texts,
    draft=_texts,
    about=_texts,
    role=st.sampled_from(ROLES),
)
def test_every_candidate_of_any_text_verifies(
    rules: EvidenceRules, scene: str, canon: str, draft: str, about: str, role: str
) -> None:
    receipt = SourceReceipt("rcpt_1", "canon_checker", "sess_here")
    library = Library(
        files={
            SCENE: SourceFile(SCENE, scene, "scene"),
            CANON: SourceFile(CANON, canon, "canon"),
        },
        slots={"draft": draft},
        receipts={"rcpt_1": receipt},
    )
    material = EvidenceMaterial(
        [
            SourcePassage(SCENE, scene, "scene"),
            SourcePassage(CANON, canon, "canon"),
            SourcePassage("draft", draft),
        ],
        [(receipt, "2 conflicts")],
    )
    offered = find_candidates(role, rules, material, library, about=about)
    assert len(offered) <= 5
    for candidate in offered:
        reply = f"It is so.\n\n{render_evidence_line(candidate.citations)}"
        verdict = check_reply(reply, role=role, rules=rules, sources=library)
        assert verdict.accepted, (verdict.detail, verdict.evidence)
        assert "\n" not in candidate.label


def test_what_cannot_be_cited_is_not_offered(rules: EvidenceRules) -> None:
    forged = SourceReceipt("rcpt_forged", "canon_checker", "sess_here", is_signature_valid=False)
    gone = SourcePassage("Story/gone.md", "A sentence that stands nowhere.", "scene")
    material = EvidenceMaterial([gone], [(forged, "")])
    assert find_candidates("continuity", rules, material, Library()) == ()
    assert find_candidates("critic", rules, material, Library()) == ()


@pytest.mark.parametrize("role", ["critic", "continuity"])
def test_the_list_is_varied(rules: EvidenceRules, role: str) -> None:
    scenes = {
        f"Story/Scenes/{n}.md": "\n".join(f"Kael saw gate {n} on day {d}." for d in range(9))
        for n in range(3)
    }
    library = Library()
    library.files.update({path: SourceFile(path, text, "scene") for path, text in scenes.items()})
    passages = [SourcePassage(path, text, "scene") for path, text in scenes.items()]
    passages.append(SourcePassage(CANON, library.files[CANON].text, "canon"))
    offered = find_candidates(role, rules, EvidenceMaterial(passages), library)
    assert len(offered) == 5 if role == "critic" else len(offered) >= 4
    assert {each.citations[0].source for each in offered} >= set(scenes)


def test_sentences_are_whole_and_without_dress() -> None:
    text = (
        '---\n# The Gate\n\n> He ran. "Who is it?" she said.\n\n- **Eyes**: grey\n| a | b |\nNo.\n'
    )
    assert list(quotable_sentences(text)) == [
        "The Gate",
        '"Who is it?"',
        "she said.",
        "**Eyes**: grey",
    ]
