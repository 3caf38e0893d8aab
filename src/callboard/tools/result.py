"""What a tool gives back, and its summary cut to what a tier affords.

A summary is written most important first, a point per line, so that it can be cut at any line.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from callboard.core.canonical import Json
from callboard.core.vocabulary import ModelTier
from callboard.core.words import one_line, shorten

PREVIEW_LIMIT_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class FileRef:
    """A file a tool has read or written, as it was then."""

    path: str
    sha256: str

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {"path": self.path, "sha256": self.sha256}


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The outcome of one execution: data for code, a line for people, a text for prompts.

    `preview` is made one line of at most 200 characters whatever the tool says.
    """

    payload: dict[str, Json]
    preview: str = ""
    summary: str = ""
    file_refs: tuple[FileRef, ...] = ()

    def __post_init__(self) -> None:
        """Keep the promise about the preview."""
        object.__setattr__(self, "preview", one_line(self.preview, PREVIEW_LIMIT_CHARS))


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a tool would touch, had it been run."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    detail: dict[str, Json] = field(default_factory=dict[str, Json])

    def as_result(self) -> ToolResult:
        """Return the plan in the shape every execution has."""
        payload: dict[str, Json] = {
            **self.detail,
            "dry_run": True,
            "reads": list(self.reads),
            "writes": list(self.writes),
        }
        preview = f"would read {len(self.reads)} and write {len(self.writes)} files"
        lines = [f"read {path}" for path in self.reads] + [f"write {path}" for path in self.writes]
        return ToolResult(payload, preview, "\n".join([preview, *lines]))


@dataclass(frozen=True, slots=True)
class Probe:
    """What a look at the world says about an interrupted execution; None means: cannot tell."""

    happened: bool | None
    result: ToolResult | None = None


SUMMARY_BUDGET_CHARS: Final[Mapping[ModelTier, int]] = MappingProxyType(
    {ModelTier.MINIMAL: 1_500, ModelTier.MEDIUM: 6_000, ModelTier.FULL: 12_000}
)
_CUT: Final = "… ({lines} more lines in the receipt)"


def fit_summary(text: str, budget_chars: int) -> str:
    """Return a summary within a budget, cut after a whole line and saying so.

    A first line that alone is too long is cut inside, for then there is no better place.
    """
    if len(text) <= budget_chars:
        return text
    lines = text.split("\n")
    room = budget_chars - len(_CUT.format(lines=len(lines))) - 1
    kept: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    if not kept:
        return shorten(text, budget_chars) if budget_chars > 0 else ""
    return "\n".join([*kept, _CUT.format(lines=len(lines) - len(kept))])
