"""Edits: replaces words in one place, keeps what was there, and takes edits back, the last first.

An edit that would bring in a zero-tolerance pattern is refused unless it is forced. Nothing is
taken back that somebody changed since.
"""

import difflib
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final

from callboard.core.canonical import Json, digest
from callboard.core.errors import Conflict
from callboard.packs.writers_factory.ground import Ground
from callboard.packs.writers_factory.manuscript import Manuscript, NothingToUndo
from callboard.packs.writers_factory.prose import PatternHit, PatternSeverity, scan
from callboard.packs.writers_factory.revision.analysis.brief import SceneBrief
from callboard.packs.writers_factory.revision.editing.requests import (
    EditBlocked,
    EditRequest,
    find_place,
)
from callboard.packs.writers_factory.revision.editing.targets import (
    Target,
    find_target,
    read_target,
)

KIND: Final = "edit"


class ChangedSince(Conflict):
    """A text is not the one an edit left behind."""

    code = "changed_since"


@dataclass(frozen=True, slots=True)
class EditResult:
    """An edit that was made."""

    edit_id: str
    target: str
    path: str
    diff: str
    hits: tuple[PatternHit, ...]
    version: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the shape shown at the doors."""
        return {**asdict(self), "hits": [asdict(hit) for hit in self.hits]}


class Edits:
    """The edits of one project; `measure_by` gives what a scene is scanned with."""

    def __init__(
        self, ground: Ground, manuscript: Manuscript, measure_by: Callable[[str], SceneBrief]
    ) -> None:
        """Take the project, its scenes, and what scenes are measured by."""
        self._ground = ground
        self._manuscript = manuscript
        self._measure_by = measure_by

    async def apply(self, request: EditRequest) -> EditResult:
        """Make an edit; the version before it is in the archive when this returns."""
        target = find_target(self._ground, self._manuscript, request.target)
        before = read_target(self._ground, self._manuscript, target)
        place = find_place(request, before)
        after = f"{before[: place.start]}{request.new_text}{before[place.end :]}"
        hits = self._scan(target, after)
        if not request.force:
            self._refuse_new_patterns(target, before, hits)
        version = await self._write(target, after, f"edit: {request.reason.strip()}")
        # Read back: a file may be kept in a form of its own, such as with one line end at its end.
        now = read_target(self._ground, self._manuscript, target)
        edit_id = self._ground.studio.ids.make("edit")
        body: dict[str, Json] = {
            "target": target.name,
            "reason": request.reason.strip(),
            "before": before,
            "after_digest": digest(now),
            "is_undone": False,
            "at": self._ground.studio.clock.now_ms(),
        }
        await self._ground.records.put(KIND, edit_id, body)
        return EditResult(
            edit_id, target.name, target.path, diff(before, after, target.path), hits, version
        )

    async def undo(self, name: str) -> EditResult:
        """Take the last edit of a target back; called again, the one before it."""
        target = find_target(self._ground, self._manuscript, name)
        open_edits = [
            (edit_id, body) for edit_id, body in self._of(target).items() if not body["is_undone"]
        ]
        if not open_edits:
            raise NothingToUndo(
                f"No edit of {target.name} can be taken back",
                fix="Older texts are among the versions of the scene.",
            )
        edit_id, body = open_edits[-1]
        now = read_target(self._ground, self._manuscript, target)
        if digest(now) != body["after_digest"]:
            raise ChangedSince(
                f"{target.name} was changed after its last edit",
                fix="Restore a version of it, or edit it again.",
                edit=edit_id,
            )
        before = str(body["before"])
        version = await self._write(target, before, f"undo: {body['reason']}")
        await self._ground.records.put(KIND, edit_id, {**body, "is_undone": True})
        shown = diff(now, before, target.path)
        hits = self._scan(target, before)
        return EditResult(edit_id, target.name, target.path, shown, hits, version)

    def history(self, name: str) -> tuple[dict[str, Json], ...]:
        """Return the edits of a target, oldest first, without the texts."""
        target = find_target(self._ground, self._manuscript, name)
        hidden = ("before", "after_digest")
        return tuple(
            {"id": edit_id, **{key: each for key, each in body.items() if key not in hidden}}
            for edit_id, body in self._of(target).items()
        )

    def _of(self, target: Target) -> dict[str, dict[str, Any]]:
        stored = self._ground.records.all(KIND)
        return {each: body for each, body in stored.items() if body["target"] == target.name}

    def _scan(self, target: Target, text: str) -> tuple[PatternHit, ...]:
        if target.scene_id is None:
            return ()
        brief = self._measure_by(target.scene_id)
        return scan(text, patterns=brief.patterns, pov=brief.pov)

    def _refuse_new_patterns(
        self, target: Target, before: str, hits: tuple[PatternHit, ...]
    ) -> None:
        fresh = zero_tolerance(hits) - zero_tolerance(self._scan(target, before))
        if fresh:
            raise EditBlocked(
                f"The edit brings in {', '.join(sorted(fresh))}, which no scene may hold",
                fix="Write it otherwise, or force the edit.",
                patterns=sorted(fresh),
            )

    async def _write(self, target: Target, text: str, reason: str) -> str:
        if target.scene_id is None:
            written = self._ground.files.write_text(target.path, text)
            return written.backup or ""
        meta = self._manuscript.scene(target.scene_id)
        version = await self._manuscript.save(target.scene_id, text, meta, reason=reason)
        return str(version.number)


def zero_tolerance(hits: tuple[PatternHit, ...]) -> Counter[str]:
    """Count the zero-tolerance hits by pattern."""
    return Counter(h.pattern for h in hits if h.severity is PatternSeverity.ZERO_TOLERANCE)


def diff(before: str, after: str, path: str) -> str:
    """Return how one text differs from another, line by line."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), f"a/{path}", f"b/{path}", lineterm=""
    )
    return "\n".join(lines)
