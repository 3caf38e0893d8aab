"""A variant: one draft of a scene, what was found in it, and where each paragraph comes from."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from callboard.core.canonical import Json, plain

HYBRID: Final = "HYBRID"


@dataclass(frozen=True, slots=True)
class Flag:
    """Something the writer should know of a variant; it stands in nobody's way."""

    code: str
    detail: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class SceneVariant:
    """One draft; without a text it failed, and `error` says why."""

    id: str
    scene_id: str
    strategy: str
    model: str = ""
    text: str = ""
    word_count: int = 0
    word_target: int = 0
    flags: tuple[Flag, ...] = ()
    error: str = ""
    path: str = ""
    # Which scaffold it was written from, and whether the voice was locked then.
    scaffold_version: int = 1
    is_voice_locked: bool = True
    created_at: int = 0
    # For a hybrid: of each paragraph, the variant it was taken from.
    provenance: tuple[str, ...] = ()
    extra: Mapping[str, Json] = field(default_factory=dict[str, Json])

    @property
    def is_usable(self) -> bool:
        """Whether there is a text to choose."""
        return bool(self.text)

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape, which is also the one shown at the doors."""
        return plain(asdict(self))

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "SceneVariant":
        """Read the stored shape."""
        values = dict(stored)
        values["flags"] = tuple(Flag(**each) for each in values.get("flags", ()))
        values["provenance"] = tuple(values.get("provenance", ()))
        return cls(**values)


def paragraphs_of(text: str) -> tuple[str, ...]:
    """Return the paragraphs of a draft, which blank lines separate."""
    blocks = text.replace("\r\n", "\n").split("\n\n")
    return tuple(block.strip("\n") for block in blocks if block.strip())


def joined(paragraphs: tuple[str, ...]) -> str:
    """Return paragraphs as one text."""
    return "\n\n".join(paragraphs)
