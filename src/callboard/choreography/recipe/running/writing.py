"""Writing a result into the project: created, replaced with a backup, or only proposed.

What nobody allowed to be overwritten is proposed: an existing file, a draft that does not meet
what the recipe requires, a file that was edited while the run was under way. So is a text in which
code finds what must not stand: the very text that would be written is looked at, right before.
"""

import asyncio
import difflib
from dataclasses import dataclass
from typing import Final

from callboard.choreography.recipe.definition import Commit, CommitMode, resolve
from callboard.choreography.recipe.errors import CommitRefused
from callboard.choreography.recipe.running.checks import Proof, evaluate, prove
from callboard.choreography.recipe.running.play import PROOF, Play
from callboard.core.canonical import Json, digest_bytes
from callboard.core.vocabulary import (
    Effect,
    IssueDraft,
    IssueKind,
    IssueSource,
    StepKind,
)
from callboard.engine.scope import Finding, Happened, NotHappened, StepScope
from callboard.tools import read_receipt
from callboard.tools.errors import FileChanged, FileMissing
from callboard.tools.files import ProjectFiles
from callboard.tools.files.project import TEXT_SUFFIXES

_DIFF_CONTEXT_LINES: Final = 3


@dataclass(frozen=True, slots=True)
class _Target:
    """A file a result is meant for, as it is now."""

    path: str
    text: str
    sha256: str | None
    current: bytes

    @property
    def is_free(self) -> bool:
        """Whether nothing would be overwritten."""
        return not self.current.strip()

    @property
    def new_sha256(self) -> str:
        """The hash the file will have."""
        return digest_bytes(self.text.encode("utf-8", "replace"))


async def write(play: Play, key: str, commit: Commit) -> dict[str, Json]:
    """Write one result, once, and return what was done."""
    proof = await _prove(play, key, commit)

    async def act(scope: StepScope) -> Json:
        done = await _write(play, key, commit, proof)
        scope.preview = f"{done['mode']} {done['path']}"
        return done

    async def probe(_before: Json) -> Finding:
        target = await asyncio.to_thread(_target, play, commit)
        if target is None or target.sha256 != target.new_sha256:
            # A write leaves the old file or the new one, never half of it.
            return NotHappened()
        return Happened(_told(_written(play, commit, target), proof))

    if play.run.holds(key):
        return play.run.recall(key)
    await play.turn.ready(key)
    return await play.run.step(
        key, act, kind=StepKind.WORK, effect=Effect.ONCE, slot=None, probe=probe
    )


def text_for(play: Play, commit: Commit) -> tuple[str, str] | None:
    """Return where a result goes and the text that would be written; None if there is none yet."""
    target = _target(play, commit)
    return None if target is None else (target.path, target.text)


def check_path(files: ProjectFiles, path: Json) -> str:
    """Return a path a recipe may write to; settings, code and what is outside are refused."""
    if not isinstance(path, str):
        raise CommitRefused(f"{path!r} is not a path", fix="Name a file of the project.")
    resolved = files.resolve_for_writing(path)
    if not resolved.lower().endswith(TEXT_SUFFIXES):
        raise CommitRefused(
            f"A recipe may not write {path!r}",
            fix=f"It writes texts: {', '.join(TEXT_SUFFIXES)}.",
            path=path,
        )
    return resolved


def diff_of(path: str, before: bytes, after: str) -> str:
    """Return the unified diff from the bytes of a file to a text."""
    old = before.decode("utf-8", "replace").splitlines(keepends=True)
    new = after.splitlines(keepends=True)
    lines = difflib.unified_diff(
        old, new, path if before else "(new file)", path, n=_DIFF_CONTEXT_LINES
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def read_current(files: ProjectFiles, path: str) -> bytes | None:
    """Return what a file holds now, or None if it is not there."""
    try:
        return files.read_bytes(path)
    except FileMissing:
        return None


async def _prove(play: Play, key: str, commit: Commit) -> Proof | None:
    """Have code look at the text; None if there is none, or nobody to look."""
    if play.run.holds(key):
        return None
    target = await asyncio.to_thread(_target, play, commit)
    if target is None:
        return None
    proven = await prove(play, f"{key}/{PROOF}", target.path, target.text)
    return None if proven is None else proven[0]


async def _write(play: Play, key: str, commit: Commit, proof: Proof | None) -> dict[str, Json]:
    target = await asyncio.to_thread(_target, play, commit)
    if target is None:
        return {"path": None, "mode": "skipped", "reason": f"slot {commit.slot!r} is empty"}
    reason = _why_propose(play, commit, target, proof)
    if reason is None:
        try:
            return _told(await asyncio.to_thread(_put, play, commit, target), proof)
        except FileChanged as error:
            reason = error.message
            target = await asyncio.to_thread(_target, play, commit) or target
    return _told(await _propose(play, key, target, reason, proof), proof)


def _told(done: dict[str, Json], proof: Proof | None) -> dict[str, Json]:
    return done if proof is None else {**done, PROOF: proof.to_json()}


def _target(play: Play, commit: Commit) -> _Target | None:
    slot = play.slots.get(str(commit.slot))
    if slot is None or slot.is_null:
        return None
    files = play.studio.tools.files
    path = check_path(files, resolve(commit.path, play.slots.roots()))
    current = read_current(files, path)
    text = slot.shown(1_000_000).rstrip() + "\n"
    return _Target(path, text, None if current is None else digest_bytes(current), current or b"")


def _why_propose(play: Play, commit: Commit, target: _Target, proof: Proof | None) -> str | None:
    """Return why a result is only proposed, or None if it may be written."""
    files = play.studio.tools.files
    if proof is not None and proof.fails:
        return proof.reason
    for check in commit.requires:
        result = evaluate(check, play.slots, files)
        if not result.passed:
            return f"{result.target} {result.reason or 'does not hold'}"
    is_known, seen = _seen(play, target.path)
    if is_known and seen != target.sha256:
        return f"{target.path} was changed while the run was under way"
    if commit.mode is CommitMode.PROPOSE:
        return "the recipe proposes this file"
    if commit.mode is CommitMode.AUTO and not target.is_free:
        return f"{target.path} exists already"
    if commit.mode is CommitMode.CREATE and not target.is_free:
        raise CommitRefused(
            f"{target.path} exists already, and the recipe only creates it",
            fix="Move the file away and retry from `commit`, or use mode propose.",
            path=target.path,
        )
    return None


def _seen(play: Play, path: str) -> tuple[bool, str | None]:
    """Return whether this run knows the file, and the hash it had when the run first saw it."""
    known = play.assignment.seen
    if path in known:
        return True, known[path]
    for receipt_id in play.slots.receipt_ids():
        receipt = play.studio.database.read(lambda c, each=receipt_id: read_receipt(c, each))
        for ref in receipt.file_refs:
            if ref.get("path") == path:
                return True, str(ref.get("sha256"))
    return False, None


def _put(play: Play, commit: Commit, target: _Target) -> dict[str, Json]:
    written = play.studio.tools.files.write_text(
        target.path, target.text, expected_sha256=target.sha256
    )
    return {**_written(play, commit, target), "backup": written.backup}


def _written(play: Play, commit: Commit, target: _Target) -> dict[str, Json]:
    _, seen = _seen(play, target.path)
    return {
        "path": target.path,
        "mode": "replace" if commit.mode is CommitMode.REPLACE and seen else "create",
        "sha256": target.new_sha256,
        "backup": play.studio.tools.files.backup_of(target.path, seen) if seen else None,
    }


async def _propose(
    play: Play, key: str, target: _Target, reason: str, proof: Proof | None
) -> dict[str, Json]:
    run = play.run
    diff = diff_of(target.path, target.current, target.text)
    apply = f"callboard runs apply {run.id}"
    way = f"Apply it with `{apply}`."
    if proof is not None and proof.fails:
        found = "\n".join(f"- {each}" for each in proof.findings or (proof.told,))
        way = f"What code found in it:\n\n{found}\n\nMend it, or write it all the same with"
        way += f" `{apply} --force`; that stays on record."
    draft = IssueDraft(
        title=f"Proposed: {target.path}"[:200],
        source=IssueSource(IssueKind.PROPOSAL, run.id, run.session_id, key),
        body=f"Task: {play.assignment.task.description}\nRun: {run.id}\nWhy it was not written:"
        f" {reason}\n\n{way}\n\n```diff\n{diff}```",
        tags=("proposal", play.recipe.recipe_id),
        receipt_ids=(*play.slots.receipt_ids(), *([proof.receipt_id] if proof else ())),
        key=f"proposal:{run.id}:{key}",
    )
    issue = await play.studio.issues.add(draft)
    return {
        "path": target.path,
        "mode": "propose",
        "sha256": target.new_sha256,
        "base_sha256": target.sha256,
        "text": target.text,
        "diff": diff,
        "reason": reason,
        "issue": issue.id,
    }
