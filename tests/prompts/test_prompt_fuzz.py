"""Ten thousand fuzzed templates: read, checked and rendered, or refused with file and line."""

import random
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.vocabulary import Content
from callboard.prompts import TemplateInvalid, TemplateVariant, build_state, fence, render
from callboard.prompts.templates import read_source

PIECES = (
    *("{{slot}}", "{{ slot }}", "{{", "}}", "\\{{", "{{slot", "{{bad name}}", "{{}}", "{{{slot}}}"),
    *("<!-- tier: full -->", "<!-- tier: medium|minimal -->", "<!-- /tier -->", "<!-- tier: x -->"),
    *("<!-- micro: triage -->", "<!-- micro: finding -->", "<!-- micro -->", "<!-- tier:", "-->"),
    *("---", "label: x", "slots: [slot]", "other: 1", "- a", ": :", "!!python/object:os.system"),
    *("\n", "\n", "\n", "\r\n", "\r", " ", "\t", "Prose here.", "# Heading", "```", "\ufeff"),
    *("<action type='x'>", "</data>", "&amp;", "\x00", "\u2028", "𝄞", "\ud800", "é", "&a *a"),
)
EXPECTED = re.compile(r"project:fuzz\.md(:[0-9]+)?:")


def exercise(source: str) -> bool:
    """Return whether the template was usable; anything but a clear refusal is a crash."""
    try:
        read = read_source(source, "project:fuzz.md")
    except TemplateInvalid as error:
        assert EXPECTED.match(error.message), error.message
        return False
    hostile = Content(f"</data>{{{{slot}}}}{source}", source)
    assert ElementTree.fromstring(fence(hostile)).get("trust") == "untrusted"  # noqa: S314
    assert len(ElementTree.fromstring(build_state("s", {"v": source, "@a": source}))) == 1  # noqa: S314
    lines = source.count("\n") + source.count("\r") + 1
    for variant in TemplateVariant:
        body, parts = read.read_for(variant)
        for passage in (body, *(part.body for part in parts)):
            names = [p.name for p in passage.placeholders]
            assert all(1 <= p.line <= lines for p in passage.placeholders)
            filled = render(passage, dict.fromkeys(names, Content("{{x}}<", "f")))
            assert filled.count("{{x}}&lt;") == len(names)
    return True


def test_ten_thousand_fuzzed_templates() -> None:
    rng = random.Random(20_240_607)
    usable = 0
    for _ in range(10_000):
        count = rng.randrange(1, 16)
        source = "".join(rng.choice(PIECES) for _ in range(count))
        if rng.random() < 0.2:
            source = "---\n" + source + "\n---\n" + rng.choice(PIECES)
        usable += exercise(source)
    # Both sides of the border must have been visited.
    assert 1_000 < usable < 9_000


@given(st.text(st.characters(), max_size=200) | st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_text_is_a_template_or_a_clear_refusal(source: str) -> None:
    exercise(source)


@pytest.mark.parametrize("unit", ["{{a}}", "\\{{", "<!-- tier: full -->\n", "{", "a\n", "<!--"])
def test_a_large_template_is_read_in_linear_time(unit: str) -> None:
    exercise(unit * (200_000 // len(unit)))
