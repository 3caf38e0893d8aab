"""Contradictions a clause holds, whatever words it is told in: a few of every kind."""

import pytest
from fact_project import Project

pytestmark = pytest.mark.anyio

# Long enough for a scene, and nobody is in it.
QUIET = "The rain went on over the roofs. The gutters ran, and nobody came up the street. " * 3

FOUND = [
    # ages, in whatever words
    ("Agatha Pruett was a woman of sixty.", "Agatha Pruett sat down. She was barely forty.", "age"),
    (
        "Martin Vole, a clerk of about thirty, locked the safe.",
        "Martin Vole laughed. At fifty-two he had given up hurrying.",
        "age",
    ),
    (
        "Hannah Crewe came in. She had just kept her seventieth birthday.",
        "Hannah Crewe, still in her forties, ran for the tram.",
        "age",
    ),
    (
        "Edith Sorrel was twenty.",
        "Edith Sorrel looked up. A woman of five-and-forty does not blush.",
        "age",
    ),
    # looks
    (
        "Edith Sorrel turned. Her eyes were of a clear grey.",
        "Edith Sorrel came to the gate. She lifted those brown eyes of hers and smiled.",
        "eyes",
    ),
    (
        "Martin Vole was a tall, portly man.",
        "Martin Vole drew himself up. It did little for his slight figure.",
        "girth",
    ),
    (
        "Martin Vole was quite bald.",
        "Martin Vole stopped. He pushed the thick black hair out of his face.",
        "hair",
    ),
    # skills and callings
    (
        "Hannah Crewe had never learned to swim.",
        "Hannah Crewe kicked off her boots. She swam to the raft.",
        "swim",
    ),
    (
        "Edith Sorrel, who had never touched a piano, listened.",
        "Edith Sorrel sat down at the piano and played a waltz.",
        "play",
    ),
    (
        "Martin Vole was a baker by trade.",
        "Martin Vole bowed. A surgeon of some years' practice, he washed his hands twice.",
        "calling",
    ),
    # households
    (
        "Hannah Crewe had three daughters.",
        "Hannah Crewe, who had never had a child, sighed.",
        "children",
    ),
    # things
    (
        "Edith Sorrel had sold the silver thimble to a pedlar.",
        "Edith Sorrel took up the silver thimble and sewed.",
        "thimble",
    ),
    (
        "Hannah Crewe had thrown her brass bugle into the canal.",
        "Hannah Crewe raised the brass bugle and blew it.",
        "bugle",
    ),
    # the dead, told as people tell it
    (
        "In the night Martin Vole slipped away.",
        'Martin Vole took his hat. "Good morning," said Martin Vole.',
        "Martin Vole dies",
    ),
    (
        "They laid Hannah Crewe to rest beside her husband.",
        'Hannah Crewe poured the tea. "Sugar?" asked Hannah Crewe.',
        "Hannah Crewe dies",
    ),
]

FINE = [
    # an age left behind, a likeness, a doubt, a lie, somebody else
    ("Edith Sorrel was forty.", "At nineteen Edith Sorrel had cried over a curate."),
    ("Edith Sorrel was forty.", "When Edith Sorrel was ten, she had the measles."),
    ("Edith Sorrel was forty.", "Edith Sorrel looked a hundred years old."),
    ("Edith Sorrel was forty.", '"I am twenty-nine," lied Edith Sorrel.'),
    ("Edith Sorrel was forty.", "Had Edith Sorrel been eighty, she might have minded."),
    ("Edith Sorrel had grey eyes.", "Edith Sorrel met a stranger. His brown eyes were cold."),
    ("Edith Sorrel had grey eyes.", "Edith Sorrel thought her eyes were brown."),
    ("Martin Vole was a tall man.", "Martin Vole felt like a small boy."),
    ("Hannah Crewe could not swim.", "If Hannah Crewe could swim, she would have gone."),
    ("Martin Vole lost the silver thimble.", "Martin Vole found the silver thimble under the rug."),
    ("Martin Vole passed away the afternoon with a novel.", 'He stood. "Yes," said Martin Vole.'),
    ("Hannah Crewe was dead on her feet.", '"Tea," said Hannah Crewe.'),
]


async def told(project: Project, first: str, second: str) -> list[str]:
    """Return what is told of two scenes, but for what is only worth knowing."""
    people = "Edith Sorrel, Martin Vole and Hannah Crewe knew the street. "
    project.scene(1, f"{people} {QUIET}")
    project.scene(2, f"{first} {QUIET}")
    project.scene(3, f"{QUIET}\n\n{second} {QUIET}")
    project.scene(4, f"{people} {QUIET}")
    found = (await project.consistency(*project.scenes()))["findings"]
    return [each["message"] for each in found if each["severity"] != "info"]


@pytest.mark.parametrize(("first", "second", "about"), FOUND)
async def test_two_clauses_that_cannot_both_be_true(
    project: Project, first: str, second: str, about: str
) -> None:
    assert any(about in message for message in await told(project, first, second))


@pytest.mark.parametrize(("first", "second"), FINE)
async def test_two_clauses_that_can(project: Project, first: str, second: str) -> None:
    assert await told(project, first, second) == []
