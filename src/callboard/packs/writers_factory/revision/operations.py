"""What can be done to better a scene, and what the writer takes of it."""

from typing import Annotated, Literal

from pydantic import Field

from callboard.core.canonical import Json
from callboard.operations import AGENT, operation
from callboard.packs.writers_factory.action import Cause, Done, start_job
from callboard.packs.writers_factory.model import DIRECTOR, EDITOR
from callboard.packs.writers_factory.revision.analysis.brief import Waiver
from callboard.packs.writers_factory.revision.completion import Completion, keep_completion
from callboard.packs.writers_factory.revision.editing.edits import EditResult
from callboard.packs.writers_factory.revision.editing.proposals import EditProposal
from callboard.packs.writers_factory.revision.editing.requests import EditRequest
from callboard.packs.writers_factory.revision.enhancement.proposal import Enhancement
from callboard.packs.writers_factory.revision.revision import Revision
from callboard.packs.writers_factory.workspace import Workspace

Given = Annotated[str, Field(min_length=1)]


@operation(who=(AGENT,), modes=(DIRECTOR, EDITOR))
async def analyze_scene(workspace: Workspace, cause: Cause, scene_id: Given) -> Done:
    """Score a scene in five categories, with quotations."""
    return await start_job(workspace, cause, "analyze", {"scene_id": scene_id}, waits=True)


@operation(who=(AGENT,), modes=(DIRECTOR, EDITOR))
async def enhance_scene(
    workspace: Workspace,
    cause: Cause,
    scene_id: Given,
    mode: Literal["action_prompt", "six_pass"] | None = None,
) -> Done:
    """Improve a scene; every change is tracked."""
    return await start_job(workspace, cause, "enhance", {"scene_id": scene_id, "mode": mode})


@operation(
    who=(AGENT,),
    modes=(EDITOR,),
    example={
        "target": "ch4-sc2",
        "old_text": "It was clear that he lied.",
        "new_text": "He straightened the cup.",
        "reason": "it said the subtext aloud",
    },
    undo="undo_edit",
)
async def apply_edit(
    revision: Revision,
    cause: Cause,
    target: Given,
    new_text: Given,
    reason: Given,
    old_text: str | None = None,
    start: int | None = None,
    end: int | None = None,
) -> Done:
    """Replace one passage that occurs exactly once; it can be undone."""
    # What may come in by force comes in by the writer's word alone.
    request = EditRequest(new_text, reason, old_text, start, end, target=target)
    made = await revision.edits.apply(request, once=cause.once)
    return Done(f"edited {target.strip()}", made.to_json())


@operation(who=(AGENT,), modes=(EDITOR,))
async def continuity_audit(workspace: Workspace, cause: Cause) -> Done:
    """Check callbacks, timeline, corrections and rules, chapter by chapter."""
    return await start_job(workspace, cause, "audit", {})


@operation(who=(AGENT,), modes=(EDITOR,))
async def voice_report(workspace: Workspace, cause: Cause) -> Done:
    """Compare every scene with the gold standard."""
    return await start_job(workspace, cause, "voice_report", {})


@operation()
async def waive_phrase(
    revision: Revision, scene_id: str, pattern: str, quote: str, reason: str
) -> Waiver:
    """Let one zero-tolerance phrase stand, because the writer wants it."""
    revision.manuscript.scene(scene_id)
    return await revision.waive(scene_id, pattern, quote, reason)


@operation()
async def decide_changes(
    revision: Revision,
    enhancement_id: str,
    accept: list[str] | None = None,
    reject: list[str] | None = None,
    force: bool = False,
) -> Enhancement:
    """Take or refuse changes; the scene then holds what is taken, and nothing else of it."""
    return await revision.decide(
        enhancement_id, accept=accept or (), reject=reject or (), force=force
    )


@operation(post="/edits/undo")
async def undo_edit(
    revision: Revision, target: Annotated[str, Field(min_length=1, max_length=500)]
) -> EditResult:
    """Take the last edit of a scene or a file back; asked again, the one before it."""
    return await revision.edits.undo(target)


@operation()
async def accept_proposal(
    revision: Revision, proposal_id: str, mode: str, force: bool = False
) -> EditProposal:
    """Put an offered text in place, the way the present mode does it."""
    return await revision.proposals.accept(proposal_id, mode=mode, force=force)


@operation(undo="reopen_book")
async def close_book(
    workspace: Workspace, open_errors: list[str], export: dict[str, Json], note: str = ""
) -> Completion:
    """Record that the writer calls the book done, and what was open then."""
    report = Revision(workspace).story().health_report
    return await keep_completion(
        workspace, open_errors, health_report=report, export=export, note=note
    )


@operation()
async def write_report(workspace: Workspace, path: str, text: str) -> str:
    """Write a report about the manuscript, and return the hash of what stands there."""
    return workspace.files.write_text(path, text).sha256


@operation(post="/proposals/{proposal_id}/reject")
async def reject_proposal(
    revision: Revision, proposal_id: Annotated[str, Field(max_length=100)]
) -> EditProposal:
    """Refuse an offered text."""
    return await revision.proposals.reject(proposal_id)
