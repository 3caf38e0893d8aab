"""Proposals: prose an agent wrote for a file, kept until the writer takes or refuses it.

A proposal changes nothing by itself. Before drafting has begun no prose is taken at all; while
drafting, a proposal that is taken becomes the scene's draft; in the editor it is an edit like any
other.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from callboard.core.canonical import digest
from callboard.core.codec import Coded
from callboard.core.errors import Conflict, InvalidInput, NotFound
from callboard.packs.writers_factory.manuscript import Manuscript
from callboard.packs.writers_factory.model import SceneStatus
from callboard.packs.writers_factory.revision.editing.edits import (
    ChangedSince,
    Edits,
    as_kept,
    diff,
)
from callboard.packs.writers_factory.revision.editing.requests import (
    EditRequest,
    EditTarget,
    find_target,
    read_target,
)
from callboard.packs.writers_factory.workspace import Workspace

KIND: Final = "content_proposal"
_EDITOR: Final = "EDITOR"
_DRAFTING: Final = frozenset({"DIRECTOR", _EDITOR})
_MOST_CHARS: Final = 500_000


class ProposalState(StrEnum):
    """What became of a proposal."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class ProseRefused(Conflict):
    """Prose was proposed in a mode that writes none."""

    code = "prose_refused"


class ProposalUnknown(NotFound):
    """A proposal was named that nobody made."""

    code = "proposal_unknown"


class ProposalDecided(Conflict):
    """A proposal was taken or refused before."""

    code = "proposal_decided"


@dataclass(frozen=True, slots=True)
class EditProposal(Coded):
    """Text for a file, with how it differs from what stands there."""

    id: str
    target: str
    path: str
    mode: str
    text: str
    diff: str
    before_digest: str
    state: ProposalState = ProposalState.PENDING
    source: str = ""
    created_at: int = 0


class Proposals:
    """The proposals of one project."""

    def __init__(self, workspace: Workspace, manuscript: Manuscript, edits: Edits) -> None:
        """Take the project, its scenes, and the way edits are made."""
        self._workspace = workspace
        self._manuscript = manuscript
        self._edits = edits

    async def propose(self, target: str, text: str, *, mode: str, source: str = "") -> EditProposal:
        """Keep a text for the writer to look at; prose is refused where none is written.

        The same text for the same target from the same source is one proposal, however often it is
        made and whatever became of it.
        """
        found = find_target(self._workspace, self._manuscript, target)
        if found.is_prose and mode not in _DRAFTING:
            raise ProseRefused(
                f"{mode} writes no prose, so nothing was kept for {found.name}",
                fix="Prose is written in DIRECTOR mode and polished in EDITOR mode.",
                target=found.name,
                mode=mode,
            )
        if not text.strip() or len(text) > _MOST_CHARS:
            raise InvalidInput(
                f"A proposal of {len(text)} characters cannot be kept",
                fix=f"Give some text, at most {_MOST_CHARS} characters.",
            )
        before = self._text(found)
        after = _ended_like(text, before)
        proposal = EditProposal(
            id=f"prop_{digest([source, found.name, text])[:20]}",
            target=found.name,
            path=found.path,
            mode=mode,
            text=after,
            diff=diff(before, after, found.path),
            before_digest=digest(before),
            source=source[:200],
            created_at=self._workspace.studio.clock.now_ms(),
        )
        kept = await self._workspace.records.change(
            KIND, proposal.id, lambda known: known or proposal.to_json()
        )
        return EditProposal.from_json(kept)

    def all(self, *, pending_only: bool = False) -> tuple[EditProposal, ...]:
        """Return the proposals, oldest first."""
        found = [
            EditProposal.from_json(each) for each in self._workspace.records.all(KIND).values()
        ]
        return tuple(p for p in found if not pending_only or p.state is ProposalState.PENDING)

    def get(self, proposal_id: str) -> EditProposal:
        """Return one proposal."""
        body = self._workspace.records.get(KIND, proposal_id)
        if body is None:
            raise ProposalUnknown(f"There is no proposal {proposal_id!r}", fix="List them first.")
        return EditProposal.from_json(body)

    async def accept(self, proposal_id: str, *, mode: str, force: bool = False) -> EditProposal:
        """Put a proposal in place, the way the present mode does it."""
        proposal = self._open(proposal_id)
        target = find_target(self._workspace, self._manuscript, proposal.target)
        if target.is_prose and mode not in _DRAFTING:
            raise ProseRefused(
                f"{mode} writes no prose", fix="Go to DIRECTOR or EDITOR first.", mode=mode
            )
        before = self._text(target)
        if digest(before) != proposal.before_digest:
            if before == as_kept(target, proposal.text):
                # It stands there already: a crash came before that was on record.
                return await self._settle(proposal, ProposalState.ACCEPTED)
            raise ChangedSince(
                f"{proposal.target} was changed after the proposal was made",
                fix="Ask for a new proposal, or reject this one.",
            )
        if mode == _EDITOR and before:
            request = EditRequest(
                proposal.text,
                f"proposal {proposal.id}",
                target=proposal.target,
                start=0,
                end=len(before),
                force=force,
            )
            await self._edits.apply(request)
        else:
            await self._place(target, proposal, before, force=force)
        return await self._settle(proposal, ProposalState.ACCEPTED)

    async def reject(self, proposal_id: str) -> EditProposal:
        """Refuse a proposal; nothing changes but its state."""
        return await self._settle(self._open(proposal_id), ProposalState.REJECTED)

    def _open(self, proposal_id: str) -> EditProposal:
        proposal = self.get(proposal_id)
        if proposal.state is not ProposalState.PENDING:
            raise ProposalDecided(
                f"Proposal {proposal_id} is already {proposal.state}", fix="Make a new one."
            )
        return proposal

    async def _settle(self, proposal: EditProposal, state: ProposalState) -> EditProposal:
        settled = replace(proposal, state=state)
        await self._workspace.records.put(KIND, proposal.id, settled.to_json())
        return settled

    async def _place(
        self, target: EditTarget, proposal: EditProposal, before: str, *, force: bool
    ) -> None:
        reason = f"proposal {proposal.id} accepted"
        if target.scene_id is None:
            await self._edits.write(target, proposal.text, reason, before, force=force)
            return
        meta = self._manuscript.scene(target.scene_id)
        is_written = meta.status in (SceneStatus.DRAFTED, SceneStatus.POLISHED)
        drafted = meta if is_written else replace(meta, status=SceneStatus.DRAFTED)
        await self._manuscript.save(
            target.scene_id, proposal.text, drafted, reason=reason, force=force
        )

    def _text(self, target: EditTarget) -> str:
        try:
            return read_target(self._workspace, self._manuscript, target)
        except NotFound:
            return ""


def _ended_like(text: str, before: str) -> str:
    """Return a text that ends in a line end, as files do; an existing file keeps its own."""
    return text.strip() + (before[len(before.rstrip()) :] or "\n")
