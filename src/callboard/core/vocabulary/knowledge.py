"""What is known and talked about: content with its trust, facts, and entities with a lifecycle."""

from dataclasses import dataclass
from enum import StrEnum


class Trust(StrEnum):
    """Whether a text may instruct (trusted) or only inform (untrusted)."""

    TRUSTED = "trusted"
    UNTRUSTED = "untrusted"


@dataclass(frozen=True, slots=True)
class Content:
    """A piece of text on its way into a prompt.

    `origin` says where it came from: `user`, `pack:demo/prompts/x.md`, `file:Story/one.md`,
    `tool:read_file`, `agent:editor`, `slot:draft`.
    """

    text: str
    origin: str
    trust: Trust = Trust.UNTRUSTED


class Hardness(StrEnum):
    """Whether a fact was only said, or is part of the graph."""

    SOFT = "soft"
    HARD = "hard"


@dataclass(frozen=True, slots=True)
class Fact:
    """Something known, with who said it and how far to believe it."""

    id: str
    text: str
    source: str
    hardness: Hardness = Hardness.SOFT
    trust: Trust = Trust.UNTRUSTED


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
