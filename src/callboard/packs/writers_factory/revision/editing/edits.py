"""Edits: replaces words in one place, keeps what was there, and takes edits back, the last first.

An edit that would bring in a zero-tolerance pattern, or a contradiction to a card or a scene, is
refused unless it is forced. Nothing is
taken back that somebody changed since. An edit is on record before its file is touched, so that
after a crash the text itself tells whether it was made.
"""

import difflib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from callboard.core.canonical import Json, digest
from callboard.core.codec import Coded
from callboard.core.errors import Conflict
from callboard.packs.writers_factory.manuscript import (
    Manuscript,
    NothingToUndo,
    TextUnproven,
    body_as_kept,
    require_proven,
)
from callboard.packs.writers_factory.prose import PatternHit, PatternSeverity, scan
from callboard.packs.writers_factory.revision.analysis.brief import SceneBrief
from callboard.packs.writers_factory.revision.editing.requests import (
    EditBlocked,
    EditRequest,
    EditTarget,
    find_place,
    find_target,
    read_target,
)
from callboard.packs.writers_factory.workspace import Workspace
from callboard.tools import off_loop

KIND: Final = "edit"


class ChangedSince(Conflict):
    """A text is not the one an edit left behind."""

    code = "changed_since"


@dataclass(frozen=True, slots=True)
class EditResult(Coded):
    """An edit that was made."""

    edit_id: str
    target: str
    path: str
    diff: str
    hits: tuple[PatternHit, ...]
    version: str = ""
    # What it contradicts, if it was forced.
    against: tuple[str, ...] = ()


class Edits:
    """The edits of one project; `measure_by` gives what a scene is scanned with."""

    def __init__(
        self, workspace: Workspace, manuscript: Manuscript, measure_by: Callable[[str], SceneBrief]
    ) -> None:
        """Take the project, its scenes, and what scenes are measured by."""
        self._workspace = workspace
        self._manuscript = manuscript
        self._measure_by = measure_by

    async def apply(self, request: EditRequest, *, once: str = "") -> EditResult:
        """Make an edit; the version before it is in the archive when this returns.

        Asked for again under the same `once`, an edit that was made is not made a second time.
        """
        target = find_target(self._workspace, self._manuscript, request.target)
        before = read_target(self._workspace, self._manuscript, target)
        edit_id = _id_of(once) if once else self._workspace.studio.ids.make("edit")
        begun = self._workspace.records.get(KIND, edit_id)
        if begun is not None and (begun["is_made"] or before != begun["before"]):
            return await self._find_made(edit_id, begun, target, before)
        place = await off_loop(find_place, request, before)
        after = f"{before[: place.start]}{request.new_text}{before[place.end :]}"
        if not request.force:
            fresh = await self._scan(target, after)
            _refuse_new_patterns(fresh, await self._scan(target, before))
        body: dict[str, Json] = {
            "target": target.name,
            "reason": request.reason.strip(),
            "before": before,
            "after_digest": digest(as_kept(target, after)),
            "diff": await off_loop(diff, before, after, target.path),
            "version": "",
            "is_made": False,
            "is_undone": False,
            "at": self._workspace.studio.clock.now_ms(),
        }
        await self._workspace.records.put(KIND, edit_id, body)
        try:
            reason = f"edit: {body['reason']}"
            made = await self.write(target, after, reason, before, force=request.force)
        except TextUnproven:
            await self._workspace.records.delete(KIND, edit_id)
            raise
        return await self._settle(edit_id, {**body, **made}, target, after)

    async def _find_made(
        self, edit_id: str, begun: dict[str, Any], target: EditTarget, now: str
    ) -> EditResult:
        """Return an edit that was asked for before, if the text or the record says it was made."""
        if begun["is_made"]:
            return await self._settle(edit_id, begun, target, now)
        if not _is_made(begun, now):
            raise ChangedSince(
                f"{target.name} was changed while an edit of it was being made",
                fix="Look at the text, and ask for the edit again if it is missing.",
                edit=edit_id,
            )
        made: dict[str, Json] = {"version": ""}
        if target.scene_id is not None:
            # The text stands there: this only completes what is on record about it.
            made = await self.write(target, now, f"edit: {begun['reason']}", now)
        return await self._settle(edit_id, {**begun, **made}, target, now)

    async def _settle(
        self, edit_id: str, body: dict[str, Any], target: EditTarget, text: str
    ) -> EditResult:
        if not body["is_made"]:
            await self._workspace.records.put(KIND, edit_id, {**body, "is_made": True})
        hits = await self._scan(target, text)
        version, against = str(body["version"]), tuple(body.get("against", ()))
        return EditResult(edit_id, target.name, target.path, body["diff"], hits, version, against)

    async def undo(self, name: str) -> EditResult:
        """Take the last edit of a target back; called again, the one before it."""
        target = find_target(self._workspace, self._manuscript, name)
        now = read_target(self._workspace, self._manuscript, target)
        made = self._of(target, now)
        open_edits = [(edit_id, body) for edit_id, body in made.items() if not body["is_undone"]]
        if not open_edits:
            raise NothingToUndo(
                f"No edit of {target.name} can be taken back",
                fix="Older texts are among the versions of the scene.",
            )
        edit_id, body = open_edits[-1]
        before = str(body["before"])
        # One that is undone already was interrupted before it was on record.
        if now != before and not _is_made(body, now):
            raise ChangedSince(
                f"{target.name} was changed after its last edit",
                fix="Restore a version of it, or edit it again.",
                edit=edit_id,
            )
        # What was there before may stand there again, whatever it contradicts.
        made = await self.write(target, before, f"undo: {body['reason']}", now, force=True)
        undone = {**body, "is_made": True, "is_undone": True}
        await self._workspace.records.put(KIND, edit_id, undone)
        shown = await off_loop(diff, now, before, target.path)
        hits = await self._scan(target, before)
        return EditResult(edit_id, target.name, target.path, shown, hits, made["version"])

    def history(self, name: str) -> tuple[dict[str, Json], ...]:
        """Return the edits of a target, oldest first, without the texts."""
        target = find_target(self._workspace, self._manuscript, name)
        now = read_target(self._workspace, self._manuscript, target)
        shown = ("target", "reason", "is_undone", "at")
        return tuple(
            {"id": edit_id, **{key: body[key] for key in shown}}
            for edit_id, body in self._of(target, now).items()
        )

    def _of(self, target: EditTarget, now: str) -> dict[str, dict[str, Any]]:
        """Return the edits of a target that were made, oldest first."""
        stored = self._workspace.records.all(KIND)
        return {
            edit_id: body
            for edit_id, body in stored.items()
            if body["target"] == target.name and (body.get("is_made", True) or _is_made(body, now))
        }

    async def _scan(self, target: EditTarget, text: str) -> tuple[PatternHit, ...]:
        if target.scene_id is None:
            return ()
        brief = self._measure_by(target.scene_id)
        return await off_loop(scan, text, patterns=brief.patterns, pov=brief.pov)

    async def write(
        self, target: EditTarget, text: str, reason: str, before: str, *, force: bool = False
    ) -> dict[str, Json]:
        """Write a text in place of the one before, if it holds against the book or is forced."""
        if target.scene_id is None:
            against = await require_proven(
                self._workspace.studio, target.path, text, accepted=before or None, force=force
            )
            written = self._workspace.files.write_text(target.path, text)
            return {"version": written.backup or "", "against": list(against)}
        meta = self._manuscript.scene(target.scene_id)
        version = await self._manuscript.save(
            target.scene_id, text, meta, reason=reason, force=force
        )
        return {"version": str(version.number), "against": list(version.against)}


def _refuse_new_patterns(after: tuple[PatternHit, ...], before: tuple[PatternHit, ...]) -> None:
    fresh = zero_tolerance(after) - zero_tolerance(before)
    if fresh:
        raise EditBlocked(
            f"The edit brings in {', '.join(sorted(fresh))}, which no scene may hold",
            fix="Write it otherwise, or force the edit.",
            patterns=sorted(fresh),
        )


def _id_of(once: str) -> str:
    return f"edit_{digest(once)[:20]}"


def as_kept(target: EditTarget, text: str) -> str:
    """Return a text as it reads once it stands in its file."""
    return text if target.scene_id is None else body_as_kept(text)


def _is_made(edit: Mapping[str, Any], now: str) -> bool:
    return digest(now) == edit["after_digest"]


def zero_tolerance(hits: tuple[PatternHit, ...]) -> Counter[str]:
    """Count the zero-tolerance hits by pattern."""
    return Counter(h.pattern for h in hits if h.severity is PatternSeverity.ZERO_TOLERANCE)


def diff(before: str, after: str, path: str) -> str:
    """Return how one text differs from another, line by line."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), f"a/{path}", f"b/{path}", lineterm=""
    )
    return "\n".join(lines)
