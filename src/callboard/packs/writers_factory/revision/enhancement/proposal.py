"""An enhancement on record: the text it began with, what it proposes, and what the writer said."""

from dataclasses import dataclass
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.core.errors import NotFound
from callboard.packs.writers_factory.prose import Change
from callboard.packs.writers_factory.revision.analysis.findings import SceneAnalysis
from callboard.packs.writers_factory.revision.enhancement.changes import preview_text
from callboard.packs.writers_factory.revision.enhancement.fixes import Fix
from callboard.packs.writers_factory.revision.enhancement.passes import PassNote
from callboard.store.records import Records

KIND: Final = "enhancement"


class EnhancementUnknown(NotFound):
    """An enhancement was named that nobody made."""

    code = "enhancement_unknown"


@dataclass(frozen=True, slots=True)
class Enhancement:
    """What an enhancement of a scene proposes."""

    id: str
    scene_id: str
    mode: str
    original: str
    changes: tuple[Change, ...]
    before: SceneAnalysis
    after: SceneAnalysis
    fixes: tuple[Fix, ...] = ()
    passes: tuple[PassNote, ...] = ()
    notes: tuple[str, ...] = ()
    # The text the scene has as far as this enhancement knows: what may be replaced.
    current: str = ""
    # What a decision is about to make of it; set only while, or if ever, that is under way.
    upcoming: str | None = None

    @property
    def preview(self) -> str:
        """The scene with every change that was not refused."""
        return preview_text(self.original, self.changes)

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {
            "id": self.id,
            "scene_id": self.scene_id,
            "mode": self.mode,
            "original": self.original,
            "current": self.current,
            "upcoming": self.upcoming,
            "changes": [change.to_json() for change in self.changes],
            "fixes": [fix.to_json() for fix in self.fixes],
            "passes": [note.to_json() for note in self.passes],
            "notes": list(self.notes),
            "before": self.before.to_json(),
            "after": self.after.to_json(),
        }

    def shown(self) -> dict[str, Json]:
        """Return what the writer is shown: the stored shape with the previewed text."""
        shape = self.to_json()
        del shape["current"], shape["upcoming"]
        return {**shape, "preview": self.preview}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Enhancement":
        """Read the stored shape."""
        return cls(
            id=data["id"],
            scene_id=data["scene_id"],
            mode=data["mode"],
            original=data["original"],
            changes=tuple(Change.from_json(each) for each in data["changes"]),
            before=SceneAnalysis.from_json(data["before"]),
            after=SceneAnalysis.from_json(data["after"]),
            fixes=tuple(Fix.from_json(each) for each in data["fixes"]),
            passes=tuple(PassNote.from_json(each) for each in data["passes"]),
            notes=tuple(data["notes"]),
            current=data["current"],
            upcoming=data.get("upcoming"),
        )


def load_enhancement(records: Records, enhancement_id: str) -> Enhancement:
    """Return an enhancement by its id."""
    body = records.get(KIND, enhancement_id)
    if body is None:
        raise EnhancementUnknown(
            f"There is no enhancement {enhancement_id!r}",
            fix="Its id is that of the run that made it.",
            enhancement=enhancement_id,
        )
    return Enhancement.from_json(body)


def enhancements_of(records: Records, scene_id: str) -> tuple[Enhancement, ...]:
    """Return the enhancements of a scene, oldest first."""
    stored = records.all(KIND).values()
    return tuple(Enhancement.from_json(each) for each in stored if each["scene_id"] == scene_id)
