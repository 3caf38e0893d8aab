"""No expression of our own grows faster than what it reads.

Measured by processor time of this thread, as the ratio of a text and one four times as long: a
linear expression takes four times as long, a quadratic one sixteen; eight is too much.
`PATTERN_CHARS` makes the texts longer.
"""

import importlib.util
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "pattern_growth.py"
# Made of names or words at run time: of escaped words, or read sentence by sentence.
MADE_WHILE_RUNNING = {
    "callboard.choreography.turn.sections",
    "callboard.library.story.facts.ages",
    "callboard.library.story.facts.bodies",
    "callboard.library.story.facts.deaths",
    "callboard.library.story.facts.lives",
    "callboard.library.story.facts.skills",
    "callboard.packs.alfred.kitchen.hearing.speech",
    "callboard.library.story.text.front",
    # Made of forms.yaml as the modules are loaded, and measured there, as `_FORMS`.
    "callboard.packs.alfred.kitchen.router.words",
    "callboard.packs.writers_factory.foreman.hearing.reading",
    "callboard.packs.writers_factory.foreman.talk.asking",
    "callboard.packs.writers_factory.health.timeline.statements",
    "callboard.packs.writers_factory.health.view",
    "callboard.packs.writers_factory.prose.expressions",
    "callboard.packs.writers_factory.revision.analysis.forbidden",
    "callboard.packs.writers_factory.revision.analysis.quotes",
    "callboard.packs.writers_factory.revision.analysis.brief",
}


@pytest.fixture(scope="module")
def growth() -> Any:
    spec = importlib.util.spec_from_file_location("pattern_growth", TOOL)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def expressions(growth: Any) -> Any:
    return growth.expressions()


@pytest.mark.timeout(600)
def test_no_expression_grows_faster_than_its_text(growth: Any, expressions: Any) -> None:
    found, unknown = expressions
    # A guard that looks at nothing guards nothing.
    assert len(found) > 700
    assert {place.partition(":")[0] for place in unknown} <= MADE_WHILE_RUNNING
    chars = int(os.environ.get("PATTERN_CHARS", str(growth.CHARS)))
    free = [each for each in found if not growth.is_bounded(each)]
    assert len(free) > 400
    slow = [worst for each in free if (worst := growth.slowest(each, chars)) is not None]
    assert not slow, "\n".join(f"{s.found.place} {s.found.pattern!r}: {s.text}" for s in slow)


def test_every_bounded_expression_is_still_there(growth: Any, expressions: Any) -> None:
    found, _ = expressions
    places = [each.place.removeprefix("callboard.") for each in found]
    for beginning in growth.BOUNDED:
        assert any(place.startswith(beginning) for place in places), beginning


@pytest.mark.parametrize(
    "pattern", [r"\s+$", r"(a+)+$", r"(a|a)*b", r"\n\s*\n\s*x", r"<b>.*?</b>", r"\d+ cups"]
)
def test_a_slow_expression_is_noticed(growth: Any, pattern: str) -> None:
    found = growth.Found("here", pattern, re.compile(pattern, re.DOTALL).flags, False)
    assert growth.slowest(found) is not None
    quick = growth.Found("here", r"(?<!\s)\s++$", 0, False)
    assert growth.slowest(quick) is None
