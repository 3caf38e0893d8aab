"""What a prompt is made of before and after assembly, and how it is laid out as text.

Values and one data file beside the templates; no rules.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.core.parsing import load_yaml
from callboard.core.vocabulary import Content, ModelTier, Trust
from callboard.prompts.errors import AssemblyInvalid

HISTORY: Final = "history"
"""The name of the conversation in a trimming order and in a bill of materials."""

MESSAGE: Final = "message"
"""The name of the current message in a bill of materials."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """A shorter authored form of a layer: the layer after this and all earlier reductions.

    `content` may be a function, so that a form nobody needs is never built.
    """

    name: str
    content: Content | Callable[[], Content]


@dataclass(frozen=True, slots=True)
class Layer:
    """One named piece of a prompt.

    A pinned layer is never dropped and never cut; only its own reductions may replace it. A layer
    that may be cut is shortened at its end; every other layer is kept whole, reduced or dropped.
    """

    name: str
    content: Content
    budget_tokens: int | None = None
    pinned: bool = False
    stable: bool = False
    may_cut: bool = False
    reductions: tuple[Reduction, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """One entry of a conversation.

    Turns with the same `pair` are one thing, a tool call and its result: no model accepts one
    without the other.
    """

    content: Content
    role: str = "user"
    pair: str | None = None


class FittingOutcome(StrEnum):
    """What became of a layer on its way into the prompt."""

    KEPT = "kept"
    EMPTY = "empty"
    REDUCED = "reduced"
    SELECTED = "selected"
    SUMMARISED = "summarised"
    CUT = "cut"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class FittingNote:
    """What fitting did to a conversation before assembly, for the bill of materials."""

    outcome: FittingOutcome
    reason: str
    original_tokens: int
    lines: "tuple[LayerLine, ...]" = ()


@dataclass(frozen=True, slots=True)
class History:
    """The conversation so far, oldest first; limits keep the newest exchanges.

    `fitted` is there when the conversation was longer and has been fitted.
    """

    turns: tuple[Turn, ...] = ()
    max_exchanges: int | None = None
    budget_tokens: int | None = None
    fitted: FittingNote | None = None


class TrimOrder(StrEnum):
    """How layers are laid out."""

    STABLE_FIRST = "stable_first"
    AS_GIVEN = "as_given"


@dataclass(frozen=True, slots=True)
class PromptRequest:
    """Everything one prompt is assembled from.

    `trim_order` lists what may give way when the whole exceeds `limit_tokens`, first to go first:
    `history`, the name of a layer, or `layer/reduction`. What it does not list is not touched.
    Without one, history goes first and then the layers that are neither pinned nor stable, from
    the last to the first.
    """

    layers: tuple[Layer, ...]
    message: Content
    history: History = History()
    limit_tokens: int | None = None
    trim_order: tuple[str, ...] | None = None
    order: TrimOrder = TrimOrder.STABLE_FIRST
    message_budget_tokens: int | None = None
    model_id: str = ""
    tier: ModelTier | None = None


@dataclass(frozen=True, slots=True)
class LayerLine:
    """One line of the bill of materials."""

    name: str
    origin: str
    trust: Trust
    tokens: int
    original_tokens: int
    budget_tokens: int | None
    outcome: FittingOutcome
    reason: str = ""
    pinned: bool = False
    stable: bool = False
    text: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the line as it is stored and shown at the doors, without its text."""
        return {
            "name": self.name,
            "origin": self.origin,
            "trust": self.trust.value,
            "tokens": self.tokens,
            "original_tokens": self.original_tokens,
            "budget_tokens": self.budget_tokens,
            "outcome": self.outcome.value,
            "reason": self.reason,
            "pinned": self.pinned,
            "stable": self.stable,
        }

    @property
    def trimmed(self) -> bool:
        """Whether less went out than was given."""
        return self.outcome not in (FittingOutcome.KEPT, FittingOutcome.EMPTY)

    @property
    def over_budget(self) -> bool:
        """Whether the layer is larger than its own budget allows."""
        return self.budget_tokens is not None and self.tokens > self.budget_tokens


class MessagePlace(StrEnum):
    """Where a message stands in the prompt."""

    SYSTEM = "system"
    HISTORY = "history"
    CURRENT = "current"


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """A message for a chat API; its text is its parts, joined with nothing between them."""

    role: str
    parts: tuple[str, ...]
    place: MessagePlace

    @property
    def content(self) -> str:
        """The text as sent."""
        return "".join(self.parts)


_FILE: Final = Path(__file__).parent / "bundled" / "layout.yaml"
_ROLE_LINE: Final = re.compile(r"^(?=[A-Za-z_]{1,20}:)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Layout:
    """Separators and headings of a flat prompt, and the mark that shows where text was cut."""

    separator: str
    history_heading: str
    message_heading: str
    user_label: str
    cut_mark: str

    def to_json(self) -> dict[str, str]:
        """Return the stored shape."""
        return asdict(self)


def load_layout(path: Path = _FILE) -> Layout:
    """Read a layout file; every field must be there and nothing else."""
    values: Any = load_yaml(path.read_text(encoding="utf-8"))
    try:
        return Layout(**values)
    except TypeError as error:
        raise AssemblyInvalid(f"{path.name}: {error}", path=str(path)) from error


def turn_line(role: str, content: str) -> str:
    """Return one entry of a flat conversation; inner lines cannot pose as another role's."""
    first, newline, rest = content.partition("\n")
    if newline:
        rest = _ROLE_LINE.sub("  ", rest)
    return f"{role.upper()}: {first}{newline}{rest}"


def flatten(messages: Sequence[PromptMessage], layout: Layout) -> str:
    """Return the one text of a prompt, for models that take no list of messages."""
    sections = [m.content for m in messages if m.place is MessagePlace.SYSTEM and m.content]
    turns = [turn_line(m.role, m.content) for m in messages if m.place is MessagePlace.HISTORY]
    if turns:
        sections.append("\n\n".join([layout.history_heading, *turns]))
    for message in messages:
        if message.place is MessagePlace.CURRENT:
            line = f"{layout.user_label}: {message.content}"
            sections.append(f"{layout.message_heading}\n\n{line}")
    return layout.separator.join(sections)
