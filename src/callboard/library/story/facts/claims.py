"""Claims: one thing one place of the story says about one entity. Knows nothing of how it is read.

A value is kept as written and in the form it is compared in; what cannot be compared is no claim.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

from callboard.core.canonical import Json
from callboard.library.story.model import Quote

Gender = Literal["female", "male"]


class Attribute(StrEnum):
    """What a claim is about."""

    EYES = "eye_colour"
    HAIR = "hair_colour"
    AGE = "age"
    BIRTH_YEAR = "birth_year"
    HEIGHT = "height"
    HAND = "handedness"
    SPECIES = "species"
    RANK = "rank"
    KIN = "kinship"
    ORIGIN = "birthplace"
    DEATH = "death"
    POSSESSION = "possession"
    CALLING = "calling"
    SKILL = "skill"
    COUNT = "count"
    MARK = "mark"
    BUILD = "build"
    COMPLEXION = "complexion"
    HOME = "home"
    FORTUNE = "fortune"


# What one entity has one of at a time. The dead and what people own are judged elsewhere.
SINGLE_VALUED: Final = frozenset(Attribute) - {Attribute.DEATH, Attribute.POSSESSION}
SPOKEN_NAMES: Final = {
    Attribute.EYES: "eyes",
    Attribute.HAIR: "hair",
    Attribute.AGE: "age",
    Attribute.BIRTH_YEAR: "year of birth",
    Attribute.HEIGHT: "height",
    Attribute.HAND: "handedness",
    Attribute.SPECIES: "species",
    Attribute.RANK: "rank",
    Attribute.KIN: "kinship",
    Attribute.ORIGIN: "place of birth",
    Attribute.DEATH: "death",
    Attribute.POSSESSION: "possession",
    Attribute.CALLING: "calling",
    Attribute.SKILL: "skill",
    Attribute.COUNT: "number",
    Attribute.MARK: "mark",
    Attribute.BUILD: "build",
    Attribute.COMPLEXION: "complexion",
    Attribute.HOME: "home",
    Attribute.FORTUNE: "fortune",
}


@dataclass(frozen=True, slots=True)
class Value:
    """What is claimed: words, the families they may agree by, or a number with its leeway."""

    text: str
    families: frozenset[str] = frozenset()
    low: int | None = None
    high: int | None = None

    @property
    def is_range(self) -> bool:
        """Whether the value is a number or a span of numbers."""
        return self.low is not None

    def agrees_with(self, other: "Value", leeway: int = 0) -> bool:
        """Say whether both can be true."""
        if self.low is not None and other.low is not None:
            mine, theirs = self.high or self.low, other.high or other.low
            return self.low - leeway <= theirs and other.low - leeway <= mine
        return bool(self.families & other.families) or self.text == other.text


@dataclass(frozen=True, slots=True)
class KinOf:
    """Somebody who goes by their kin alone: "her father", "Ivy's son"."""

    owner: int | str
    at: int
    word: str


@dataclass(frozen=True, slots=True)
class FoundClaim:
    """A claim as a pattern reads it off one sentence; nobody has checked who "he" is yet."""

    attribute: Attribute
    value: Value
    # A mention's number in the masked sentence, or the pronoun that stands for somebody.
    who: int | str | KinOf
    start: int
    end: int
    # The other side of a tie of kin, named or meant.
    whom: int | str | None = None
    confidence: float = 0.9
    # What the claim is about where one attribute has several: a scar, a skill, a thing.
    topic: str | None = None
    # Its own words deny something: "never woke", "could not read".
    says_no: bool = False
    # Where the word that says who stands; None: at the start.
    who_at: int | None = None
    # What it describes may be meant loosely: it counts as little as a guess.
    is_guess: bool = False
    # Found by a reader that has looked itself whether the narrator vouches for it.
    is_vouched: bool = False


@dataclass(frozen=True, slots=True)
class FactClaim:
    """One thing said about one entity, with the words that say it."""

    entity: str
    attribute: Attribute
    value: Value
    quote: Quote
    # The other entity of a tie of kin.
    other: str | None = None
    is_spoken: bool = False
    is_canon: bool = False
    # The text itself says that this has changed.
    tells_change: bool = False
    # The passage looks back: what is said of age or rank was so then.
    looks_back: bool = False
    confidence: float = 0.9
    topic: str | None = None
    # Who is meant is the likeliest, not the only one it can be, or the words may be meant loosely.
    is_guess: bool = False
    # Of the two, it is who is meant.
    is_reckoned: bool = False

    @property
    def subject(self) -> tuple[str, Attribute, str | None, str | None]:
        """What two claims must share to speak of the same thing."""
        return (self.entity, self.attribute, self.other, self.topic)

    def to_json(self) -> dict[str, Json]:
        """Return the shape payloads hold."""
        return {
            "entity": self.entity,
            "attribute": self.attribute.value,
            **({"other": self.other} if self.other else {}),
            "value": self.value.text,
            "in_dialogue": self.is_spoken,
            "quote": self.quote.to_json(),
        }
