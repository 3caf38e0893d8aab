"""What a stage hands back: replies and tool outcomes that remember where they came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from callboard.core.canonical import Json, compact_json
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import Content, Trust
from callboard.engine.run import Run


@dataclass(frozen=True, slots=True)
class Reply:
    """What an agent said. `data` is set when it was asked for JSON.

    `raw` is the reply with its tags, for those who read more of it than the message.
    """

    text: str
    agent_id: str
    key: str
    data: Json = None
    prompt_id: str = ""
    raw: str = ""

    @property
    def fields(self) -> dict[str, Any]:
        """The JSON object it was asked for; empty where it gave none."""
        data: Any = self.data
        return cast("dict[str, Any]", data) if isinstance(data, dict) else {}

    def content(self) -> Content:
        """Return the reply as something another agent may be shown."""
        return Content(self.text, f"agent:{self.agent_id}", Trust.UNTRUSTED)


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a tool found or did; the payload is what its receipt holds."""

    tool: str
    receipt_id: str
    payload: dict[str, Any]
    summary: str
    preview: str
    key: str

    def content(self) -> Content:
        """Return what an agent is shown of it."""
        return Content(self.summary or self.preview, f"tool:{self.tool}", Trust.UNTRUSTED)


class NotDone(CallboardError):
    """A definition of done is not met, whatever an agent says."""

    code = "definition_of_done_failed"


def pack_of(run: Run) -> str:
    """Return the pack a run's choreography comes from."""
    return run.choreography.partition("/")[0]


Input = Content | Reply | ToolOutcome | Json


def as_content(name: str, value: Input) -> Content:
    """Label anything a choreography passes to an agent; what has no label is not trusted."""
    if isinstance(value, Content):
        return value
    if isinstance(value, Reply | ToolOutcome):
        return value.content()
    if isinstance(value, Mapping):
        pairs = cast(Mapping[str, Any], value)
        return _join(name, {key: as_content(key, item) for key, item in pairs.items()})
    if isinstance(value, list | tuple):
        items = cast(Sequence[Any], value)
        if any(isinstance(item, Content | Reply | ToolOutcome) for item in items):
            return _join(name, {str(n): as_content(name, item) for n, item in enumerate(items, 1)})
    text = value if isinstance(value, str) else compact_json(value)
    return Content(text, f"input:{name}", Trust.UNTRUSTED)


def _join(name: str, parts: Mapping[str, Content]) -> Content:
    """Put several pieces under their names; the whole is as untrusted as its worst part."""
    text = "\n\n".join(f"{key}:\n{part.text}" for key, part in parts.items())
    trusted = all(part.trust is Trust.TRUSTED for part in parts.values())
    return Content(text, f"input:{name}", Trust.TRUSTED if trusted else Trust.UNTRUSTED)
