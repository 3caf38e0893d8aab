"""The definition of done: every check is made, what fails leaves an issue and fails the run."""

import asyncio

from callboard.choreography.recipe.definition import Check, CheckKind, resolve
from callboard.choreography.recipe.errors import DodFailed, RefResolutionError
from callboard.choreography.recipe.running.checks import (
    CheckResult,
    evaluate,
    failed,
    judge_payload,
)
from callboard.choreography.recipe.running.play import Play
from callboard.choreography.tooling import ToolUse, use_tool
from callboard.core.canonical import Json, compact_json
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import (
    IssueDraft,
    IssueKind,
    IssuePriority,
    IssueSource,
    StepKind,
)
from callboard.engine.scope import StepScope
from callboard.store.connection import Connection

KEY = "dod"


async def check_done(play: Play) -> list[dict[str, Json]]:
    """Make every check and return the results; one that fails fails the run."""
    by_tool = {
        number: await _by_tool(play, number, check)
        for number, check in enumerate(play.recipe.dod)
        if check.kind is CheckKind.TOOL_PASSES
    }

    def evaluate_all() -> list[CheckResult]:
        files = play.studio.tools.files
        return [
            by_tool.get(number) or evaluate(check, play.slots, files)
            for number, check in enumerate(play.recipe.dod)
        ]

    async def act(scope: StepScope) -> Json:
        results = await asyncio.to_thread(evaluate_all)
        told = [result.to_json() for result in results]
        scope.detail["dod_results"] = told
        unmet = [(number, result) for number, result in enumerate(results) if not result.passed]
        if not unmet:
            scope.preview = f"{len(results)} checks passed"
            return told
        drafts = [_issue(play, number, result) for number, result in unmet]
        scope.commit_with(lambda connection: _leave(play, connection, drafts))
        names = ", ".join(f"{result.check} {result.target}" for _, result in unmet)
        raise DodFailed(
            f"Not done: {names}",
            fix="Look at the issues and the slots of the run, then retry it from a step.",
            dod_results=told,
        )

    return await play.step(KEY, act, kind=StepKind.CHECK)


async def _by_tool(play: Play, number: int, check: Check) -> CheckResult:
    key = f"{KEY}/{number}"
    try:
        args = resolve(dict(check.args), play.slots.roots())
        await play.turn.ready(key)
        outcome = await use_tool(play.studio, play.run, ToolUse(key, str(check.tool), args, key))
    except (RefResolutionError, CallboardError) as error:
        return failed(check, error.message)
    return judge_payload(check, outcome.payload)


def _leave(play: Play, connection: Connection, drafts: list[IssueDraft]) -> None:
    for draft in drafts:
        play.studio.issues.add_with(connection, draft)


def _issue(play: Play, number: int, result: CheckResult) -> IssueDraft:
    run, task = play.run, play.assignment.task
    lines = [
        f"Task: {task.description}",
        f"Recipe: {play.recipe.recipe_id}",
        f"Run: {run.id}",
        f"Check: {result.check} {result.target}",
        f"Reason: {result.reason}",
    ]
    if result.expected is not None:
        lines.append(f"Expected: {compact_json(result.expected)}")
        lines.append(f"Actual: {compact_json(result.actual)}")
    return IssueDraft(
        title=f"Not done: {result.check} {result.target}"[:200],
        source=IssueSource(IssueKind.DOD_FAILURE, run.id, run.session_id, KEY),
        body="\n".join(lines),
        priority=IssuePriority.HIGH,
        tags=("definition of done", play.recipe.recipe_id),
        receipt_ids=play.slots.receipt_ids(),
        key=f"dod:{run.id}:{number}",
    )
