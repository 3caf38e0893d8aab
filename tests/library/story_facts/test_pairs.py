"""Pairs of passages that could contradict each other: which are found, in what order, how many."""

import os
import subprocess
import sys
from collections.abc import Callable

import pytest
from fact_project import Project

from callboard.library.story.pairs.judging import prospect_of
from callboard.library.story.pairs.matters import Matter, topics_in
from callboard.library.story.pairs.pairing import Pairs
from callboard.library.story.tools.consistency.continuity import check_of

pytestmark = pytest.mark.anyio

QUIET = "The rain went on and on over the roofs of the town. Nobody was in the street."
KNOWN = " ".join(f"Then {name} nodded. There stood {name}." for name in ("Ivy", "Nell", "Hugh"))
# What no rule reads, and a judge should be shown.
APART = [
    (Matter.PLACE, "Ivy lived at Penrose.", "Ivy went home to her house in Quay Lane."),
    (Matter.PLACE, "Ivy's shop was one mile off.", "It was seven miles to the shop, Ivy said."),
    (Matter.AGE, "Nell was thirty-four that spring.", "Nell, at fifty, had given up hope."),
    (Matter.LOOKS, "Hugh was bald as a stone.", "The wind blew through Hugh's white hair."),
    (
        Matter.DEATH,
        "Hugh Marlow was buried in May.",
        "In the lane they met Hugh Marlow with a dog.",
    ),
    (Matter.POSSESSION, "Nell's telescope was sold.", "Nell looked through the telescope."),
    (Matter.SKILL, "Ivy had never played the piano.", "Ivy played the piano until noon."),
    (Matter.TIME, "It was a Monday, and Ivy slept.", "That Thursday Ivy slept."),
    (Matter.FAMILY, "Nell had no brother.", "Nell and her two brothers came in."),
    (Matter.NUMBER, "Ivy paid forty pounds.", "Of the ninety pounds nothing was left to Ivy."),
    (Matter.NAME, "Miss Agnes Thorne read to them.", "Miss Agatha Thorne sat down."),
    (Matter.NAME, "They sent for Adeyemi, the medic.", "They sent for Adebayo at noon."),
    (Matter.DEATH, "Ivy was a widow by then.", "Ivy's husband would be in by nine."),
    (Matter.DEATH, "Nell's father was dead by then.", "Nell's dad wrote every week."),
    (Matter.LOOKS, "Hugh had a white beard.", "Hugh had cut himself shaving."),
    (Matter.SKILL, "Hugh taught Nell to play chess.", "Nell never got the hang of chess."),
    (
        Matter.NUMBER,
        "Ivy counted the stairs. There were forty.",
        "Up those ninety stairs they went.",
    ),
    (Matter.NUMBER, "They had limited their servants to three.", "The seven servants were asleep."),
    (Matter.POSSESSION, "Ivy owned the hearse herself.", "The hearse was never hers, Nell said."),
]


def pairs_of(project: Project, most: int | None = None) -> Pairs:
    return check_of(project.context).pairs(most)


@pytest.mark.parametrize(("matter", "one", "other"), APART)
def test_two_passages_on_one_matter_of_one_subject_are_shown_together(
    project: Project, matter: Matter, one: str, other: str
) -> None:
    project.scene(1, f"{QUIET} {one} {KNOWN}")
    project.scene(2, f"{QUIET} {KNOWN}")
    project.scene(3, f"{KNOWN} {other}")
    found = pairs_of(project).chosen
    met = [pair for pair in found if one[:20] in pair.first.shown and other in pair.second.shown]
    assert met, [(pair.first.quote.text, pair.second.quote.text) for pair in found][:12]
    assert matter in {pair.matter for pair in met}


def test_who_tells_the_story_meets_itself(project: Project) -> None:
    project.scene(1, f"{KNOWN} At thirty-nine I was too old for it. I said so. I went home.")
    project.scene(2, f"{KNOWN} I was forty-six by then. I sat down. I said nothing.")
    found = pairs_of(project).chosen
    assert any(
        "thirty-nine" in pair.first.quote.text and "forty-six" in pair.second.quote.text
        for pair in found
    )


def test_a_card_meets_the_prose(project: Project) -> None:
    project.write("Characters/Ivy.md", "# Ivy\n\nEyes: grey\n")
    project.scene(1, f"{KNOWN} Ivy's eyes were as green as glass.")
    met = [each for each in pairs_of(project).chosen if "grey" in each.first.shown]
    assert any(each.first.is_canon and "as green" in each.second.quote.text for each in met)


def test_what_is_said_twice_in_the_same_words_is_no_pair(project: Project) -> None:
    for number in range(1, 4):
        project.scene(number, f"{KNOWN} Ivy was forty years old.")
    assert not any(
        pair.first.quote.text == pair.second.quote.text for pair in pairs_of(project).chosen
    )


def test_the_work_and_the_pairs_are_bounded_however_often_a_matter_comes_up(
    project: Project,
) -> None:
    ages = " ".join(f"Ivy was {age} years old." for age in range(10, 90))
    for number in range(1, 6):
        project.scene(number, f"{KNOWN} {ages}")
    found = pairs_of(project, 40)
    assert len(found.chosen) == 40 and found.left_out > 0
    every = pairs_of(project, 10**6)
    assert len(every.chosen) == found.left_out + 40 < 5 * 80 * 20
    assert prospect_of(found).calls == 40 and prospect_of(found).tokens > 40 * 100


def test_the_same_book_makes_the_same_pairs(project: Project) -> None:
    for number, (_, one, other) in enumerate(APART, start=1):
        project.scene(number, f"{KNOWN} {one} {other}")
    assert prospect_of(pairs_of(project)).to_json() == prospect_of(pairs_of(project)).to_json()


# Sets have another order in every process; this prints what a judge would be asked.
PROSPECT = """
import sys
from pathlib import Path
from callboard.core.canonical import compact_json
from callboard.library.story.pairs.judging import prospect_of
from callboard.library.story.tools.consistency.continuity import check_of
from callboard.tools import ProjectFiles, ToolContext
context = ToolContext(ProjectFiles(Path(sys.argv[1])), "sess_test")
print(compact_json(prospect_of(check_of(context).pairs(None)).to_json()))
"""


def test_the_same_book_makes_the_same_pairs_in_every_process(
    fortress: Callable[[str], Project],
) -> None:
    project = fortress("project")
    for number, (_, one, other) in enumerate(APART, start=20):
        project.scene(number, f"{KNOWN} {one} {other}")
    asked = {
        subprocess.run(
            [sys.executable, "-c", PROSPECT, str(project.root)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(asked) == 1


def test_a_text_in_another_language_makes_no_pairs(project: Project) -> None:
    project.scene(1, "Der Regen fiel auf die Stadt, und Anna war dreißig Jahre alt und blond." * 3)
    assert pairs_of(project).chosen == ()


def test_values_stand_beside_the_words_they_are_values_of() -> None:
    said = {told.topic: told.values for told in topics_in("Her blue eyes met the old brown dog.")}
    assert said["eyes"] >= {"blue"}
    aged = {told.topic: told.values for told in topics_in("At two-and-thirty she was content.")}
    assert aged["age"] == {"32"}
