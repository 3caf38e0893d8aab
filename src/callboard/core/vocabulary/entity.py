"""Entity: a thing talked about, with a lifecycle."""

from dataclasses import dataclass
from enum import StrEnum


class EntityState(StrEnum):
    """Whether the thing is proposed, in play, or put away."""

    PENDING = "pending"
    ACTIVE = "active"
    INACTIVE = "inactive"


class EntitySource(StrEnum):
    """Where the thing came from."""

    DB_READ = "db_read"
    DB_CREATE = "db_create"
    GENERATE = "generate"
    USER_INPUT = "user_input"


class BatchKind(StrEnum):
    """What things made together are to each other: one whole, or a choice."""

    SET = "set"
    ALTERNATIVES = "alternatives"


@dataclass(frozen=True, slots=True)
class EntityRef:
    """A thing as prompts and plans name it."""

    id: str
    type: str
    label: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing a session talks about. Its content is kept elsewhere."""

    id: str
    type: str
    label: str
    state: EntityState = EntityState.PENDING
    source: EntitySource = EntitySource.USER_INPUT
    turn_created: int = 0
    turn_last_ref: int = 0
    turn_inactivated: int | None = None
    # A new thing of the same type in the same slot takes the place of the old one.
    slot: str | None = None
    batch_id: str | None = None
    batch_kind: BatchKind | None = None
    tags: tuple[str, ...] = ()
    # Whether the domain's database holds it.
    persisted: bool = False
    # Held in focus: it does not age.
    pinned: bool = False

    @property
    def ref(self) -> EntityRef:
        """The thing as prompts name it."""
        return EntityRef(self.id, self.type, self.label, self.tags)
