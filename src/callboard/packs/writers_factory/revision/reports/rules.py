"""World rules and scenes: asks the judge, chapter by chapter, where a rule is broken.

A breach needs a rule that exists and words that stand in a scene of that chapter. A chapter that
was judged before, under the same rules and by the same model, is not judged again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json, digest
from callboard.core.vocabulary import Content, Effect, Trust
from callboard.engine.errors import StepFailed
from callboard.packs.writers_factory.ground import Ground
from callboard.packs.writers_factory.model import JUDGE, PACK, Severity
from callboard.packs.writers_factory.revision.analysis.quotes import locate
from callboard.packs.writers_factory.revision.facts import SceneText
from callboard.packs.writers_factory.revision.reports.findings import AuditItem, AuditKind
from callboard.packs.writers_factory.staff import is_small, model_of
from callboard.prompts import render_template

KIND: Final = "rules_verdict"
_PROMPT: Final = "revision/judge_rules"
_GUARDRAILS: Final = "guardrails/continuity_rules"
_MOST_BREACHES: Final = 20


@dataclass(frozen=True, slots=True)
class Chapter:
    """The scenes of a chapter, by their ids."""

    number: int
    texts: dict[str, str]


async def judge_rules(
    stage: Stage, rules: list[str], chapters: Sequence[Chapter]
) -> tuple[tuple[AuditItem, ...], tuple[str, ...]]:
    """Return the breaches a judge can prove, and notes on what was not judged."""
    ground = Ground(stage.studio)
    if is_small(ground, model_of(ground, JUDGE)):
        return (), ("The judge is too small a model to judge rules; only code has looked.",)
    if not rules:
        return (), ("There are no world rules to judge by.",)
    items: list[AuditItem] = []
    notes: list[str] = []
    for chapter in chapters:
        try:
            said = await _judged(stage, rules, chapter)
        except StepFailed as failed:
            # What code has found is worth a report, with or without a judge.
            notes.append(f"Chapter {chapter.number} was not judged: {failed.message}")
            continue
        items += _items(chapter, rules, said)
    return tuple(items), tuple(notes)


def chapters_of(scenes: Sequence[SceneText]) -> tuple[Chapter, ...]:
    """Return the written scenes by chapter, in their order."""
    found: dict[int, dict[str, str]] = {}
    for scene in scenes:
        if scene.text.strip():
            found.setdefault(scene.meta.chapter, {})[scene.meta.scene_id] = scene.text
    return tuple(Chapter(number, texts) for number, texts in found.items())


async def _judged(stage: Stage, rules: list[str], chapter: Chapter) -> Json:
    ground = Ground(stage.studio)
    records, model = ground.records, model_of(ground, JUDGE)
    name = digest({"rules": rules, "texts": chapter.texts, "model": model})
    key = f"chapter/{chapter.number}"

    def look(each: str) -> Json:
        return records.get(KIND, each)

    held = await stage.step(f"{key}/kept", look, name)
    if held is not None:
        return held["verdict"]
    listed = "\n".join(f"{number}. {rule}" for number, rule in enumerate(rules, start=1))
    prose = "\n\n".join(f"[{scene_id}]\n{text}" for scene_id, text in chapter.texts.items())
    reply = await stage.ask(
        f"{key}/judge",
        JUDGE,
        prompt=_PROMPT,
        schema=_schema(),
        model=model,
        guardrails=render_template(stage.studio.prompts(PACK).get(_GUARDRAILS), {}),
        rules=Content(listed, "story:rules", Trust.UNTRUSTED),
        scenes=Content(prose, f"chapter:{chapter.number}", Trust.UNTRUSTED),
    )

    async def keep(each: str, verdict: Json) -> None:
        await records.put(KIND, each, {"verdict": verdict, "model": model})

    await stage.step(f"{key}/keep", keep, name, reply.data, effect=Effect.IDEMPOTENT)
    return reply.data


def _items(chapter: Chapter, rules: list[str], said: Json) -> list[AuditItem]:
    listed: Any = cast("dict[str, Any]", said).get("breaches") if isinstance(said, dict) else None
    items: list[AuditItem] = []
    for each in cast("list[Any]", listed)[:_MOST_BREACHES] if isinstance(listed, list) else []:
        breach = cast("dict[str, Any]", each) if isinstance(each, dict) else {}
        number, quote = breach.get("rule"), str(breach.get("quote") or "")
        if not isinstance(number, int) or not 1 <= number <= len(rules):
            continue
        for scene_id, text in chapter.texts.items():
            place = locate(text, quote)
            if place is not None:
                problem = str(breach.get("problem") or "The rule is broken")[:500]
                items.append(
                    AuditItem(
                        AuditKind.WORLD_RULE,
                        Severity.WARNING,
                        chapter.number,
                        scene_id,
                        f"{problem} (rule: {rules[number - 1]})",
                        str(breach.get("fix") or "Change the scene, or the rule.")[:500],
                        (place.quote,),
                    )
                )
                break
    return items


def _schema() -> dict[str, Json]:
    fields: dict[str, Json] = {
        "rule": {"type": "integer"},
        "quote": {"type": "string"},
        "problem": {"type": "string"},
        "fix": {"type": "string"},
    }
    breach: Json = {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"breaches": {"type": "array", "items": breach}},
        "required": ["breaches"],
        "additionalProperties": False,
    }
