"""The runner: follows a recipe step by step, from gathering to commit and definition of done.

It does not think, and it does not try again.
"""

import asyncio
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any, Final, cast

from callboard.choreography.holdups import Holdups
from callboard.choreography.recipe.definition import (
    CheckKind,
    Commit,
    CommitAction,
    CommitMode,
    RecipeCheck,
    ToolStep,
    follow,
    key_of,
    resolve,
)
from callboard.choreography.recipe.definition.reading import SEVERITIES
from callboard.choreography.recipe.errors import CommitRefused, DodFailed, RefResolutionError
from callboard.choreography.recipe.running.checks import (
    NOT_CHECKED,
    Proof,
    RecipeCheckResult,
    evaluate,
    failed,
    judge_payload,
)
from callboard.choreography.recipe.running.making import make
from callboard.choreography.recipe.running.play import PROOF, Play, RecipeHouse, Turns
from callboard.choreography.recipe.running.slots import PointerSlot, RunSlots
from callboard.choreography.recipe.running.writing import write
from callboard.choreography.recipe.task import Assignment
from callboard.choreography.staffing import CHIEF, EXECUTING, showing
from callboard.choreography.stage import Stage
from callboard.choreography.tool_use import ToolUse, use_tool
from callboard.choreography.values import pack_of
from callboard.core.canonical import Json, compact_json, digest
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import IssueDraft, IssueKind, IssuePriority, IssueSource, StepKind
from callboard.engine.run import Run
from callboard.engine.scope import StepScope
from callboard.store.connection import Connection
from callboard.studio.studio import Studio


async def gather(play: Play, step: ToolStep) -> None:
    """Run one tool and fill its slot with a pointer to the receipt."""
    key = key_of(step)
    try:
        args = resolve(dict(step.args), play.slots.roots())
    except RefResolutionError as error:
        await play.fail(key, error, StepKind.TOOL)
    await play.turn.ready(key)
    chief = None if play.run.holds(key) else _chief(play)
    with showing(play.studio, play.run, chief, EXECUTING, key) if chief else nullcontext():
        use = ToolUse(key, step.tool, args, step.output_slot)
        outcome = await use_tool(play.studio, play.run, use)
    play.slots.put(step.output_slot, PointerSlot(outcome))


def _chief(play: Play) -> str | None:
    """Return whose card shows that tools run: the Chief's, if the staff has one."""
    staff = play.studio.repertoire.staff(pack_of(play.run))
    return next((agent.id for agent in staff if agent.contract.archetype == CHIEF), None)


COMMIT_KEY: Final = "commit"

_MOST_ISSUES: Final = 100
_PRIORITIES: Final = {
    "major": IssuePriority.HIGH,
    "minor": IssuePriority.NORMAL,
    "info": IssuePriority.LOW,
}


async def commit_all(play: Play) -> list[dict[str, Json]]:
    """Do everything the recipe says about results, in order, and return what was done."""
    done: list[dict[str, Json]] = []
    for number, commit in enumerate(play.recipe.commit):
        key = f"{COMMIT_KEY}/{number}"
        if commit.action is CommitAction.WRITE_FILE:
            done.append(await write(play, key, commit))
        else:
            done.append(await _create_issues(play, key, commit))
    return done


async def _create_issues(play: Play, key: str, commit: Commit) -> dict[str, Json]:
    async def act(scope: StepScope) -> Json:
        drafts = [
            _issue_of(play, key, commit, finding)
            for finding in _findings(play, commit)
            if _is_severe_enough(finding, commit.min_severity)
        ]
        kept = drafts[:_MOST_ISSUES]
        scope.commit_with(lambda connection: _leave(play, connection, kept))
        scope.preview = f"{len(kept)} issues"
        return {"mode": "issues", "count": len(kept), "left_out": len(drafts) - len(kept)}

    return await play.step(key, act, kind=StepKind.WORK)


def _findings(play: Play, commit: Commit) -> list[dict[str, Any]]:
    if commit.source is None:
        return []
    found = follow(commit.source, play.slots.roots())
    listed: list[Any] = cast(list[Any], found) if isinstance(found, list) else [None]
    if not all(isinstance(each, dict) for each in listed):
        raise CommitRefused(
            f"{commit.source.path!r} is not a list of findings",
            fix="Name a list of objects, such as slot.findings.",
        )
    return listed


def _is_severe_enough(finding: dict[str, Any], least: str) -> bool:
    severity = str(finding.get("severity", SEVERITIES[-1]))
    rank = SEVERITIES.index(severity) if severity in SEVERITIES else len(SEVERITIES)
    return rank <= SEVERITIES.index(least)


def _leave(play: Play, connection: Connection, drafts: list[IssueDraft]) -> None:
    for draft in drafts:
        play.studio.issues.add_with(connection, draft)


def _issue_of(play: Play, key: str, commit: Commit, finding: dict[str, Any]) -> IssueDraft:
    run = play.run
    message = str(finding.get("message") or finding.get("type") or "a finding")
    kind = str(finding.get("type") or "Finding")
    slot = play.slots.get(commit.source.root) if commit.source is not None else None
    receipt_id = slot.receipt_id if isinstance(slot, PointerSlot) else ""
    quotes: list[dict[str, Any]] = finding.get("quotes") or []
    return IssueDraft(
        title=" ".join(f"{kind}: {message}".split())[:200],
        source=IssueSource(IssueKind.FINDING, run.id, run.session_id, key),
        body="\n\n".join(
            [message, *map(_quoted, quotes), str(finding.get("suggestion") or ""), f"Run: {run.id}"]
        ),
        priority=_PRIORITIES.get(str(finding.get("severity")), IssuePriority.LOW),
        tags=("finding", kind.lower()),
        receipt_ids=(receipt_id,) if receipt_id else (),
        # The same finding, found again by a later run, is the same issue.
        key=f"finding:{digest([kind, message, [_place(quote) for quote in quotes]])}",
    )


def _quoted(quote: dict[str, Any]) -> str:
    lines = str(quote.get("text", "")).splitlines()
    shown = "\n".join(f"> {line}" for line in lines)
    return f"{quote.get('path', '')}, line {quote.get('line_start', '?')}:\n{shown}"


def _place(quote: dict[str, Any]) -> list[str]:
    return [str(quote.get("path", "")), str(quote.get("text", ""))]


DONE_KEY = "dod"


async def check_done(play: Play, committed: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """Make every check and return the results; one that fails fails the run.

    What code found in a text that was to be written counts like a check of the recipe.
    """
    by_tool = {
        number: await _by_tool(play, number, check)
        for number, check in enumerate(play.recipe.dod)
        if check.kind is CheckKind.TOOL_PASSES
    }

    def evaluate_all() -> list[RecipeCheckResult]:
        files = play.studio.tools.files
        own = [
            by_tool.get(number) or evaluate(check, play.slots, files)
            for number, check in enumerate(play.recipe.dod)
        ]
        return [*own, *_proven(play, committed)]

    async def act(scope: StepScope) -> Json:
        results = await asyncio.to_thread(evaluate_all)
        told = [result.to_json() for result in results]
        scope.detail["dod_results"] = told
        unmet = [(number, result) for number, result in enumerate(results) if not result.passed]
        if not unmet:
            scope.preview = f"{len(results)} checks passed"
            return told
        drafts = [_issue_about(play, number, result) for number, result in unmet]
        scope.commit_with(lambda connection: _leave(play, connection, drafts))
        names = ", ".join(f"{result.check} {result.target}" for _, result in unmet)
        raise DodFailed(
            f"Not done: {names}",
            fix="Look at the issues and the slots of the run, then retry it from a step.",
            dod_results=told,
        )

    return await play.step(DONE_KEY, act, kind=StepKind.CHECK)


def _proven(play: Play, committed: list[dict[str, Json]]) -> Iterator[RecipeCheckResult]:
    for commit, done in zip(play.recipe.commit, committed, strict=True):
        proof = Proof.of_commit(done.get(PROOF))
        # What is only ever proposed is told with the proposal, and the human decides.
        if proof is None or commit.mode is CommitMode.PROPOSE or proof.verdict == NOT_CHECKED:
            continue
        reason = proof.reason if proof.fails else ""
        yield RecipeCheckResult(PROOF, str(done["path"]), not proof.fails, reason)


async def _by_tool(play: Play, number: int, check: RecipeCheck) -> RecipeCheckResult:
    key = f"{DONE_KEY}/{number}"
    try:
        args = resolve(dict(check.args), play.slots.roots())
        await play.turn.ready(key)
        outcome = await use_tool(play.studio, play.run, ToolUse(key, str(check.tool), args, key))
    except (RefResolutionError, CallboardError) as error:
        return failed(check, error.message)
    return judge_payload(check, outcome.payload)


def _issue_about(play: Play, number: int, result: RecipeCheckResult) -> IssueDraft:
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
        source=IssueSource(IssueKind.DOD_FAILURE, run.id, run.session_id, DONE_KEY),
        body="\n".join(lines),
        priority=IssuePriority.HIGH,
        tags=("definition of done", play.recipe.recipe_id),
        receipt_ids=play.slots.receipt_ids(),
        key=f"dod:{run.id}:{number}",
    )


async def play_recipe(studio: Studio, run: Run, turns: Turns, house: RecipeHouse) -> Json:
    """Execute a run: phase A, phase B, commit, definition of done."""
    assignment = Assignment.from_args(run.args)
    grounding = None if house.grounding is None else house.grounding(studio)
    async with turns.of(run, is_users_own=assignment.is_users_own) as turn:
        stage = Stage(studio, run, Holdups(studio.accounts, studio.settings, aside=turn.aside))
        play = Play(stage, assignment, RunSlots(assignment), turn, house, grounding)
        for tool_step in assignment.recipe.phase_a:
            await gather(play, tool_step)
        for agent_step in assignment.recipe.phase_b:
            await make(play, agent_step)
        committed = await commit_all(play)
        results = await check_done(play, committed)
    return {
        "recipe_id": assignment.recipe.recipe_id,
        "committed": [
            {name: value for name, value in each.items() if name not in ("text", "diff")}
            for each in committed
        ],
        "dod_results": results,
    }
