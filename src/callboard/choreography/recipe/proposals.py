"""Proposals: what a run would have written. The human looks, and applies it or not.

They lie in the folder of the run, with what the mirror writes.
"""

import asyncio
import logging
from dataclasses import dataclass, replace

from callboard.choreography.recipe.running.checks import Proof, prove_again
from callboard.choreography.recipe.running.play import PROOF, RecipeHouse
from callboard.choreography.recipe.running.writing import diff_of, read_current
from callboard.choreography.recipe.view import RunView
from callboard.core.canonical import Json, digest_bytes
from callboard.core.errors import Conflict, NotFound
from callboard.core.vocabulary import RunRecord
from callboard.store.connection import Connection
from callboard.store.journal.runs import load_run
from callboard.store.mirror import RunFolder
from callboard.store.reading import FileRefused
from callboard.studio.studio import Studio
from callboard.tools import Policy, ProjectFiles, ToolCall

_log = logging.getLogger(__name__)


class ProposalOutdated(Conflict):
    """The file has changed since the proposal was made."""

    code = "proposal_outdated"


class ProposalUnproven(Conflict):
    """Code finds something in the text that must not stand."""

    code = "proposal_unproven"


@dataclass(frozen=True, slots=True)
class FileProposal:
    """A text for a file, the file it was made against, and the diff to the file as it is now."""

    run_id: str
    session_id: str
    path: str
    text: str
    sha256: str
    base_sha256: str | None
    reason: str
    issue: int
    current_sha256: str | None
    diff: str
    # What code found in it when it was made; nothing in runs of before there was a proof.
    proof: Proof | None = None

    @property
    def is_applied(self) -> bool:
        """Whether the file holds the text already."""
        return self.current_sha256 == self.sha256

    @property
    def is_outdated(self) -> bool:
        """Whether the file is another one than the proposal was made against."""
        return not self.is_applied and self.current_sha256 != self.base_sha256

    def to_json(self) -> dict[str, Json]:
        """Return the shape doors show."""
        return {
            "run_id": self.run_id,
            "path": self.path,
            "reason": self.reason,
            "issue": self.issue,
            "diff": self.diff,
            "sha256": self.sha256,
            "applied": self.is_applied,
            "outdated": self.is_outdated,
            "proof": None if self.proof is None else self.proof.to_json(),
        }


async def list_proposals(studio: Studio, run_id: str) -> tuple[FileProposal, ...]:
    """Return what a run proposes, each against the file as it is now."""

    def read(connection: Connection) -> tuple[RunView, tuple[dict[str, Json], ...]]:
        view = RunView(connection, load_run(connection, run_id))
        return view, view.commits

    view, commits = studio.database.read(read)

    def look() -> tuple[FileProposal, ...]:
        return tuple(
            _proposal(studio, view, each) for each in commits if each.get("mode") == "propose"
        )

    return await asyncio.to_thread(look)


async def apply_proposals(
    studio: Studio, run_id: str, *, path: str | None = None, force: bool = False
) -> tuple[FileProposal, ...]:
    """Write what a run proposes, with a backup and a receipt; close the issues that asked for it.

    A file that was changed since, or a text in which code finds what must not stand, is left alone
    unless `force` says that this is known. Either way the proof is on record with the proposal.
    """
    found = await list_proposals(studio, run_id)
    wanted = [each for each in found if path is None or each.path == path]
    if not wanted:
        paths = ", ".join(each.path for each in found)
        raise NotFound(
            f"Run {run_id} has no proposal{f' for {path!r}' if path else ''}",
            fix=f"It proposes: {paths}."
            if paths
            else "There is nothing to apply; `callboard runs show` lists what it wrote.",
            run_id=run_id,
        )
    for proposal in wanted:
        _check(proposal, force=force)
    proven = [await _proven(studio, proposal, force=force) for proposal in wanted]
    return tuple([await _apply(studio, proposal) for proposal in proven])


async def _proven(studio: Studio, proposal: FileProposal, *, force: bool) -> FileProposal:
    """Have the text looked at again: the book may be another one by now."""
    tool = proposal.proof.tool if proposal.proof is not None else _proof_tool(studio, proposal)
    if tool is None:
        return proposal
    place = (proposal.session_id, proposal.run_id, proposal.path, proposal.text)
    proof = await prove_again(studio, tool, place)
    if proof.fails and not force:
        raise ProposalUnproven(
            f"{proposal.path} is not written: {proof.reason}",
            fix="Mend the text, or write it all the same with force; that stays on record.",
            run_id=proposal.run_id,
            path=proposal.path,
            findings=list(proof.findings),
            receipt_id=proof.receipt_id,
        )
    return replace(proposal, proof=proof)


def _proof_tool(studio: Studio, proposal: FileProposal) -> str | None:
    """Return what looks at the texts of a pack now; a proposal may be older than that."""
    name = studio.engine.load(proposal.run_id).choreography.partition("/")[0]
    repertoire = studio.repertoire
    packs = (each for each in repertoire.packs if each.name == name)
    houses = (getattr(shelf, "house", None) for pack in packs for shelf in repertoire.shelves(pack))
    return next((each.proof for each in houses if isinstance(each, RecipeHouse)), None)


def _check(proposal: FileProposal, *, force: bool) -> None:
    if proposal.is_applied:
        raise Conflict(
            f"{proposal.path} already holds what run {proposal.run_id} proposes",
            run_id=proposal.run_id,
            path=proposal.path,
        )
    if proposal.is_outdated and not force:
        raise ProposalOutdated(
            f"{proposal.path} was changed after run {proposal.run_id} had proposed its text",
            fix="Look at the diff; apply with force if it is what you want. A backup is kept.",
            run_id=proposal.run_id,
            path=proposal.path,
            diff=proposal.diff,
        )


async def _apply(studio: Studio, proposal: FileProposal) -> FileProposal:
    call = ToolCall(
        "write_file",
        {
            "path": proposal.path,
            "content": proposal.text,
            "expected_sha256": proposal.current_sha256,
        },
        proposal.session_id,
        run_id=proposal.run_id,
    )
    # The user's own decision: no role and no list of a session's tools stands in its way.
    ran = await studio.tools.run(call, Policy())
    ran.execution.unwrap()
    proof = [proposal.proof.receipt_id] if proposal.proof is not None else []
    await studio.issues.link_receipts(proposal.issue, [*proof, ran.receipt.id])
    await studio.issues.close(proposal.issue)
    return replace(proposal, current_sha256=proposal.sha256)


def _proposal(studio: Studio, view: RunView, commit: dict[str, Json]) -> FileProposal:
    path, text = str(commit["path"]), str(commit["text"])
    current = read_current(studio.tools.files, path)
    return FileProposal(
        run_id=view.run.id,
        session_id=view.run.session_id,
        path=path,
        text=text,
        sha256=str(commit["sha256"]),
        base_sha256=commit["base_sha256"],
        reason=str(commit["reason"]),
        issue=int(commit["issue"]),
        current_sha256=None if current is None else digest_bytes(current),
        diff=diff_of(path, current or b"", text),
        proof=Proof.of_commit(commit.get(PROOF)),
    )


def folder_of(connection: Connection, run: RunRecord, files: ProjectFiles | None) -> RunFolder:
    """Return what the folder of a run holds; backups are copied from the project's own."""
    view = RunView(connection, run)
    return RunFolder(
        run=view.to_json(),
        steps=tuple(view.lines()),
        cache=view.cache(),
        recipe=view.assignment.recipe.to_json(),
        files=_files(view, files),
    )


def _files(view: RunView, project: ProjectFiles | None) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for commit in view.commits:
        path = commit.get("path")
        if commit.get("mode") == "propose":
            files[f"proposed/{path}"] = str(commit["text"]).encode("utf-8", "replace")
            files[f"proposed/{path}.diff"] = str(commit["diff"]).encode("utf-8", "replace")
        backup = commit.get("backup")
        if backup and project is not None and (held := _backup(project, str(backup))) is not None:
            files[f"backup/{path}"] = held
    return files


def _backup(project: ProjectFiles, backup: str) -> bytes | None:
    try:
        return project.read_backup(backup)
    except FileRefused as refused:
        # The copy of a copy: the run's folder is of use without it.
        _log.warning("a backup was not copied into the folder of its run: %s", refused)
        return None
