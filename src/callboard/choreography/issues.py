"""Issues on a stage: left behind in a step, once, however often the run is resumed."""

from dataclasses import replace

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.vocabulary import Effect, Issue, IssueDraft, StepKind
from callboard.engine.scope import StepScope


async def leave_issue(stage: Stage, key: str, draft: IssueDraft) -> Issue:
    """Leave an issue behind and return it as it is now.

    Without a key of its own the issue belongs to this step of this run. Run, session and step are
    filled in where the draft does not name them.
    """
    run = stage.run
    source = replace(
        draft.source,
        run_id=draft.source.run_id or run.id,
        session_id=draft.source.session_id or run.session_id,
        step_id=draft.source.step_id or run.key(key),
    )
    placed = replace(draft, source=source, key=draft.key or f"{run.id}:{run.key(key)}")

    async def act(scope: StepScope) -> Json:
        issue = await stage.studio.issues.add(placed)
        scope.preview = f"issue #{issue.id}: {issue.title}"[:200]
        return {"issue": issue.id}

    left = await run.step(
        key,
        act,
        inputs={"key": placed.key, "title": placed.title},
        kind=StepKind.WORK,
        # The issue's key makes repeating it after a crash find what is already there.
        effect=Effect.IDEMPOTENT,
    )
    return stage.studio.issues.get(int(left["issue"]))
