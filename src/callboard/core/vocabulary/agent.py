"""Agent: a role contract, a prompt, a model tier, and the tools it may use."""

from dataclasses import dataclass, field
from enum import StrEnum


class ModelTier(StrEnum):
    """How much a model can be given and trusted with."""

    FULL = "full"
    MEDIUM = "medium"
    MINIMAL = "minimal"


@dataclass(frozen=True, slots=True)
class RoleContract:
    """What a role owns, what it must not do, and when it stays silent."""

    archetype: str
    owns: str = ""
    must_not: str = ""
    abstains_when: str = ""


@dataclass(frozen=True, slots=True)
class Agent:
    """One member of the staff."""

    id: str
    contract: RoleContract
    name: str = ""
    prompt: str = ""
    tier: ModelTier | None = None
    model: str | None = None
    tools: frozenset[str] = field(default_factory=frozenset[str])
    enabled: bool = True
    order: int = 0
