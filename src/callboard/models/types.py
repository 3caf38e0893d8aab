"""What is asked of a model, what comes back, and how the gate tells what happens to calls.

Plain values, no behaviour, no provider.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal

from callboard.core.canonical import Json
from callboard.core.events import EventBody

Role = Literal["system", "user", "assistant"]


class Rung(StrEnum):
    """A way to get a structured reply, from the surest to the most patient."""

    GRAMMAR = "grammar"
    SCHEMA = "schema"
    TAGGED = "tagged"
    REPAIR = "repair"
    SMALLER = "smaller"


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of the conversation a model is shown."""

    role: Role
    content: str


@dataclass(slots=True)
class Ending:
    """What gates tell each other about the end of a call they share.

    `reason` says why it is ended from outside: set by the gate that ends it, read by the ledger.
    `is_answered` is true once the provider has said its last word: the call must not be made
    again, so whoever could interrupt it lets it finish.
    """

    reason: Literal["", "preempted", "cut"] = ""
    is_answered: bool = False


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One question to one model, with who asks and on whose behalf.

    `model` names provider and model: `local`, `script`, `openai:gpt-4o`. With `json_schema` the
    reply is JSON that obeys it. `timeout_seconds` bounds the whole call, `inactivity_seconds` the
    silence between two signs of life; `None` leaves both to the gate. `priority` orders waiting
    requests, higher first. `rungs` names the ways to ask for structure, in order; empty leaves
    them to the model's profile.
    """

    model: str
    messages: tuple[Message, ...]
    json_schema: Mapping[str, Json] | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    timeout_seconds: float | None = None
    inactivity_seconds: float | None = None
    session_id: str | None = None
    run_id: str | None = None
    step_key: str | None = None
    agent_id: str | None = None
    prompt_id: str | None = None
    priority: int = 0
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json])
    rungs: tuple[Rung, ...] = ()
    ending: Ending = field(default_factory=Ending, compare=False, repr=False)

    @property
    def prompt_type(self) -> str | None:
        """What kind of prompt this is, as the prompts name it."""
        value = self.metadata.get("prompt_type")
        return None if value is None else str(value)

    @property
    def prompt_text(self) -> str:
        """All messages as one text, for rules and records."""
        return "\n".join(message.content for message in self.messages)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a call cost in tokens; cached input is part of `input_tokens`."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        """Return what both calls cost together."""
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
        )


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The finished answer.

    `data` is the parsed JSON when the request carried a schema. `rungs` are the ways in which it
    was asked for, the one that worked last; the usage counts them all. `is_constrained` says that
    the provider enforced the schema while decoding. `switched_from` names the model first asked
    when another one answered in its place. `attempts` counts how often the answering model was
    called, retries included.
    """

    text: str
    model: str
    data: Json = None
    usage: Usage = field(default_factory=Usage)
    finish_reason: str = "stop"
    duration_ms: int = 0
    first_token_ms: int | None = None
    tokens_per_second: float | None = None
    switched_from: str | None = None
    attempts: int = 1
    is_constrained: bool = False
    rungs: tuple[Rung, ...] = ()

    @property
    def was_repaired(self) -> bool:
        """Whether the first answer broke the schema."""
        return len(self.rungs) > 1

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ModelReply":
        """Read the stored shape."""
        values: dict[str, Any] = {**data, "usage": Usage(**data["usage"])}
        values["rungs"] = tuple(Rung(each) for each in data.get("rungs", ()))
        return cls(**values)


@dataclass(frozen=True, slots=True)
class TextChunk:
    """The next piece of the reply's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Working:
    """A sign of life without text: waiting for a slot, reading the prompt, thinking."""

    note: str = ""


@dataclass(frozen=True, slots=True)
class Restarted:
    """The text so far is void: the answer starts again."""

    reason: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The last chunk of every stream that did not fail."""

    reply: ModelReply


Chunk = TextChunk | Working | Restarted | Finished
"""What a caller of the gate sees."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A provider's last word: what it knows about the answer it just streamed."""

    model: str
    usage: Usage = field(default_factory=Usage)
    finish_reason: str = "stop"
    tokens_per_second: float | None = None


ProviderChunk = TextChunk | Working | Ended
"""What a provider yields; the gate turns it into chunks and a reply."""


Notify = Callable[[EventBody, ModelRequest | None], None]
"""Takes an event and the request it is about, if it is about one; returns at once."""


def say_nothing(_body: EventBody, _request: ModelRequest | None) -> None:
    """Notify nobody."""
