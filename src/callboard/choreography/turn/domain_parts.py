"""What a domain says of itself: its parts, voice, kinds of things, modes and words for tables."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal

from pydantic import ConfigDict, Field

if TYPE_CHECKING:
    pass


Detail = Literal["minimal", "compact", "full", "creative"]


Depth = Literal["skip", "light", "medium", "full"]


Consent = Literal["none", "light", "optional", "proposal"]


# A file that describes one of these says nothing else.
_CLOSED: Final = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class Subdomain:
    """A part of the domain: its tables, and the nouns people use for it."""

    __pydantic_config__: ClassVar = _CLOSED

    name: str
    tables: tuple[str, ...] = ()
    nouns: tuple[str, ...] = ()
    persona: str = ""


@dataclass(frozen=True, slots=True)
class Persona:
    """How an agent thinks while it works on a subdomain."""

    __pydantic_config__: ClassVar = _CLOSED

    name: str
    tone: str
    guidelines: Annotated[tuple[str, ...], Field(min_length=3, max_length=5)]


@dataclass(frozen=True, slots=True)
class EntityType:
    """A kind of thing that is tracked one by one."""

    __pydantic_config__: ClassVar = _CLOSED

    name: str
    table: str
    # How many are shown, newest reference first; None shows all that are open.
    in_context: Annotated[int | None, Field(ge=1)] = 5


@dataclass(frozen=True, slots=True)
class TurnMode:
    """How much machinery a request gets; the user chooses."""

    __pydantic_config__: ClassVar = _CLOSED

    name: str
    title: str
    understand: Literal["minimal", "light", "full"]
    think: Depth
    max_steps: Annotated[int, Field(ge=1, le=12)]
    consent: Consent
    profile: Detail
    entities_in_context: Annotated[int | None, Field(ge=1)]
    past_turns: Annotated[int, Field(ge=0)]
    older_results: Annotated[int, Field(ge=0)]
    examples: Annotated[int, Field(ge=0)]
    verbosity: str
    max_calls: Annotated[int, Field(ge=1)]
    has_button: bool = True
    confirms_silently: bool = False


@dataclass(frozen=True, slots=True)
class QueryStrategy:
    """A rule that turns a word people use into a filter."""

    name: str
    summary: str


@dataclass(frozen=True, slots=True)
class OnboardingQuestion:
    """Something asked once instead of over and over."""

    id: str
    text: str
    options: tuple[str, ...] = ()
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class ProfileView:
    """What prompts are told about the user; `pinned` (allergies, diet) is never left out."""

    text: str
    pinned: str = ""
    is_empty: bool = False
    # The mode the user wants unless another one is chosen.
    default_mode: str | None = None


@dataclass(frozen=True, slots=True)
class TableWords:
    """How people call a table: a place that something is put into, is in, is taken out of."""

    place: str
    within: str = "in"
