"""Generating: new content, made by a model or by the domain, and refused if it may not be shown.

Content gets its temporary id from code, after its whole group is done.
"""

from collections.abc import Sequence
from typing import Any, Final, cast

from callboard.choreography.turn.acting.steps import REPAIRS, Scene, failed, told
from callboard.choreography.turn.asker import ACT
from callboard.choreography.turn.domain import Objection, WantedContent
from callboard.choreography.turn.sections import PRIOR, STYLE, PromptSection
from callboard.choreography.turn.shapes import StepResult, StepStatus, StepType
from callboard.core.canonical import Json, compact_json
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import Effect

_ITEMS: Final = "items"


async def perform_generate(scene: Scene) -> StepResult:
    """Return content that nothing speaks against, or say what could not be satisfied."""
    content_type = scene.step.content_type
    if content_type is None:
        return failed(scene.step, ["it is not clear what is to be made"])
    objections: list[Objection] = []
    errors: list[str] = []
    for attempt in range(1, REPAIRS + 2):
        try:
            contents = await _make(scene, content_type, attempt, objections)
        except CallboardError as error:
            errors.append(told(error))
            continue
        if not contents:
            errors.append("nothing can be made that fits")
            break
        objections = await _objections(scene, content_type, contents, attempt)
        if not objections:
            return _result(scene, content_type, contents)
        errors.append("; ".join(f"{e.subject}: {e.detail}" for e in objections))
    return failed(scene.step, [f"no version fits: {errors[-1]}"] if errors else [])


async def _make(
    scene: Scene, content_type: str, attempt: int, objections: Sequence[Objection]
) -> list[dict[str, Any]]:
    work, step = scene.work, scene.step
    draft = work.content(work.revises[0]) if work.revises else None
    if scene.asker.is_constrained(ACT[StepType.GENERATE]):
        wanted = WantedContent(
            content_type,
            f"{step.description}: {work.message}",
            work.who,
            step.arguments,
            {n: work.hidden.keep_shown(r) for n, r in work.rows_by_table(scene.inputs).items()},
            tuple(work.state.constraints),
            tuple(objections),
            None if draft is None else draft.payload,
        )
        made = await work.domain.draft_content(scene.stage, f"draft/{attempt}", wanted)
        if made is not None:
            return [dict(each) for each in made]
    said = await scene.asker.ask(
        f"ask/{attempt}",
        scene.node,
        await _sections(scene, objections, draft.payload if draft is not None else None),
        scene.message,
        schema=dict(work.domain.content_schema(content_type)),
    )
    return _split(said.data)


async def _sections(
    scene: Scene, objections: Sequence[Objection], draft: dict[str, Any] | None
) -> list[PromptSection]:
    work, step = scene.work, scene.step
    prior = [work.hidden.scrub(_brief(each)) for each in scene.inputs]
    problem = "\n".join(f"- {e.kind} {e.subject}: {e.detail}" for e in objections)
    known = "\n".join(f"- {name}: {value}" for name, value in step.arguments.items())
    return [
        scene.persona_section(),
        *await work.preference_sections(step.subdomain),
        PromptSection(PRIOR, "\n".join(prior), shorter=(lambda: "\n".join(prior)[:1500],)),
        PromptSection("## Draft To Revise", "" if draft is None else compact_json(draft), True),
        PromptSection("## Given", known, is_pinned=True),
        PromptSection(STYLE, work.mode.verbosity, is_pinned=True, is_trusted=True),
        scene.problem_section(problem),
    ]


def _brief(result: StepResult) -> str:
    """Return a result in one line: what was found, and names, not rows."""
    rows = cast("list[dict[str, Any]]", result.result.get("rows") or [])
    names = [str(row.get("name") or row.get("title") or "") for row in rows[:20]]
    listed = ", ".join(each for each in names if each)
    analysis = str(result.result.get("analysis") or "")
    return " ".join(part for part in (f"{result.summary}.", listed, analysis) if part)


async def _objections(
    scene: Scene, content_type: str, contents: Sequence[dict[str, Any]], attempt: int
) -> list[Objection]:
    work = scene.work

    async def check() -> Json:
        found: list[Json] = []
        for content in contents:
            for each in await work.domain.check_content(
                work.who, content_type, content, work.state.constraints
            ):
                found.append([each.kind, each.subject, each.detail])
        return found

    seen = await scene.stage.step(f"check/{attempt}", check, effect=Effect.PURE)
    said = cast("list[list[str]]", seen)
    return [Objection(*each) for each in said]


def _split(data: Any) -> list[dict[str, Any]]:
    """Return one content, or several if the schema asked for some to choose from."""
    if not isinstance(data, dict):
        return []
    whole = cast("dict[str, Any]", data)
    items = whole.get(_ITEMS)
    if set(whole) == {_ITEMS} and isinstance(items, list):
        return [cast("dict[str, Any]", e) for e in cast("list[Any]", items) if isinstance(e, dict)]
    return [whole]


def _result(scene: Scene, content_type: str, contents: Sequence[dict[str, Any]]) -> StepResult:
    made: list[dict[str, Any]] = [
        {"temp_id": "", "label": scene.work.label(content_type, each), "payload": each}
        for each in contents
    ]
    return StepResult(
        step_id=scene.step.id,
        status=StepStatus.OK,
        result={"content_type": content_type, "contents": made},
        row_count=len(made),
        summary=f"Drafted {', '.join(each['label'] for each in made)}",
    )
