"""What a domain brings to a conversation. The turn knows nothing of kitchens.

A domain owns its data and every rule about it; the turn decides who is asked what and when.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from callboard.choreography.turn.domain_parts import (
    Detail,
    EntityType,
    OnboardingQuestion,
    Persona,
    ProfileView,
    QueryStrategy,
    Subdomain,
    TableWords,
    TurnMode,
)
from callboard.choreography.turn.requests import (
    ReadRequest,
    ReadResult,
    UndoResult,
    WriteKey,
    WritePreview,
    WriteRequest,
    WriteResult,
)
from callboard.choreography.turn.shapes import Option, ThinkStep

if TYPE_CHECKING:
    from callboard.choreography.stage import Stage

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ComputeFunction:
    """Exact arithmetic over rows, named in plans; `run` gets the results it was given, by table."""

    name: str
    summary: str
    # Tables it wants to have been read, so that a plan without them is repaired or refused.
    needs: tuple[str, ...]
    run: Callable[[Mapping[str, Sequence[Row]], "Who", Mapping[str, Any]], Mapping[str, Any]]
    # The table it is about: without a row of it there is nothing to work out, whatever else is.
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Objection:
    """Why content may not be shown or kept: an allergy, a diet, something to avoid."""

    kind: str
    subject: str
    detail: str
    # Whose limit it is; empty for the user's own.
    who: str = ""


@dataclass(frozen=True, slots=True)
class Who:
    """Whose data it is. Set by the door, never by a model."""

    user_id: str
    session_id: str = ""
    timezone: str = "UTC"


@dataclass(frozen=True, slots=True)
class AskedMessage:
    """A message as the domain's own router sees it."""

    message: str
    mode: str
    who: Who
    referenced: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Routed:
    """What code made of a message without a model: steps, or words when nothing is to be done."""

    steps: tuple[ThinkStep, ...] = ()
    reply: str = ""
    assumptions: tuple[str, ...] = ()
    goal: str = ""
    # Asked instead of acting: something without which nothing sensible can be done.
    question: str = ""
    options: tuple[Option, ...] = ()
    # Ids that are held in focus from now on, and ids that no longer are.
    pins: tuple[str, ...] = ()
    unpins: tuple[str, ...] = ()
    # Said only where no model can be asked that understands more.
    weak: bool = False
    # One reading of several: it is shown before its first write, and waits for a yes.
    unsure: bool = False


@dataclass(frozen=True, slots=True)
class WantedContent:
    """Content that is to be made: what was asked for, from what, and within which limits."""

    content_type: str
    request: str
    who: Who
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    # Rows that earlier steps brought, by table.
    data: Mapping[str, Sequence[Row]] = field(default_factory=dict[str, Sequence[Row]])
    constraints: tuple[str, ...] = ()
    # Why an earlier draft of it was refused.
    objections: tuple[Objection, ...] = ()
    # The draft that is made again.
    revises: Row | None = None


class Domain(Protocol):
    """What a pack supplies so that people can talk about its data."""

    @property
    def name(self) -> str:
        """How the domain is called."""
        ...

    def subdomains(self) -> Sequence[Subdomain]:
        """Return the parts of the domain."""
        ...

    def schema(self, subdomain: str) -> str:
        """Return a subdomain's tables as a prompt shows them, in few words."""
        ...

    def entity_types(self) -> Sequence[EntityType]:
        """Return the kinds of things that are tracked one by one."""
        ...

    def modes(self) -> Sequence[TurnMode]:
        """Return the modes the user can choose from."""
        ...

    def persona(self, subdomain: str) -> Persona:
        """Return how an agent thinks while it works on a subdomain."""
        ...

    def compute_functions(self) -> Mapping[str, ComputeFunction]:
        """Return the arithmetic a plan may name."""
        ...

    def query_strategies(self) -> Sequence[QueryStrategy]:
        """Return the rules that turn words into filters."""
        ...

    def onboarding(self) -> Sequence[OnboardingQuestion]:
        """Return what is asked once."""
        ...

    def read(self, who: Who, request: ReadRequest) -> Awaitable[ReadResult]:
        """Return rows of one user; a request that cannot be done raises `QueryError`."""
        ...

    def preview(self, who: Who, request: WriteRequest) -> Awaitable[WritePreview]:
        """Say what a change would touch."""
        ...

    def write(
        self,
        who: Who,
        request: WriteRequest,
        key: WriteKey,
        confirmed: WritePreview | None = None,
    ) -> Awaitable[WriteResult]:
        """Change rows, all of them or none, once per key; raises `WriteError`."""
        ...

    def undo(self, who: Who, confirmed: WritePreview | None = None) -> Awaitable[UndoResult]:
        """Take back what the last turn that wrote has changed in this session.

        What the human must see first raises `WriteError` with a preview, to be sent along then.
        """
        ...

    def counts(self, who: Who) -> Awaitable[Mapping[str, int]]:
        """Return how many rows there are, by table."""
        ...

    def categories(self, who: Who) -> Awaitable[Mapping[str, Mapping[str, int]]]:
        """Return how many rows there are by table and category."""
        ...

    def profile(self, who: Who, detail: Detail, subdomain: str = "") -> Awaitable[ProfileView]:
        """Return what prompts are told about a user."""
        ...

    def content_schema(self, content_type: str) -> Mapping[str, Any]:
        """Return the JSON schema of what is generated."""
        ...

    def check_content(
        self, who: Who, content_type: str, content: Row, constraints: Sequence[str]
    ) -> Awaitable[Sequence[Objection]]:
        """Return why content may not be shown or kept, if anything."""
        ...

    def content_to_write(self, content_type: str, content: Row) -> WriteRequest:
        """Return the write that saves generated content."""
        ...

    def label_for(self, entity_type: str, row: Row) -> str:
        """Return how people name a row."""
        ...

    def tags_for(self, entity_type: str, row: Row) -> tuple[str, ...]:
        """Return the words a row is also known by."""
        ...

    def slot_for(self, entity_type: str, row: Row) -> str | None:
        """Return the place a row takes, which only one thing can have."""
        ...

    def route(self, asked: AskedMessage) -> Awaitable[Routed | None]:
        """Return what code makes of a message, or None if it is not sure."""
        ...

    def find_by_label(self, who: Who, text: str) -> Awaitable[Sequence[Row]]:
        """Return rows of one user that go by a name."""
        ...

    def mode_of(self, message: str) -> str | None:
        """Return the mode a message sounds like, or None if it fits any."""
        ...

    def draft_content(
        self, stage: "Stage", key: str, wanted: WantedContent
    ) -> Awaitable[Sequence[Row] | None]:
        """Return content made with a model that is held to choices, or None to just ask for it.

        Steps are journaled under `key`. Nothing comes back that `check_content` would refuse; an
        empty list means that nothing can be made within the limits.
        """
        ...


@runtime_checkable
class PresentsRows(Protocol):
    """A domain that lists rows in its own way: by aisle, by day, as the user likes it."""

    def present_rows(
        self, who: Who, table: str, rows: Sequence[Row]
    ) -> Awaitable[Sequence[str] | None]:
        """Return the lines of a list, or None for one line per row."""
        ...


@runtime_checkable
class PresentsContent(Protocol):
    """A domain that shows drafts in its own way."""

    def present_content(self, content_type: str, content: Row) -> str:
        """Return a draft as the user reads it."""
        ...


@runtime_checkable
class NamesTables(Protocol):
    """A domain whose tables have names that people use."""

    def table_words(self, table: str) -> TableWords | None:
        """Return how people call a table, or also what arithmetic lists as `function.name`."""
        ...


@runtime_checkable
class TellsWrites(Protocol):
    """A domain that tells some of its changes in its own way."""

    def tell_write(self, request: WriteRequest, result: WriteResult) -> str | None:
        """Return what was changed without a full stop, or None to have it told by table."""
        ...
