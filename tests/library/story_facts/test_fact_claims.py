"""What sentences claim, and what they only seem to."""

from collections.abc import Callable
from typing import Any

import pytest

Claims = Callable[..., list[tuple[Any, ...]]]
EYES, HAIR, AGE, DEATH = "eye_colour", "hair_colour", "age", "death"

CLAIMED = [
    # eyes and hair
    ("Kael's eyes were green and tired.", ("Kael", EYES, "green")),
    ("Kael’s eyes were gray.", ("Kael", EYES, "grey")),
    ("Kael's eyes are green in the dusk.", ("Kael", EYES, "green")),
    ("Kael's cold, hard grey eyes narrowed.", ("Kael", EYES, "grey")),
    ("Kael's grey-green eyes followed her.", ("Kael", EYES, "grey-green")),
    ("Green-eyed Mira laughed.", ("Mira", EYES, "green")),
    ("Kael was a tall, green-eyed man.", ("Kael", EYES, "green")),
    ("Kael, whose eyes were green, laughed.", ("Kael", EYES, "green")),
    ("Kael, who had green eyes, laughed.", ("Kael", EYES, "green")),
    ("The green eyes of Kael were cold.", ("Kael", EYES, "green")),
    ("The eyes of Kael were green.", ("Kael", EYES, "green")),
    ("Kael's eyes, green and cold, went to her.", ("Kael", EYES, "green")),
    ("Kael was a quiet man with grey eyes.", ("Kael", EYES, "grey")),
    ("Mira had her mother's blue eyes.", ("Mira", EYES, "blue")),
    ("Kael turned. His green eyes were cold.", ("Kael", EYES, "green")),
    ('"You are late," said Mira, her brown eyes on the door.', ("Mira", EYES, "brown")),
    ("Kael came to the Fortress. His eyes were green.", ("Kael", EYES, "green")),
    ("Kael was a thin man. His eyes were green.", ("Kael", EYES, "green")),
    ("Mira's long black hair was wet.", ("Mira", HAIR, "black")),
    ("Mira's hair was a deep brown.", ("Mira", HAIR, "brown")),
    ("Mira brushed her long red hair.", ("Mira", HAIR, "red")),
    ("Jon, an angry fellow with red hair, sat down.", ("Jon", HAIR, "red")),
    # age, height, hand, kind
    ("Kael was thirty-four.", ("Kael", AGE, "34")),
    ("Kael was thirty-four years old.", ("Kael", AGE, "34")),
    ("Kael, 34, drew his sword.", ("Kael", AGE, "34")),
    ("Kael, a thirty-four-year-old miller, drew.", ("Kael", AGE, "34")),
    ("Thirty-four-year-old Kael drew.", ("Kael", AGE, "34")),
    ("Kael, aged 34, drew.", ("Kael", AGE, "34")),
    ("Kael was in his early thirties.", ("Kael", AGE, "early thirties")),
    ("Mira was six feet tall.", ("Mira", "height", "183 cm")),
    ("Kael stood six feet two in his boots.", ("Kael", "height", "188 cm")),
    ("Kael was left-handed.", ("Kael", "handedness", "left-handed")),
    ("Left-handed Kael drew.", ("Kael", "handedness", "left-handed")),
    ("Kael was a southpaw.", ("Kael", "handedness", "left-handed")),
    ("Mira was an elf.", ("Mira", "species", "elf")),
    ("The elf Mira slept.", ("Mira", "species", "elf")),
    # rank, birth, kin, belongings
    ("Captain Kael nodded.", ("Kael", "rank", "captain")),
    ("Kael was a captain of the guard.", ("Kael", "rank", "captain")),
    ("Kael, captain of the watch, nodded.", ("Kael", "rank", "captain")),
    ("Kael was born in 1170.", ("Kael", "birth_year", "1170")),
    ("Kael was born in Northmark.", ("Kael", "birthplace", "Northmark")),
    ("Mira, Kael's sister, laughed.", ("Mira", "kinship", "sister", "Kael")),
    ("Kael's sister Mira laughed.", ("Mira", "kinship", "sister", "Kael")),
    ("Kael smiled at Mira, his sister.", ("Mira", "kinship", "sister", "Kael")),
    ("Mira and her brother Jon left.", ("Jon", "kinship", "brother", "Mira")),
    ("Mira was Kael's wife.", ("Mira", "kinship", "wife", "Kael")),
    ("Kael carried a brass key.", ("Kael", "possession", "a brass key")),
    # death
    ("Mira died before the sun was up.", ("Mira", DEATH, "dead")),
    ("Mira, pale and cold, was dead.", ("Mira", DEATH, "dead")),
    ("Mira lay dead on the stairs.", ("Mira", DEATH, "dead")),
    ("They had killed Mira.", ("Mira", DEATH, "dead")),
    ("Mira was killed in the siege.", ("Mira", DEATH, "dead")),
    ("Kael saw that Mira was dead.", ("Mira", DEATH, "dead")),
    # what characters say is a claim as well, of less weight
    ('"Kael has green eyes," said Jon.', ("Kael", EYES, "green")),
    ('"Mira is dead," said Kael.', ("Mira", DEATH, "dead")),
]

NOT_CLAIMED = [
    # likeness, denial, doubt, hearsay, dream, question
    "Kael's eyes were like green glass.",
    "Kael's eyes were as green as glass.",
    "Kael's eyes were not green.",
    "If Kael's eyes were green, nobody would believe him.",
    "Mira wished her eyes were green.",
    "Kael dreamed that Mira's eyes were green.",
    "Jon told Kael that Mira's eyes were green.",
    "Mira's eyes might have been green.",
    "Were Mira's eyes green?",
    # light and mood
    "Kael's eyes flashed green in the lamplight.",
    "Kael's eyes turned black.",
    "Mira's eyes were red from crying.",
    "Mira's eyes are the colour of the sea.",
    "Mira's hair was white with dust.",
    "Mira's hair was black silk.",
    "Mira's red hair ribbon fell.",
    "Mira's black hairbrush fell.",
    # somebody else's eyes
    "Kael looked at the woman with green eyes.",
    "Kael watched the green-eyed man.",
    "Mira loved a man with green eyes.",
    "Mira was the daughter of a man with green eyes.",
    "Mira's mother had blue eyes.",
    "Kael's dog watched him with green eyes.",
    "Mira stared at the portrait of Kael with green eyes.",
    "Kael looked at the woman. Her green eyes were cold.",
    "Kael met Borin. His green eyes shone.",
    "Borin met Kael on the road. His green eyes shone.",
    "Kael nodded. The other man turned away. His green eyes were wet.",
    "Kael and Jon sat by the fire. His green eyes shone.",
    "Kael sat by the fire. The dog looked up. His green eyes shone.",
    "Kael sat. It was cold. It was dark. It was late. His green eyes shone.",
    "Kael sat.\n\nHis green eyes shone.",
    '"Kael, your eyes are green," said Mira.',
    '"My eyes are green," said Kael.',
    # the name is in the sentence, but the sentence is not about it
    "The man behind Kael was thirty-four.",
    "The woman who loved Kael died.",
    "The wall between Jon and Kael was six feet tall.",
    "A friend of Kael was left-handed.",
    "Something in Mira died when the gate fell.",
    # numbers that are no age or height
    "Kael was thirty yards away.",
    "Kael was forty minutes late.",
    "Kael was thirty years in the service.",
    "Kael was twenty-five years older than Mira.",
    "Mira was ten when the wall fell.",
    "Kael had been twelve when they took him.",
    "Kael felt like he was seventy years old.",
    "By the time he was forty, Kael would be rich.",
    "Kael stood six feet from the door.",
    "Mira was two feet taller than Jon.",
    "The wall was six feet high and Mira climbed it.",
    # words with another use
    "Kael gave him a left-handed blow.",
    "Kael wrote with his left hand.",
    "Mira was a general nuisance.",
    "Mira was a dwarf among giants.",
    "Mira was an elf of a girl.",
    "Kael was no captain.",
    "The captain looked at Kael.",
    "Jon was like a brother to Kael.",
    "Jon was Kael's brother in arms.",
    "Kael's mother, Mira, and Jon went home.",
    "Kael watched Jon and his sister Mira.",
    # nobody died
    "Mira almost died.",
    "Mira was nearly killed.",
    "Mira would have died for him.",
    "Mira died a little every day.",
    "Mira died laughing at that.",
    "Mira died in his dream.",
    "Mira's voice died away.",
    "Mira's mother died that year.",
    "Mira was dead tired.",
    "Mira was dead to him now.",
    "Mira was as good as dead.",
    "Mira was not dead.",
    "Kael thought Mira was dead.",
    "Nobody knew that Mira was dead.",
    "Kael wanted Mira dead.",
    "Kael had killed Mira with a look.",
    "Kael killed Mira's brother.",
    "If Mira died, the gate would fall.",
    '"Is Mira dead?" asked Kael.',
    # told before it happens, or of a time before
    "The night Mira died, it rained.",
    "Three weeks before Mira died, she bought a hat.",
    "Until Mira died, the gate had stood open.",
]


@pytest.mark.req("CR-63")
@pytest.mark.parametrize(("text", "claim"), CLAIMED)
def test_a_plain_statement_is_a_claim(text: str, claim: tuple[Any, ...], claims: Claims) -> None:
    assert claims(text) == [claim]


@pytest.mark.req("CR-64")
@pytest.mark.parametrize("text", NOT_CLAIMED)
def test_what_nobody_vouches_for_is_no_claim(text: str, claims: Claims) -> None:
    assert claims(text) == []


def test_a_sentence_may_claim_several_things(claims: Claims) -> None:
    told = claims("Kael was a tall man with grey eyes and black hair.")
    assert told == [("Kael", EYES, "grey"), ("Kael", HAIR, "black")]


def test_the_narrator_is_whoever_says_i(claims: Claims) -> None:
    told = claims("My eyes are blue and my hair is brown.", narrator="Mira")
    assert told == [("Mira", EYES, "blue"), ("Mira", HAIR, "brown")]
    assert claims("My eyes are blue.") == []


def test_each_pair_of_eyes_has_its_owner(claims: Claims) -> None:
    told = claims("Mira's brown eyes and Kael's grey eyes met.")
    assert sorted(told) == [("Kael", EYES, "grey"), ("Mira", EYES, "brown")]


def test_present_tense_is_read_as_well(claims: Claims) -> None:
    assert claims("Mira is tall, with blue eyes and a scar.") == [("Mira", EYES, "blue")]
