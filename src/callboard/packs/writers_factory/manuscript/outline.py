"""The outline: what is wrong with one, where a scene stands in it, and every one that was approved.

An outline that is replaced stays on record under its number; taking it back approves it anew.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, cast

from callboard.core.canonical import Json
from callboard.packs.writers_factory.manuscript.facts import OutlineInvalid, VersionUnknown
from callboard.packs.writers_factory.model import PlannedScene
from callboard.packs.writers_factory.workspace import Workspace
from callboard.store.connection import Connection

BEAT_NUMBERS: Final = range(1, 16)
_TITLE_CHARS: Final = 200
_MOST_SCENES: Final = 2_000
_HIGHEST: Final = 9_999
_MOST_WORDS: Final = 1_000_000


def outline_faults(
    scenes: Sequence[PlannedScene], beats: Collection[int] = BEAT_NUMBERS
) -> tuple[str, ...]:
    """Return everything that is wrong with an outline, in words; nothing if it can be taken."""
    faults: list[str] = []
    if not scenes:
        faults.append("the outline has no scene")
    if len(scenes) > _MOST_SCENES:
        faults.append(f"the outline has more than {_MOST_SCENES} scenes")
    for scene in scenes:
        faults += [f"{scene.id}: {fault}" for fault in _scene_faults(scene, beats)]
    counts = Counter((scene.chapter, scene.scene) for scene in scenes)
    faults += [
        f"chapter {chapter} scene {scene} is planned {times} times"
        for (chapter, scene), times in counts.items()
        if times > 1
    ]
    return tuple(faults)


def _scene_faults(scene: PlannedScene, beats: Collection[int]) -> Iterable[str]:
    if scene.chapter < 1 or scene.scene < 1:
        yield "chapters and scenes are counted from 1"
    if not scene.title.strip():
        yield "it has no title"
    elif len(scene.title) > _TITLE_CHARS:
        yield f"its title is longer than {_TITLE_CHARS} characters"
    if scene.beat_number is not None and scene.beat_number not in beats:
        yield f"there is no beat {scene.beat_number}"
    if max(scene.chapter, scene.scene) > _HIGHEST:
        yield f"chapters and scenes are counted up to {_HIGHEST:,}"
    if scene.word_target is not None and not 1 <= scene.word_target <= _MOST_WORDS:
        yield f"a word target of {scene.word_target} is none"


def uncovered_beats(
    scenes: Iterable[PlannedScene], beats: Iterable[int] = BEAT_NUMBERS
) -> tuple[int, ...]:
    """Return the beats no scene of an outline serves."""
    served = {scene.beat_number for scene in scenes}
    return tuple(number for number in beats if number not in served)


def in_story_order(scenes: Iterable[PlannedScene]) -> tuple[PlannedScene, ...]:
    """Return scenes as the reader will meet them."""
    return tuple(sorted(scenes, key=lambda scene: (scene.chapter, scene.scene)))


def outline_to_json(scenes: Iterable[PlannedScene]) -> list[Json]:
    """Return the stored shape."""
    return [asdict(scene) for scene in scenes]


def outline_from_json(stored: Json) -> tuple[PlannedScene, ...]:
    """Read the stored shape, or the same shape from a door; what does not fit is a fault."""
    rows = cast("list[Any]", stored if isinstance(stored, list) else [])
    return tuple(planned_from_json(row) for row in rows)


def planned_from_json(row: Any) -> PlannedScene:
    """Read one planned scene; a number that is none counts as 0, which an outline refuses."""
    values = cast("Mapping[str, Any]", row if isinstance(row, Mapping) else {})
    beat, target = values.get("beat_number"), values.get("word_target")
    return PlannedScene(
        chapter=_number(values.get("chapter")),
        scene=_number(values.get("scene")),
        title=str(values.get("title") or "").strip(),
        beat_number=None if beat is None else _number(beat),
        summary=str(values.get("summary") or "").strip(),
        word_target=None if target is None else _number(target),
    )


def _number(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return 0


OUTLINE_KIND: Final = "outline"
REPLACED_KIND: Final = "replaced_outline"
_IN_FORCE: Final = "outline"


@dataclass(frozen=True, slots=True)
class OutlineVersion:
    """An outline the writer approved, and why it came into force."""

    number: int
    scenes: tuple[PlannedScene, ...]
    approved_at: int
    reason: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape, which is also the one shown at the doors."""
        return {
            "number": self.number,
            "scenes": outline_to_json(self.scenes),
            "approved_at": self.approved_at,
            "reason": self.reason,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "OutlineVersion":
        """Read the stored shape; one from before outlines were counted is the first."""
        return cls(
            int(stored.get("number", 1)),
            outline_from_json(stored["scenes"]),
            int(stored["approved_at"]),
            str(stored.get("reason", "")),
        )


class Outlines:
    """The outlines of one project."""

    def __init__(self, workspace: Workspace) -> None:
        """Take the project."""
        self._workspace = workspace

    def in_force(self) -> OutlineVersion | None:
        """Return the outline that holds now; None before the first was approved."""
        stored = self._workspace.records.get(OUTLINE_KIND, _IN_FORCE)
        return None if stored is None else OutlineVersion.from_json(stored)

    def versions(self) -> tuple[OutlineVersion, ...]:
        """Return every outline, oldest first; the last is the one in force."""
        replaced = self._workspace.records.all(REPLACED_KIND).values()
        found = [OutlineVersion.from_json(each) for each in replaced]
        now = self.in_force()
        return tuple(sorted([*found, *([now] if now else [])], key=lambda each: each.number))

    def find(self, number: int) -> OutlineVersion:
        """Return one outline by its number."""
        versions = self.versions()
        for version in versions:
            if version.number == number:
                return version
        numbers = ", ".join(str(version.number) for version in versions) or "none"
        raise VersionUnknown(
            f"There is no outline with the number {number}",
            fix=f"Outlines: {numbers}.",
            number=number,
        )

    def planned_words(self) -> int:
        """Return how long the book is to be: the outline's targets, else the setting."""
        found = self.in_force()
        if found is None or all(scene.word_target is None for scene in found.scenes):
            return self._workspace.settings.project.planned_total_words
        usual = self.usual_scene_words()
        return sum(scene.word_target or usual for scene in found.scenes)

    def usual_scene_words(self) -> int:
        """Return how long a scene without a target of its own is to be."""
        settings, found = self._workspace.settings.project, self.in_force()
        if found is None or not found.scenes:
            return settings.default_scene_words
        return max(1, round(settings.planned_total_words / len(found.scenes)))

    async def approve(
        self, scenes: Iterable[PlannedScene], reason: str
    ) -> tuple[PlannedScene, ...]:
        """Take an outline if nothing is wrong with it; every fault is named at once."""
        ordered = in_story_order(scenes)
        faults = outline_faults(ordered)
        if faults:
            raise OutlineInvalid(
                f"The outline cannot be taken: {'; '.join(faults)}",
                fix="Correct what is named and send the whole outline again.",
                faults=list(faults),
            )
        await self._put(ordered, reason)
        return ordered

    async def _put(self, scenes: Sequence[PlannedScene], reason: str) -> None:
        """Bring an outline into force and keep the one before; the same one changes nothing."""
        records, now = self._workspace.records, self._workspace.studio.clock.now_ms()

        def act(connection: Connection) -> None:
            stored = records.load(connection, OUTLINE_KIND, _IN_FORCE)
            number = 1
            if stored is not None:
                before = OutlineVersion.from_json(stored)
                if before.scenes == tuple(scenes):
                    return
                number = before.number + 1
                records.store(connection, REPLACED_KIND, str(before.number), before.to_json())
            new = OutlineVersion(number, tuple(scenes), now, reason)
            records.store(connection, OUTLINE_KIND, _IN_FORCE, new.to_json())

        await self._workspace.studio.database.write(act)
