"""What small models are shown of findings, and what is kept of what they say."""

from hypothesis import given
from hypothesis import strategies as st

from callboard.choreography.small_models import clean_reply, plain_findings

OUTLINE = """\
Outline Story/SCN-outline.md: 7 scenes in 3 acts. The target is this scene:
- Story/SCN-outline.md L51 "### Scene 5: The Long Bell"
  pov: Ines; location: Clock tower
  * Ines and Jun carry the wheel (L59)
  * Jun swings the pendulum (L60)
Findings (1):
- [minor] Scene 4 (Fog) has no beats. Suggestion: Say what happens.
  Story/SCN-outline.md L43 "### Scene 4: Fog"
"""
CANON = """\
Story/Scenes/SCN-03.md against 3 cards: CONFLICTS: 1 conflict, 0 name variants, 0 gaps.
Findings (1):
- [major] Tobias Rell's eyes: canon says blue, the scene says hazel. Suggestion: Revise.
  Story/Scenes/SCN-03.md L17 "Tobias's eyes were hazel and very quiet."
  Compendium/CHAR-Tobias.md L10 "Eyes: blue"
- Canon: Ines Varga's age: 41.
"""


def test_findings_lose_their_apparatus() -> None:
    assert plain_findings(OUTLINE, 1_500) == (
        "Scene 5: The Long Bell\n"
        "pov: Ines; location: Clock tower\n"
        "- Ines and Jun carry the wheel\n"
        "- Jun swings the pendulum"
    )
    assert plain_findings(CANON, 1_500) == (
        "- Tobias Rell's eyes: canon says blue, the scene says hazel."
    )


def test_without_findings_the_facts_are_what_there_is() -> None:
    facts = "X against 1 card: CONSISTENT: 0 conflicts.\n- Canon: Jun's age: 14.\n"
    assert plain_findings(facts, 1_500) == "- Jun's age: 14."
    assert plain_findings("0 findings in 2 files.", 1_500) == "0 findings in 2 files."


def test_only_whole_lines_fit() -> None:
    assert plain_findings("- one one\n- two two\n- three", 12) == "- one one"


def test_a_reply_keeps_only_what_is_its_own() -> None:
    shown = "The clock will not start\nWrite three sentences."
    said = (
        '<data origin="slot:brief" trust="untrusted">\n'
        "The clock will not start.\n</data>\n"
        "Write three sentences.\n"
        "Jun swings the pendulum. It moves. It moves again and th"
    )
    assert clean_reply(said, shown) == "Jun swings the pendulum. It moves."
    assert clean_reply("Here is the scene: Jun waits.", "") == "Jun waits."
    assert clean_reply("Same.\nSame.\n", "") == "Same."


def test_a_reply_that_is_all_echo_stands() -> None:
    assert clean_reply("The clock will not start.", "The clock will not start") == (
        "The clock will not start."
    )


@given(st.text(max_size=400), st.text(max_size=200), st.integers(0, 200))
def test_no_text_breaks_it(text: str, shown: str, limit: int) -> None:
    plain_findings(text, limit)
    assert bool(clean_reply(text, shown)) == bool(text.strip())
