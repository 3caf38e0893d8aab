"""What a reply says, once it is taken apart. Values only."""

from dataclasses import dataclass, field

from callboard.core.canonical import Json


@dataclass(frozen=True, slots=True)
class Action:
    """Something a reply asks for: data for a permission check, never a command."""

    type: str
    content: dict[str, Json] = field(default_factory=dict[str, Json])
    raw: str = ""


@dataclass(frozen=True, slots=True)
class ContentUpdate:
    """Text a reply proposes for a target."""

    target: str
    content: str
    raw: str = ""


@dataclass(frozen=True, slots=True)
class ReplyWarning:
    """Something odd in a reply; `position` is where in the raw text."""

    code: str
    detail: str = ""
    position: int = 0

    def __str__(self) -> str:
        """Render as stored with the prompt record."""
        return f"{self.code}: {self.detail}" if self.detail else self.code


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """A reply in its parts; `raw` is what the model wrote, untouched."""

    raw: str
    message: str = ""
    thinking: str | None = None
    actions: tuple[Action, ...] = ()
    content_updates: tuple[ContentUpdate, ...] = ()
    warnings: tuple[ReplyWarning, ...] = ()
