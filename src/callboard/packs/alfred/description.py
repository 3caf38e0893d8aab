"""A domain as its file describes it: its parts, the nouns for them, its modes and its personas.

Only what is data: what a domain does with it is the domain's own code.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from callboard.choreography.turn.domain import (
    Consent,
    Depth,
    Detail,
    EntityType,
    ModeSpec,
    Persona,
    QueryStrategy,
    Subdomain,
)
from callboard.core.bundled import bundled_yaml

FILE: Final = "domain.yaml"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Subdomain(_Part):
    persona: str
    nouns: list[str]


class _Persona(_Part):
    name: str
    tone: str
    guidelines: list[str] = Field(min_length=3, max_length=5)


class _EntityType(_Part):
    table: str
    in_context: int | None = Field(default=5, ge=1)


class _Mode(_Part):
    title: str
    has_button: bool = True
    understand: Literal["minimal", "light", "full"]
    think: Depth
    max_steps: int = Field(ge=1, le=12)
    consent: Consent
    profile: Detail
    entities_in_context: int | None = Field(ge=1)
    past_turns: int = Field(ge=0)
    older_results: int = Field(ge=0)
    examples: int = Field(ge=0)
    verbosity: str
    max_calls: int = Field(ge=1)
    confirms_silently: bool = False


class _File(_Part):
    name: str
    subdomains: dict[str, _Subdomain]
    personas: dict[str, _Persona]
    entity_types: dict[str, _EntityType]
    modes: dict[str, _Mode]
    strategies: dict[str, str]


@dataclass(frozen=True, slots=True)
class Description:
    """What a domain says about itself."""

    name: str
    subdomains: tuple[Subdomain, ...]
    personas: Mapping[str, Persona]
    entity_types: tuple[EntityType, ...]
    modes: tuple[ModeSpec, ...]
    strategies: tuple[QueryStrategy, ...]

    def persona_of(self, subdomain: str) -> Persona:
        """Return how an agent thinks while it works on a subdomain."""
        part = next(each for each in self.subdomains if each.name == subdomain)
        return self.personas[part.persona]


@cache
def load_description(package: str) -> Description:
    """Return the description beside a domain's code; which tables it has, the code says."""
    read = _File.model_validate(bundled_yaml(package, FILE))
    return Description(
        name=read.name,
        subdomains=tuple(
            Subdomain(name, (), tuple(each.nouns), each.persona)
            for name, each in read.subdomains.items()
        ),
        personas={
            name: Persona(each.name, each.tone, tuple(each.guidelines))
            for name, each in read.personas.items()
        },
        entity_types=tuple(
            EntityType(name, each.table, each.in_context)
            for name, each in read.entity_types.items()
        ),
        modes=tuple(_mode(name, each) for name, each in read.modes.items()),
        strategies=tuple(QueryStrategy(name, text) for name, text in read.strategies.items()),
    )


def _mode(name: str, read: _Mode) -> ModeSpec:
    values: dict[str, Any] = read.model_dump()
    return ModeSpec(name=name, **values)
