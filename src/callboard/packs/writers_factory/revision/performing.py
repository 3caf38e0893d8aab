"""What the runs of revision do, step by step. What a run reads first it journals.

Texts and briefs are steps: a run that is resumed works on what it began with, whatever the writer
changed meanwhile.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast

from callboard.choreography.questions import Judge
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.errors import Conflict
from callboard.library.story.pairs.judging import Prospect, judge_pairs
from callboard.packs.writers_factory.exchange.operations import export_book
from callboard.packs.writers_factory.health.timeline.continuity import unjudged_pairs
from callboard.packs.writers_factory.model import SceneStatus
from callboard.packs.writers_factory.operations import in_run, keep_in_run
from callboard.packs.writers_factory.revision.analysis.brief import SceneBrief
from callboard.packs.writers_factory.revision.analysis.findings import SceneAnalysis
from callboard.packs.writers_factory.revision.analysis.judging import Judged, analyze_text
from callboard.packs.writers_factory.revision.completion import check_writer
from callboard.packs.writers_factory.revision.enhancement import proposal as kept
from callboard.packs.writers_factory.revision.enhancement.deep import DEEP, revise_scene
from callboard.packs.writers_factory.revision.enhancement.quick import EnhancementWork, fix_scene
from callboard.packs.writers_factory.revision.operations import close_book, write_report
from callboard.packs.writers_factory.revision.reports.continuity import (
    audit_manuscript,
    in_order,
)
from callboard.packs.writers_factory.revision.reports.findings import (
    AuditItem,
    find_contradictions,
    items_of,
)
from callboard.packs.writers_factory.revision.reports.rules import Chapter, chapters_of, judge_rules
from callboard.packs.writers_factory.revision.reports.voices import (
    AUDIT_PATH,
    VOICE_DATA_PATH,
    VOICE_PATH,
    audit_page,
    report_voice,
    voice_page,
)
from callboard.packs.writers_factory.revision.revision import ANALYSIS_KIND, Revision, rank
from callboard.packs.writers_factory.workspace import Workspace, judge_on


class NoText(Conflict):
    """A scene has no text yet."""

    code = "scene_has_no_text"


async def analyze(stage: Stage, scene_id: str, *, is_fast: bool) -> Json:
    """Analyze a scene as it stands and keep the analysis."""
    text, brief = await _begin(stage, scene_id)
    analysis = await analyze_text(stage, Judged("scene", text, brief), _judge(stage, is_fast))
    store, body = _keep_analysis(stage), analysis.to_json()
    return await keep_in_run(stage, "store", "analysis", lambda: store(body), of=scene_id)


async def compare(stage: Stage, scene_id: str, texts: Mapping[str, str], *, is_fast: bool) -> Json:
    """Analyze several texts for a scene and rank them."""
    found = await stage.step(
        "brief", lambda: Revision(Workspace(stage.studio)).brief(scene_id).to_json()
    )
    brief = SceneBrief.from_json(found)
    judge = _judge(stage, is_fast)
    analyses: dict[str, SceneAnalysis] = {}
    for number, (name, text) in enumerate(texts.items(), start=1):
        judged = Judged(f"variant/{number}", text, brief)
        analyses[name] = await analyze_text(stage, judged, judge)
    return {"scene_id": scene_id, "ranking": rank(analyses)}


async def enhance(
    stage: Stage, scene_id: str, mode: str, *, is_fast: bool, model: str | None
) -> Json:
    """Propose changes to a scene and keep the proposal."""
    text, brief = await _begin(stage, scene_id)
    work = EnhancementWork(stage.run.id, text, brief, _judge(stage, is_fast), model)
    enhanced = await (revise_scene if mode == DEEP else fix_scene)(stage, work)
    records = Workspace(stage.studio).records

    async def store() -> Json:
        await records.put(kept.KIND, enhanced.id, enhanced.to_json())
        return enhanced.id

    await keep_in_run(stage, "store", "proposed changes", store, of=scene_id)
    return enhanced.shown()


async def audit(stage: Stage, *, is_fast: bool, is_judged: bool) -> Json:
    """Check the whole manuscript and write the report."""
    revision = Revision(Workspace(stage.studio))

    def look() -> Json:
        found = [
            *audit_manuscript(revision.story(), revision.texts()),
            *find_contradictions(stage.studio, _files(revision)),
        ]
        return [item.to_json() for item in found]

    looked = cast("list[dict[str, Any]]", await stage.step("look", look))
    items = [AuditItem.from_json(each) for each in looked]
    notes: tuple[str, ...] = ("Only what code can check was checked.",)
    if not is_fast:
        rules, chapters = await _rules(stage, revision)
        judged, notes = await judge_rules(stage, rules, chapters)
        items += judged
    more, note = await _pairs(stage, revision, is_judged=is_judged)
    items += more
    notes = (*notes, note)
    ordered = in_order(items)
    shown: list[Json] = [item.to_json() for item in ordered]
    page = audit_page(revision.rooms.bible.project().title, ordered, notes)
    await _write(stage, "write", AUDIT_PATH, page)
    return {"path": AUDIT_PATH, "items": shown, "notes": list(notes)}


def _files(revision: Revision) -> list[tuple[str, str, int]]:
    """Return the path, id and chapter of every scene that is written."""
    return [
        (revision.manuscript.path(each.meta.scene_id), each.meta.scene_id, each.meta.chapter)
        for each in revision.texts()
        if each.text.strip()
    ]


async def _pairs(
    stage: Stage, revision: Revision, *, is_judged: bool
) -> tuple[tuple[AuditItem, ...], str]:
    """Return what a judge proves of the passages rules cannot judge, and how many nobody judged."""

    def pair() -> Json:
        files = _files(revision)
        pairs = unjudged_pairs(stage.studio, [path for path, _, _ in files])
        return {"files": [list(each) for each in files], "pairs": pairs.to_json()}

    found = cast("dict[str, Any]", await stage.step("pairs", pair))
    prospect = Prospect.from_json(found["pairs"])
    if not prospect.calls:
        return (), "No two passages were found that a model could hold against each other."
    if not is_judged:
        return (), (
            f"{prospect.calls} pairs of passages that could contradict each other were not judged."
            f" `audit --judge` asks a model: up to {prospect.calls} calls, about"
            f" {prospect.tokens:,} tokens."
        )
    judgement = await judge_pairs(judge_on(stage), prospect)
    files = [(str(path), str(name), int(chapter)) for path, name, chapter in found["files"]]
    return items_of(judgement.findings, files), f"{judgement.told()}."


def _judge(stage: Stage, is_fast: bool) -> Judge | None:
    return None if is_fast else judge_on(stage)


async def _rules(stage: Stage, revision: Revision) -> tuple[list[str], list[Chapter]]:
    def read() -> Json:
        return {
            "rules": [rule.value for rule in revision.story().rules],
            "chapters": [asdict(each) for each in chapters_of(revision.texts())],
        }

    found = cast("dict[str, Any]", await stage.step("rules", read))
    return found["rules"], [Chapter(**each) for each in found["chapters"]]


async def report_on_voice(stage: Stage) -> Json:
    """Measure every scene and write the report, as a page and as data."""
    revision = Revision(Workspace(stage.studio))

    def look() -> Json:
        report = report_voice(revision.story(), revision.texts())
        page = voice_page(revision.rooms.bible.project().title, report)
        return {"page": page, "data": report.to_json()}

    found = cast("dict[str, Any]", await stage.step("look", look))
    await _write(stage, "write", VOICE_PATH, found["page"])
    data = json.dumps(found["data"], ensure_ascii=False, indent=1) + "\n"
    await _write(stage, "write_data", VOICE_DATA_PATH, data)
    return {"path": VOICE_PATH, "data_path": VOICE_DATA_PATH, **found["data"]}


async def finish(stage: Stage, *, by: str, author: str, formats: Sequence[str], note: str) -> Json:
    """Export the manuscript and record that the writer calls it done."""
    check_writer(by)
    revision = Revision(Workspace(stage.studio))
    found = await stage.step("open_errors", lambda: list(revision.open_errors()))
    errors = cast("list[str]", found)

    exported = (await in_run(stage, "bind", export_book, author, tuple(formats))).to_json()
    done = await in_run(stage, "close", close_book, errors, exported, note)
    warnings = [f"{len(errors)} things are still open"] if errors else []
    return {**done.to_json(), "warnings": warnings}


async def _begin(stage: Stage, scene_id: str) -> tuple[str, SceneBrief]:
    revision = Revision(Workspace(stage.studio))

    def read() -> Json:
        text = revision.manuscript.text(scene_id)
        if not text.strip():
            raise NoText(
                f"{scene_id} has no text yet",
                fix="Write it, or select one of its variants first.",
                scene_id=scene_id,
            )
        return {"text": text, "brief": revision.brief(scene_id).to_json()}

    found = cast("dict[str, Any]", await stage.step("read", read))
    return found["text"], SceneBrief.from_json(found["brief"])


def _keep_analysis(stage: Stage) -> Any:
    workspace = Workspace(stage.studio)
    revision = Revision(workspace)

    async def keep(body: dict[str, Any]) -> Json:
        scene_id = str(body["scene_id"])
        await workspace.records.put(ANALYSIS_KIND, scene_id, body)
        if revision.manuscript.scene(scene_id).status is SceneStatus.SELECTED:
            await revision.manuscript.set_meta(scene_id, status=SceneStatus.ANALYZED)
        blocked = [issue.to_json() for issue in revision.blocks(scene_id)]
        return {**body, "blocked_by": blocked, "may_accept": not blocked}

    return keep


async def _write(stage: Stage, key: str, path: str, text: str) -> None:
    await in_run(stage, f"{key}/report", write_report, path, text)
