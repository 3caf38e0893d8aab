"""DescribedDomain: a domain on a relational database, described by the file beside its code.

Its parts, the nouns for them, its modes and personas are data; what it computes, generates and
understands by itself is its own code. Its rows are read and written as `Data` does it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any, Final, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict

from callboard.choreography.turn.domain_parts import (
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


def _named(read: Any) -> Any:
    """Return what a file lists by name, each with its name."""
    listed = cast("dict[str, Any]", read)
    return [{"name": name, **each} for name, each in listed.items()]


def _summed_up(read: Any) -> Any:
    listed = cast("dict[str, Any]", read)
    return [{"name": name, "summary": text} for name, text in listed.items()]


class DomainDescription(BaseModel):
    """What a domain says about itself, as the file beside its code has it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    subdomains: Annotated[tuple[Subdomain, ...], BeforeValidator(_named)]
    personas: dict[str, Persona]
    entity_types: Annotated[tuple[EntityType, ...], BeforeValidator(_named)]
    modes: Annotated[tuple[TurnMode, ...], BeforeValidator(_named)]
    strategies: Annotated[tuple[QueryStrategy, ...], BeforeValidator(_summed_up)]

    def persona_of(self, subdomain: str) -> Persona:
        """Return how an agent thinks while it works on a subdomain."""
        part = next(each for each in self.subdomains if each.name == subdomain)
        return self.personas[part.persona]


@cache
def load_description(package: str) -> DomainDescription:
    """Return the description beside a domain's code; which tables it has, the code says."""
    return DomainDescription.model_validate(bundled_yaml(package, FILE))


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
