"""What a tool gives back. Holds the shape, not the meaning."""

from dataclasses import dataclass, field
from typing import Final

from callboard.core.canonical import Json

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
        object.__setattr__(self, "preview", one_line(self.preview))


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


def one_line(text: str, limit_chars: int = PREVIEW_LIMIT_CHARS) -> str:
    """Fold a text to one line and cut it visibly."""
    folded = " ".join(text.split())
    return folded if len(folded) <= limit_chars else folded[: limit_chars - 1] + "…"
