"""DescribedDomain: a domain on a relational database, described by the file beside its code.

Its parts, the nouns for them, its modes and personas are data; what it computes, generates and
understands by itself is its own code. Its rows are read and written as `Data` does it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from callboard.choreography.turn.domain import (
    Consent,
    Depth,
    Detail,
    EntityType,
    Persona,
    QueryStrategy,
    Subdomain,
    TurnMode,
)
from callboard.core.bundled import bundled_yaml
from callboard.library.relational.data import Data
from callboard.library.relational.tables import render_schema

FILE: Final = "domain.yaml"


class _DomainPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Subdomain(_DomainPart):
    persona: str
    nouns: list[str]


class _Persona(_DomainPart):
    name: str
    tone: str
    guidelines: list[str] = Field(min_length=3, max_length=5)


class _EntityType(_DomainPart):
    table: str
    in_context: int | None = Field(default=5, ge=1)


class _Mode(_DomainPart):
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


class _DomainFile(_DomainPart):
    name: str
    subdomains: dict[str, _Subdomain]
    personas: dict[str, _Persona]
    entity_types: dict[str, _EntityType]
    modes: dict[str, _Mode]
    strategies: dict[str, str]


@dataclass(frozen=True, slots=True)
class DomainDescription:
    """What a domain says about itself."""

    name: str
    subdomains: tuple[Subdomain, ...]
    personas: Mapping[str, Persona]
    entity_types: tuple[EntityType, ...]
    modes: tuple[TurnMode, ...]
    strategies: tuple[QueryStrategy, ...]

    def persona_of(self, subdomain: str) -> Persona:
        """Return how an agent thinks while it works on a subdomain."""
        part = next(each for each in self.subdomains if each.name == subdomain)
        return self.personas[part.persona]


@cache
def load_description(package: str) -> DomainDescription:
    """Return the description beside a domain's code; which tables it has, the code says."""
    read = _DomainFile.model_validate(bundled_yaml(package, FILE))
    return DomainDescription(
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


def _mode(name: str, read: _Mode) -> TurnMode:
    values: dict[str, Any] = read.model_dump()
    return TurnMode(name=name, **values)


@dataclass(eq=False)
class DescribedDomain(Data):
    """A domain: its rows, and what the file in its package says about it."""

    package: str = ""

    @property
    def _about(self) -> DomainDescription:
        return load_description(self.package)

    @property
    def name(self) -> str:
        """How the domain is called."""
        return self._about.name

    def subdomains(self) -> Sequence[Subdomain]:
        """Return the parts of the domain."""
        tables = self.tables.subdomains()
        return tuple(replace(each, tables=tables[each.name]) for each in self._about.subdomains)

    def schema(self, subdomain: str) -> str:
        """Return a subdomain's tables as a prompt shows them."""
        return render_schema(self.tables, subdomain)

    def entity_types(self) -> Sequence[EntityType]:
        """Return the kinds of things that are tracked one by one."""
        return self._about.entity_types

    def modes(self) -> Sequence[TurnMode]:
        """Return the modes the user can choose from."""
        return self._about.modes

    def persona(self, subdomain: str) -> Persona:
        """Return how an agent thinks while it works on a subdomain."""
        return self._about.persona_of(subdomain)

    def query_strategies(self) -> Sequence[QueryStrategy]:
        """Return the rules that turn words into filters."""
        return self._about.strategies
