"""Entity: a thing talked about, with a lifecycle."""

from dataclasses import dataclass, field
from enum import StrEnum

from callboard.core.canonical import Json


class EntityState(StrEnum):
    """Whether the thing is proposed, in play, or put away."""

    PENDING = "pending"
    ACTIVE = "active"
    INACTIVE = "inactive"


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing a session talks about."""

    id: str
    kind: str
    name: str
    state: EntityState = EntityState.PENDING
    data: dict[str, Json] = field(default_factory=dict[str, Json])
