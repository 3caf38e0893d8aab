"""Analyzing: arithmetic by the domain's functions, or by a model that sees only what was read."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from pydantic import BaseModel

from callboard.choreography.answers import Answer, read_answer, schema_of
from callboard.choreography.turn.acting.steps import Scene, failed, told
from callboard.choreography.turn.domain import ComputeFunction
from callboard.choreography.turn.sections import DATA, OLDER, PromptSection, rows_section
from callboard.choreography.turn.shapes import StepResult, StepStatus
from callboard.core.canonical import Json, compact_json
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import Effect

_log: Final = logging.getLogger(__name__)
NO_DATA: Final = "No data to analyze."


class Match(BaseModel):
    """A row that an analysis names; whatever else a model says of it is left out."""

    id: str = ""
    label: str


class Analysis(Answer):
    """What a model makes of some rows."""

    analysis: str
    matches: tuple[Match, ...]
    reasoning: str = ""


async def perform_analyze(scene: Scene) -> StepResult:
    """Return what follows from the data of earlier steps."""
    work, step = scene.work, scene.step
    tables = {
        name: work.hidden.keep_shown(rows)
        for name, rows in work.rows_by_table(scene.inputs).items()
    }
    others = [_computed(each) for each in scene.inputs if "computed" in each.result]
    if not _has_data(scene, tables) and not others and not _content(scene):
        return StepResult(step_id=step.id, status=StepStatus.EMPTY, summary=NO_DATA)
    computed: Mapping[str, Any] | None = None
    if step.compute is not None:
        function = work.domain.compute_functions()[step.compute]
        try:
            computed = await _compute(scene, function, tables)
        except CallboardError as error:
            return failed(step, [told(error)])
    said: dict[str, Any] = {}
    if scene.can_ask and (step.compute is None or work.calls_left > 1):
        said = await _judge(scene, tables, computed, others)
        if "error" in said and computed is None:
            return failed(step, [str(said["error"])])
    result: dict[str, Any] = {
        "analysis": str(said.get("analysis", "")),
        "matches": said.get("matches", []),
        "reasoning": str(said.get("reasoning", "")),
    }
    if computed is not None:
        result |= {"computed": dict(computed), "function": step.compute}
    rows = sum(len(each) for each in tables.values())
    summary = result["analysis"] or f"Looked at {rows} {'row' if rows == 1 else 'rows'}"
    return StepResult(
        step_id=step.id, status=StepStatus.OK, result=result, row_count=rows, summary=summary
    )


def _has_data(scene: Scene, tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> bool:
    """Say whether there is something to look at: rows of what a function is about, or any."""
    functions = scene.work.domain.compute_functions()
    function = functions.get(scene.step.compute or "")
    if function is not None and function.subject:
        return bool(tables.get(function.subject))
    return any(tables.values())


async def _compute(
    scene: Scene, function: ComputeFunction, tables: Mapping[str, Sequence[Mapping[str, Any]]]
) -> Mapping[str, Any]:
    work = scene.work
    arguments = {
        **scene.step.arguments,
        "constraints": list(work.state.constraints),
        "contents": _content(scene),
        "results": [dict(e.result["computed"]) for e in scene.inputs if "computed" in e.result],
    }

    def run() -> Json:
        return dict(function.run(tables, work.who, arguments))

    # Journaled: what day it is, or how something is worked out, may change until a restart.
    return cast("dict[str, Any]", await scene.stage.step("compute", run, effect=Effect.PURE))


async def _judge(
    scene: Scene,
    tables: Mapping[str, Sequence[Mapping[str, Any]]],
    computed: Mapping[str, Any] | None,
    others: Sequence[str],
) -> dict[str, Any]:
    """Ask a model; if all the data is too much for it, it gets what was computed from it."""
    data = rows_section(DATA, tables)
    if computed is not None:
        data = _computed_section(computed)
    sections = [
        scene.persona_section(),
        data,
        PromptSection(OLDER, "\n".join(others[: scene.work.mode.older_results])),
        *await scene.work.preference_sections(scene.step.subdomain),
    ]
    try:
        reply = await scene.asker.ask(
            "ask", scene.node, sections, scene.message, schema=schema_of(Analysis)
        )
    except CallboardError as error:
        return {"error": told(error)}
    found = read_answer(Analysis, reply.data)
    said = {} if found is None else found.model_dump(exclude_unset=True)
    known = _names_in([*tables.values(), [computed or {}]])
    matches: list[Any] = []
    for each in cast("list[dict[str, Any]]", said.get("matches") or []):
        if _key(each.get("id")) in known or _key(each.get("label")) in known:
            matches.append(each)
        else:
            _log.warning("a match that is not in the data was removed: %s", each)
            scene.work.warnings.append(
                f"Removed a suggestion that is not there: {each.get('label')}"
            )
    return {**said, "matches": matches}


def _computed_section(computed: Mapping[str, Any]) -> PromptSection:
    """Return what code worked out; long lists are shortened with their count told."""

    def shortened(most: int | None) -> str:
        lines: list[str] = []
        for name, value in computed.items():
            if isinstance(value, list):
                items = cast("list[Any]", value)
                shown = items if most is None else items[:most]
                lines.append(f"{name} ({len(items)}):")
                lines += [compact_json(each) for each in shown]
                if len(shown) < len(items):
                    lines.append(f"{len(items) - len(shown)} omitted")
            else:
                lines.append(f"{name}: {compact_json(value)}")
        return "\n".join(lines)

    few = tuple(lambda most=most: shortened(most) for most in (20, 10, 3))
    return PromptSection(DATA, shortened(None), is_pinned=True, shorter=few)


def _computed(result: StepResult) -> str:
    return compact_json(result.result["computed"])


def _content(scene: Scene) -> list[dict[str, Any]]:
    """Return the drafts and records that earlier steps made, for arithmetic over them."""
    found: list[dict[str, Any]] = []
    for each in scene.inputs:
        found += [dict(e["payload"]) for e in cast("list[Any]", each.result.get("contents") or [])]
    return found


def _names_in(groups: Sequence[Sequence[Mapping[str, Any]]]) -> set[str]:
    """Return every name and id that occurs in some data."""
    names: set[str] = set()
    pending: list[Any] = [row for rows in groups for row in rows]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            pending += cast("dict[str, Any]", value).values()
        elif isinstance(value, list):
            pending += cast("list[Any]", value)
        elif isinstance(value, str):
            names.add(_key(value))
    return names


def _key(value: Any) -> str:
    return str(value or "").casefold().strip()
