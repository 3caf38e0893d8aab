"""Whatever a project says: quotes are verbatim, contradictions have two places, runs repeat."""

import asyncio
import tempfile
from pathlib import Path

import pytest
from fact_project import Project, assert_verbatim
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.core.canonical import digest

NAMES = ("Kael", "Mira", "Jon")
COLOURS = ("grey", "green", "brown", "blue")
names, colours = st.sampled_from(NAMES), st.sampled_from(COLOURS)
sentences = st.one_of(
    st.builds("{}'s eyes were {}.".format, names, colours),
    st.builds("{} had {} hair, and it was wet.".format, names, st.sampled_from(["black", "red"])),
    st.builds("{} was {} years old.".format, names, st.integers(12, 80)),
    st.builds("{}’s *{}* eyes\nwere on the door.".format, names, colours),
    st.builds("> {} died at dawn.".format, names),
    st.builds('"{} is left-handed," said {}.'.format, names, names),
    st.builds("{}, {}'s sister, laughed.".format, names, names),
    st.builds("Captain {} nodded.".format, names),
    st.builds("It was {}, 12 March 1892.".format, st.sampled_from(["Monday", "Saturday"])),
    st.just("The star-gate and the stargate; the star-gate and the stargate."),
    st.just("TODO: more of it [...] here"),
    st.text(alphabet="abc XYZ'\"“”’—.,!?\n#*_>|-[]é☃", max_size=40),
)
paragraphs = st.lists(sentences, min_size=1, max_size=4).map(" ".join)
bodies = st.lists(paragraphs, min_size=0, max_size=4).map("\n\n".join)
days = st.one_of(st.none(), st.integers(1, 28).map("1204-01-{:02d}".format))
cards = st.lists(
    st.sampled_from(["Eyes: grey", "Age: 34", "Sister: Mira", "Rank: captain", "Born: 1170"]),
    max_size=3,
)


@pytest.mark.req("CR-46", "CR-45")
@settings(max_examples=25)
@given(st.lists(st.tuples(bodies, days), min_size=1, max_size=4), cards)
def test_quotes_are_verbatim_and_results_repeat(
    scenes: list[tuple[str, str | None]], lines: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder))
        for name in NAMES:
            project.card(name, *lines)
        for number, (text, when) in enumerate(scenes, start=1):
            project.scene(number, text, **({"when": when} if when else {}))
        asyncio.run(_check(project))


async def _check(project: Project) -> None:
    paths = project.scenes()
    cards = [f"Compendium/Characters/CHAR-{name}.md" for name in NAMES]
    calls = [
        ("consistency_checker", {"file_paths": [*paths, *cards]}),
        ("canon_checker", {"scene_path": paths[0], "mode": "strict"}),
        ("scene_draft_validator", {"scene_path": paths[-1]}),
    ]
    for tool_id, args in calls:
        result = await project.run(tool_id, **args)
        again = await Project(project.root).run(tool_id, **args)
        assert digest(result.payload) == digest(again.payload)
        assert_verbatim(project.root, result.payload)
        for conflict in result.payload.get("conflicts", []):
            _assert_two_places(conflict)
        for finding in result.payload.get("findings", []):
            assert finding["quotes"] and 0 < finding["confidence"] <= 1
            if finding["type"] in ("Factual", "Character"):
                _assert_two_places(finding)


def _assert_two_places(finding: dict[str, object]) -> None:
    quotes = finding["quotes"]
    assert isinstance(quotes, list)
    assert len({(quote["path"], quote["line_start"], quote["text"]) for quote in quotes}) > 1
