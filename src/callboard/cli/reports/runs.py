"""Runs and steps as read from the journal, for people and for programs."""

from collections.abc import Sequence

from callboard.cli.failure import block_of
from callboard.cli.output import (
    counted,
    echo,
    echo_facts,
    echo_json,
    echo_table,
    echo_text,
    moment,
    one_line,
    remark,
    seconds,
)
from callboard.cli.reading import OpenJournal, answer_command
from callboard.cli.reports.shapes import question_shape, run_shape, step_shape
from callboard.cli.views.lines import BAD, NOTE, OK, detail_facts, tokens
from callboard.core.canonical import Json, compact_json
from callboard.core.errors import InvalidInput, tier_views
from callboard.core.vocabulary.run import Answer, RunRecord, RunState, StepRecord, StepState
from callboard.store.connection import Connection
from callboard.store.journal.questions import list_questions
from callboard.store.journal.runs import list_runs
from callboard.store.journal.sessions import load_session
from callboard.store.journal.steps import find_step, load_journal, with_output

_MARKS = {StepState.DONE: OK, StepState.FAILED: BAD}
_OUTPUT_CHARS = 160


def list_runs_report(
    journal: OpenJournal, states: Sequence[str], session: str | None, limit: int, *, as_json: bool
) -> None:
    """List runs, newest first."""
    wanted = tuple(_state(name) for name in states)

    def work(connection: Connection) -> list[RunRecord]:
        session_id = None if session is None else load_session(connection, session).id
        found = list_runs(connection, states=wanted, session_id=session_id, limit=limit)
        return journal.viewer.among(connection, found, lambda run: run.session_id)

    runs = journal.read_or([], work)
    if as_json:
        echo_json({"runs": [_listed(journal, run) for run in runs]})
    elif not runs:
        remark("No runs yet. `callboard packs list` shows what can be run.")
    else:
        owners = journal.owners()
        rows = [
            (
                run.id,
                owners.state_of(run),
                run.choreography,
                moment(run.created_at),
                "" if run.title == run.choreography else run.title,
            )
            for run in runs
        ]
        echo_table(("RUN", "STATE", "CHOREOGRAPHY", "BEGAN", "TITLE"), rows)


def show_run_report(
    journal: OpenJournal, run: RunRecord, *, with_prompts: bool, as_json: bool
) -> None:
    """Show everything about one run."""
    steps = _steps(journal, run)
    questions = journal.read(lambda connection: list_questions(connection, run_id=run.id))
    children = journal.read(
        lambda connection: [each for each in list_runs(connection) if each.parent_id == run.id]
    )
    if as_json:
        shape = _listed(journal, run) | {
            "steps": [step_shape(step) for step in steps],
            "slots": sorted({step.slot for step in steps if step.slot is not None}),
            "questions": [question_shape(each) for each in questions],
            "children": [child.id for child in children],
            "tokens": _token_shape(run, steps),
        }
        echo_json({"run": shape})
        return
    _echo_head(journal, run, steps, children)
    _echo_steps(run, steps, with_prompts=with_prompts)
    slots = sorted({step.slot for step in steps if step.slot is not None})
    if slots:
        echo(f"\nSlots: {', '.join(slots)}  (callboard runs slot {run.id} NAME)")
    _echo_questions(journal, questions)
    if run.error is not None:
        echo(f"\n{block_of(run.error, tier_views[run.error.tier].way_out).rstrip()}")
    if run.result is not None:
        echo("\nResult:")
        echo_text(_pretty(run.result))


def steps_report(journal: OpenJournal, run: RunRecord, *, as_json: bool) -> None:
    """List the steps of a run with a glimpse of each output."""
    steps = [
        journal.read(lambda connection, step=step: with_output(connection, step))
        for step in _steps(journal, run)
    ]
    if as_json:
        echo_json({"run_id": run.id, "steps": [step_shape(s, with_output=True) for s in steps]})
        return
    if not steps:
        remark(f"Run {run.id} has no steps yet.")
        return
    rows = [
        (
            str(step.seq),
            step.key,
            step.kind.value,
            step.state.value,
            step.effect.value,
            _duration(step),
            step.receipt_id or str(step.detail.get("prompt_id") or ""),
            _glimpse(step),
        )
        for step in steps
    ]
    heads = ("SEQ", "STEP", "KIND", "STATE", "EFFECT", "TOOK", "RECEIPT OR PROMPT", "OUTPUT")
    echo_table(heads, rows)


def show_step_report(journal: OpenJournal, run: RunRecord, key: str, *, as_json: bool) -> None:
    """Show one step with its whole output."""
    step = journal.read(lambda connection: find_step(connection, run, key))
    if as_json:
        echo_json({"step": step_shape(step, with_output=True)})
        return
    echo_facts(
        [
            ("step", step.key),
            ("kind", f"{step.kind.value}, {step.effect.value}"),
            ("state", step.state.value),
            ("took", _duration(step)),
            ("facts", " · ".join(detail_facts(step.detail))),
            ("of run", step.run_id if step.run_id != run.id else ""),
            ("slot", step.slot or ""),
            ("receipt", step.receipt_id or ""),
            ("prompt", str(step.detail.get("prompt_id") or "")),
        ]
    )
    if step.error is not None:
        echo(f"\n{block_of(step.error).rstrip()}")
    if step.output is not None:
        echo("")
        echo_text(_pretty(step.output))


def _echo_head(
    journal: OpenJournal, run: RunRecord, steps: list[StepRecord], children: list[RunRecord]
) -> None:
    counts = _token_shape(run, steps)
    parent = f"{run.origin} of {run.parent_id}" if run.parent_id is not None else ""
    is_over = run.is_terminal
    facts = [
        ("run", run.id),
        ("state", journal.owners().state_of(run)),
        ("choreography", run.choreography),
        ("title", "" if run.title == run.choreography else run.title),
        ("arguments", compact_json(run.args) if run.args else ""),
        ("session", run.session_id),
        ("began", moment(run.created_at)),
        ("took", seconds(run.updated_at - run.created_at) if is_over else ""),
        ("tokens", tokens(counts["input"], counts["output"])),
        ("came from", parent),
        ("led to", ", ".join(f"{child.id} ({child.origin})" for child in children)),
        ("files", str(journal.project.runs / run.id)),
    ]
    echo_facts(facts)


def _echo_steps(run: RunRecord, steps: list[StepRecord], *, with_prompts: bool) -> None:
    if not steps:
        echo("\nNo steps yet.")
        return
    shared = sum(step.run_id != run.id for step in steps)
    told = f", {shared} of them kept from an earlier run" if shared else ""
    echo(f"\n{counted(len(steps), 'step')}{told}:")
    heads = ["", "STEP", "KIND", "TOOK", "FACTS"]
    rows: list[list[str]] = []
    for step in steps:
        mark = _MARKS.get(step.state, NOTE)
        facts = [*detail_facts(step.detail), step.error.message if step.error is not None else ""]
        row = [mark, step.key, step.kind.value, _duration(step)]
        if with_prompts:
            row.append(str(step.detail.get("prompt_id") or ""))
        rows.append([*row, " · ".join(fact for fact in facts if fact)])
    if with_prompts:
        heads.insert(4, "PROMPT")
    echo_table(heads, rows)


def _echo_questions(journal: OpenJournal, questions: list[Answer]) -> None:
    for each in questions:
        choices = f" [{' / '.join(each.question.choices)}]" if each.question.choices else ""
        echo(f"\nAsks: {one_line(each.question.text)}{choices}")
        echo(f"  {answer_command(each.id, journal.project)}")


def _steps(journal: OpenJournal, run: RunRecord) -> list[StepRecord]:
    return list(journal.read(lambda connection: load_journal(connection, run)).values())


def _listed(journal: OpenJournal, run: RunRecord) -> dict[str, Json]:
    return run_shape(run) | {"is_executed": journal.owners().executes(run)}


def _token_shape(run: RunRecord, steps: list[StepRecord]) -> dict[str, int]:
    own = [step.detail for step in steps if step.run_id == run.id]
    return {
        "input": sum(int(detail.get("input_tokens") or 0) for detail in own),
        "output": sum(int(detail.get("output_tokens") or 0) for detail in own),
    }


def _state(name: str) -> RunState:
    try:
        return RunState(name)
    except ValueError:
        known = ", ".join(state.value for state in RunState)
        raise InvalidInput(f"{name!r} is not a state of a run", fix=f"Use: {known}.") from None


def _duration(step: StepRecord) -> str:
    return seconds(step.ended_at - step.started_at) if step.ended_at else ""


def _glimpse(step: StepRecord) -> str:
    if step.error is not None:
        return one_line(step.error.message, _OUTPUT_CHARS)
    if step.output is None:
        return ""
    text = step.output if isinstance(step.output, str) else compact_json(step.output)
    return one_line(text, _OUTPUT_CHARS)


def _pretty(value: Json) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
