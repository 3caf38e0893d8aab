"""How a command that followed a run ends: what it prints, and its exit code by the run's state."""

from pathlib import Path
from typing import cast

from callboard.cli.failure import block_of, body_of
from callboard.cli.handlers.following import Followed
from callboard.cli.output import clean, counted, echo, echo_json_line, remark, seconds
from callboard.cli.reading import answer_command
from callboard.cli.reports.shapes import question_shape, run_shape
from callboard.cli.views.lines import tokens
from callboard.core.canonical import Json
from callboard.core.errors import tier_views
from callboard.core.vocabulary.run import Answer, RunRecord, RunState, StepKind, StepRecord
from callboard.store.journal.steps import load_journal
from callboard.studio.studio import Studio


def conclude(studio: Studio, followed: Followed, *, as_json: bool) -> int:
    """Print how a run ended or why it is no longer followed; return the exit code."""
    if as_json:
        echo_json_line(_final_shape(followed))
    else:
        _tell(studio, followed)
    return followed.exit_code


def _final_shape(followed: Followed) -> dict[str, Json]:
    shape: dict[str, Json] = {"run": run_shape(followed.run)}
    if followed.questions:
        shape["questions"] = [question_shape(each) for each in followed.questions]
    if followed.was_interrupted:
        shape["interrupted"] = True
    if followed.run.error is not None:
        shape |= body_of(followed.run.error)
    return shape


def _tell(studio: Studio, followed: Followed) -> None:
    run = followed.run
    if followed.was_interrupted and not run.is_terminal:
        remark(f"Run {run.id} was let go; its finished steps are kept.")
        remark(f"  Go on with: callboard runs resume {run.id}")
        return
    for question in followed.questions:
        tell_question(question, studio)
    if run.state is RunState.WAITING:
        return
    steps = _own_steps(studio, run)
    remark(f"\nRun {run.id} is {run.state.value}: {_sum(run, steps)}.")
    if run.error is not None:
        remark(block_of(run.error, tier_views[run.error.tier].way_out).rstrip())
        remark(f"  Look closer: callboard runs show {run.id}")
        remark(f"  Once it can work: callboard runs retry {run.id}")
    if not _told_as_recipe(studio, run) and run.state is RunState.DONE:
        echo_result(run.result)
    if studio.settings.engine.mirror:
        remark(f"Files: {_near(studio.project.runs / run.id)}/")


def _told_as_recipe(studio: Studio, run: RunRecord) -> bool:
    """Print what a recipe's run has left, if it came as far as its checks."""
    from callboard.choreography.recipe import is_recipe_run
    from callboard.cli.reports.recipe_runs import echo_recipe_report, read_recipe_report

    if not is_recipe_run(run):
        return False
    report = read_recipe_report(studio, run)
    if report.checks:
        echo_recipe_report(report)
    return bool(report.checks)


def tell_question(question: Answer, studio: Studio) -> None:
    """Print what a run asks and how to answer."""
    remark(f"\nRun {question.run_id} asks: {clean(question.question.text)}")
    if question.question.choices:
        remark(f"  Choices: {', '.join(clean(each) for each in question.question.choices)}")
    told = answer_command(question.id, studio.project, studio.repertoire.packs)
    remark(f"  Answer with: {told}")


def echo_result(result: Json) -> None:
    """Print the result of a run: texts as texts under their names, the rest as JSON."""
    import json

    if isinstance(result, str):
        echo(clean(result))
        return
    is_named = isinstance(result, dict)
    named = cast("dict[str, Json]", result) if is_named else {"result": result}
    for name, value in named.items():
        echo(f"{clean(str(name))}:")
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
        for line in clean(text).splitlines() or [""]:
            echo(f"  {line}")


def _own_steps(studio: Studio, run: RunRecord) -> list[StepRecord]:
    journal = studio.database.read(lambda connection: load_journal(connection, run))
    return [step for step in journal.values() if step.run_id == run.id]


def _sum(run: RunRecord, steps: list[StepRecord]) -> str:
    given, said = token_sums(steps)
    calls = sum(step.kind is StepKind.AGENT for step in steps)
    facts = [counted(len(steps), "step"), counted(calls, "agent call")]
    facts += [tokens(given, said)] if calls else []
    return ", ".join([*facts, seconds(run.updated_at - run.created_at)])


def token_sums(steps: list[StepRecord]) -> tuple[int, int]:
    """Return how many tokens went into models and came out of them."""
    given = sum(int(step.detail.get("input_tokens") or 0) for step in steps)
    said = sum(int(step.detail.get("output_tokens") or 0) for step in steps)
    return given, said


def _near(path: Path) -> str:
    """Return a path as seen from here, if it lies below."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
